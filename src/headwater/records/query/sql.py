"""Runs SQL over the archive and the hot records together, with DuckDB on this machine or with Spark over a lake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.engines.paths import escape_globs
from headwater.engines.sql import Sql, checked_text, identifier, identifiers, join_sql, sql
from headwater.errors import ArchiveUnusable, EngineError, QueryError, first_line
from headwater.model.record_schema import DAY, QUERIED, STEP, TRACE, RecordField, names_of
from headwater.records.archive.archive import RECORDS, TRACES, Archive
from headwater.records.compaction.hot_source import hot_scan
from headwater.records.query.statements import LedgerStatement, parse_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from headwater.engines.duckdb import DuckDB
    from headwater.store.store import Store

_TRIES = 5
_TYPES = {
    "text": sql("VARCHAR"),
    "texts": sql("VARCHAR[]"),
    "long": sql("BIGINT"),
    "timestamp": sql("TIMESTAMPTZ"),
    "binary": sql("BLOB"),
    "date": sql("DATE"),
    "boolean": sql("BOOLEAN"),
}


def _columns(fields: Iterable[RecordField]) -> Sql:
    return join_sql(", ", [sql("{name} {type}", name=identifier(field.name), type=_type(field)) for field in fields])


def _type(field: RecordField) -> Sql:
    return sql("STRUCT({fields})[]", fields=_columns(STEP)) if field.kind == "steps" else _TYPES[field.kind]


_TRACE = _columns((*TRACE, DAY))
_RECORD = _columns((*QUERIED, RecordField("digest", "binary")))
_QUERIED = identifiers(names_of(QUERIED))
_SCANNED = {
    "parent_id": sql("parent_ids[1]"),
    "recordedAt": sql("epoch_us(recorded_at) // 1000000"),
    "day": sql("DATE '1970-01-01' + day"),
}
"""How columns of the tables are computed from a scan of the hot table, where they are not its own."""

_EVERY = (
    "CREATE VIEW _every AS SELECT {columns}, digest FROM _archived UNION ALL "
    "SELECT {columns}, digest FROM _fresh f WHERE NOT EXISTS "
    "(FROM _archived a WHERE a.root_id = f.root_id AND a.node_id = f.node_id AND a.digest = f.digest)"
)
_SEVERAL = sql("CREATE VIEW _several AS SELECT root_id, node_id FROM _every GROUP BY ALL HAVING count(*) > 1")
"""Nodes with more than one content; `_every` has each content once."""
_IN_CONFLICT = sql(", EXISTS (FROM _several s WHERE s.root_id = r.root_id AND s.node_id = r.node_id) AS conflict")


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The answer to a query; ``more`` says that there are more rows than the limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


def query(
    store: Store, text: str, *, archive: str | None = None, dialect: str | None = None, limit: int = 100
) -> QueryRows:
    """Run a query with DuckDB."""
    statement = parse_statement(text, "duckdb", dialect)
    records = Archive(store._database, archive)
    return _retry_after_commit(records, lambda: _run_in_duckdb(store, records, statement, limit))


def _retry_after_commit(archive: Archive, run_query: Callable[[], QueryRows]) -> QueryRows:
    """A commit turns hot rows into archived ones: if one came during the query, the query runs again."""
    for _ in range(_TRIES):
        head = archive.head()
        answer = run_query()
        if archive.head() == head:
            return answer
    raise QueryError(f"The archive changed {_TRIES} times while the query ran. Run it again.")


def _run_in_duckdb(store: Store, archive: Archive, statement: LedgerStatement, limit: int) -> QueryRows:
    from headwater.engines.duckdb import DuckDB

    tables = _LedgerTables(archive, store, statement)
    with DuckDB(files=tables.files) as engine:
        tables.define(engine)
        try:
            answer = engine.result(checked_text(statement.text), limit + 1)
        except EngineError as error:
            raise QueryError(f"The query failed: {error}") from None
    return QueryRows(answer.columns, tuple(answer.rows[:limit]), len(answer.rows) > limit)


class _LedgerTables:
    """The tables and views that a statement reads, over the files of the archive that it needs."""

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
            self._create_hot_table(engine, "_hot", archived_too=True)
        if self._both:
            self._create_hot_table(engine, "_fresh", archived_too=False)
        if "archive" in tables:
            self._view(engine, "archive", _TRACE, self._traces, sql("*"))
        if self._both:
            self._view(engine, "_archived", _RECORD, self._records, sql("*, parent_ids[1] AS parent_id"))
            engine.define(sql(_EVERY, columns=_QUERIED))
        if self._conflicts:
            engine.define(_SEVERAL)
        for table, source in (("hot", "_hot"), ("records", "_every")):
            if table in tables:
                conflict = _IN_CONFLICT if self._conflicts else sql("")
                view = "CREATE VIEW {table} AS SELECT {columns}{conflict} FROM {source} r"
                engine.define(
                    sql(view, table=identifier(table), columns=_QUERIED, conflict=conflict, source=identifier(source))
                )

    def _paths(self, kind: str) -> list[str]:
        files = self._archive.storage()
        live = self._archive.live_files(kind)
        if live and files.system.type_name != "local":
            raise ArchiveUnusable("DuckDB reads archives on this machine only. Use --engine spark.")
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

    def _create_hot_table(self, engine: DuckDB, table: str, *, archived_too: bool) -> None:
        engine.define(sql("CREATE TABLE {table} ({columns})", table=identifier(table), columns=_RECORD))
        columns = join_sql(", ", [_SCANNED.get(name, identifier(name)) for name in names_of(QUERIED)])
        insert = sql(
            "INSERT INTO {table} SELECT {columns}, digest FROM _batch", table=identifier(table), columns=columns
        )
        for batch in self._hot_batches(archived_too=archived_too):
            engine.insert(insert, batch)

    def _hot_batches(self, *, archived_too: bool) -> Iterator[pa.RecordBatch]:
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
    records = Archive(store._database, archive)

    def run_query() -> QueryRows:
        session = create_views(store, spark, records, statement)
        try:
            frame = session.sql(statement.text)
            rows = frame.limit(limit + 1).collect()
        except PySparkException as error:
            raise QueryError(f"The query failed: {first_line(error)}") from None
        return QueryRows(tuple(frame.columns), tuple(map(tuple, rows[:limit])), len(rows) > limit)

    return _retry_after_commit(records, run_query)
