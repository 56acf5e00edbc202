"""SQL over the archive and the hot rows together, by DuckDB on this machine or by Spark over a lake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.engines.paths import escape_globs
from headwater.engines.sql import Sql, checked_text, identifier, sql
from headwater.errors import ArchiveUnusable, EngineError, QueryError
from headwater.records.archive.archive import RECORDS, TRACES, Archive
from headwater.records.compaction.hot_source import hot_scan
from headwater.records.query.statements import LedgerStatement, parse_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from headwater.engines.duckdb import DuckDB
    from headwater.store.store import Store

_TRIES = 5
_STEP = sql(
    "STRUCT(node_id VARCHAR, parent_id VARCHAR, parent_ids VARCHAR[], action_taken VARCHAR, recordedAt BIGINT, "
    "recorded_at TIMESTAMPTZ, storage_location VARCHAR)"
)
_TRACE = sql(
    "record_id VARCHAR, root_id VARCHAR, lineage {step}[], orphans VARCHAR[], cycle VARCHAR[], "
    "conflicts VARCHAR[], complete BOOLEAN, day DATE",
    step=_STEP,
)
_RECORD = sql(
    "root_id VARCHAR, node_id VARCHAR, parent_id VARCHAR, parent_ids VARCHAR[], action_taken VARCHAR, "
    "storage_location VARCHAR, recordedAt BIGINT, recorded_at TIMESTAMPTZ, day DATE, digest BLOB"
)
_SHOWN = sql("root_id, node_id, parent_id, parent_ids, action_taken, storage_location, recordedAt, recorded_at, day")

_EVERY = (
    "CREATE VIEW _every AS SELECT {shown}, digest FROM _archived UNION ALL "
    "SELECT {shown}, digest FROM _fresh f WHERE NOT EXISTS "
    "(FROM _archived a WHERE a.root_id = f.root_id AND a.node_id = f.node_id AND a.digest = f.digest)"
)
_SEVERAL = sql("CREATE VIEW _several AS SELECT root_id, node_id FROM _every GROUP BY ALL HAVING count(*) > 1")
"""Nodes with more than one content: a content is there once."""
_IN_CONFLICT = sql(", EXISTS (FROM _several s WHERE s.root_id = r.root_id AND s.node_id = r.node_id) AS conflict")


@dataclass(frozen=True, slots=True)
class QueryRows:
    """``more``: whether there are more than were asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


def query(
    store: Store, text: str, *, archive: str | None = None, dialect: str | None = None, limit: int = 100
) -> QueryRows:
    """By DuckDB."""
    statement = parse_statement(text, "duckdb", dialect)
    archive = Archive(store._database, archive)
    return _of_one_moment(archive, lambda: _by_duckdb(store, archive, statement, limit))


def _of_one_moment(archive: Archive, ask: Callable[[], QueryRows]) -> QueryRows:
    """Hot rows become archived ones in a commit: an answer that a commit went through is asked for again."""
    for _ in range(_TRIES):
        head = archive.head()
        answer = ask()
        if archive.head() == head:
            return answer
    raise QueryError(f"The archive has changed {_TRIES} times while it was read. Ask again.")


def _by_duckdb(store: Store, archive: Archive, statement: LedgerStatement, limit: int) -> QueryRows:
    from headwater.engines.duckdb import DuckDB

    tables = _Tables(archive, store, statement)
    with DuckDB(files=tables.files) as engine:
        tables.define(engine)
        try:
            answer = engine.answer(checked_text(statement.text), limit + 1)
        except EngineError as error:
            raise QueryError(f"The query cannot be answered: {error}") from None
    return QueryRows(answer.columns, tuple(answer.rows[:limit]), len(answer.rows) > limit)


class _Tables:
    """Our tables, of those files of the archive that the statement needs."""

    def __init__(self, archive: Archive, store: Store, statement: LedgerStatement) -> None:
        self._archive = archive
        self._store = store
        self._statement = statement
        self._conflicts = statement.conflicts and bool(statement.tables & {"hot", "records"})
        self._both = self._conflicts or "records" in statement.tables
        self._traces = self._paths(TRACES) if "archive" in statement.tables else []
        self._records = self._paths(RECORDS) if self._both else []

    @property
    def files(self) -> list[str]:
        return [*self._traces, *self._records]

    def define(self, engine: DuckDB) -> None:
        engine.define(sql("CREATE MACRO from_unixtime(seconds) AS make_timestamp(CAST(seconds AS BIGINT) * 1000000)"))
        tables = self._statement.tables
        if "hot" in tables:
            self._keep(engine, "_hot", archived_too=True)
        if self._both:
            self._keep(engine, "_fresh", archived_too=False)
        if "archive" in tables:
            self._view(engine, "archive", _TRACE, self._traces, sql("*"))
        if self._both:
            self._view(engine, "_archived", _RECORD, self._records, sql("*, parent_ids[1] AS parent_id"))
            engine.define(sql(_EVERY, shown=_SHOWN))
        if self._conflicts:
            engine.define(_SEVERAL)
        for table, source in (("hot", "_hot"), ("records", "_every")):
            if table in tables:
                more = _IN_CONFLICT if self._conflicts else sql("")
                view = "CREATE VIEW {table} AS SELECT {shown}{more} FROM {source} r"
                engine.define(sql(view, table=identifier(table), shown=_SHOWN, more=more, source=identifier(source)))

    def _paths(self, kind: str) -> list[str]:
        files = self._archive.storage()
        live = self._archive.live_files(kind)
        if live and files.system.type_name != "local":
            raise ArchiveUnusable("DuckDB reads archives on this machine. For this one use --engine spark.")
        return [files.full_path(file.path) for file in live]

    @staticmethod
    def _view(engine: DuckDB, name: str, columns: Sql, paths: list[str], select: Sql) -> None:
        if not paths:
            engine.define(sql("CREATE TABLE {name} ({columns})", name=identifier(name), columns=columns))
            return
        reading = "read_parquet({paths}, hive_partitioning = true, hive_types = {{'day': DATE}})"
        engine.define(
            sql(
                "CREATE VIEW {name} AS SELECT {select} FROM {reading}",
                name=identifier(name),
                select=select,
                reading=sql(reading, paths=escape_globs(paths)),
            )
        )

    def _keep(self, engine: DuckDB, name: str, *, archived_too: bool) -> None:
        engine.define(sql("CREATE TABLE {name} ({columns})", name=identifier(name), columns=_RECORD))
        insert = sql(
            "INSERT INTO {name} SELECT root_id, node_id, parent_ids[1], parent_ids, action_taken, storage_location,"
            " epoch_us(recorded_at) // 1000000, recorded_at, DATE '1970-01-01' + day, digest FROM _batch",
            name=identifier(name),
        )
        for batch in self._hot(archived_too=archived_too):
            engine.insert(insert, batch)

    def _hot(self, *, archived_too: bool) -> Iterator[Any]:
        scan = hot_scan(self._store._database, self._archive.watermark(), archived_too=archived_too)
        return scan.batches(scan.ranges(1)[0])


def query_by_spark(
    store: Store,
    spark: SparkSession,
    text: str,
    *,
    archive: str | None = None,
    dialect: str | None = None,
    limit: int = 100,
) -> QueryRows:
    from pyspark.errors import PySparkException

    from headwater.records.query.spark_views import create_views

    statement = parse_statement(text, "spark", dialect)
    archive = Archive(store._database, archive)

    def ask() -> QueryRows:
        session = create_views(store, spark, archive, statement)
        try:
            frame = session.sql(statement.text)
            rows = frame.limit(limit + 1).collect()
        except PySparkException as error:
            raise QueryError(f"The query cannot be answered: {_first_line(error)}") from None
        return QueryRows(tuple(frame.columns), tuple(map(tuple, rows[:limit])), len(rows) > limit)

    return _of_one_moment(archive, ask)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
