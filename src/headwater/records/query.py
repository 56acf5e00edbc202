"""SQL over the archive and the hot rows together, by DuckDB on this machine or by Spark over a lake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.errors import ArchiveUnusable, QueryError
from headwater.records.archive import RECORDS, TRACES, Archive
from headwater.records.reaching import address_of
from headwater.records.statements import Statement, read_statement
from headwater.store.record_scan import Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb
    from pyspark.sql import SparkSession

    from headwater.store.store import Store

_TRIES = 5
_STEP = (
    "STRUCT(node_id VARCHAR, parent_id VARCHAR, parent_ids VARCHAR[], action_taken VARCHAR, recordedAt BIGINT, "
    "recorded_at TIMESTAMPTZ, storage_location VARCHAR)"
)
_TRACE = (
    f"record_id VARCHAR, root_id VARCHAR, lineage {_STEP}[], orphans VARCHAR[], cycle VARCHAR[], "
    "conflicts VARCHAR[], complete BOOLEAN, day DATE"
)
_RECORD = (
    "root_id VARCHAR, node_id VARCHAR, parent_id VARCHAR, parent_ids VARCHAR[], action_taken VARCHAR, "
    "storage_location VARCHAR, recordedAt BIGINT, recorded_at TIMESTAMPTZ, day DATE, digest BLOB"
)
_SHOWN = "root_id, node_id, parent_id, parent_ids, action_taken, storage_location, recordedAt, recorded_at, day"

_SEVERAL = "SELECT root_id, node_id FROM _every GROUP BY ALL HAVING count(*) > 1"
"""Nodes with more than one content: a content is there once."""
_IN_CONFLICT = "EXISTS (FROM _several s WHERE s.root_id = r.root_id AND s.node_id = r.node_id) AS conflict"


@dataclass(frozen=True, slots=True)
class Rows:
    """``more``: whether there are more than were asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


def query(store: Store, text: str, *, archive: str | None = None, dialect: str | None = None, limit: int = 100) -> Rows:
    """By DuckDB."""
    statement = read_statement(text, "duckdb", dialect)
    books = Archive(store._database, archive)
    return _of_one_moment(books, lambda: _by_duckdb(store, books, statement, limit))


def _of_one_moment(books: Archive, ask: Callable[[], Rows]) -> Rows:
    """Hot rows become archived ones in a commit: an answer that a commit went through is asked for again."""
    for _ in range(_TRIES):
        head = books.head()
        answer = ask()
        if books.head() == head:
            return answer
    raise QueryError(f"The archive has changed {_TRIES} times while it was read. Ask again.")


def _by_duckdb(store: Store, books: Archive, statement: Statement, limit: int) -> Rows:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        _Duck(connection, books, store).prepare(statement)
        try:
            answer = connection.execute(statement.text)
            columns = tuple(each[0] for each in answer.description or ())
            rows = answer.fetchmany(limit + 1)
        except duckdb.Error as error:
            raise QueryError(f"The query cannot be answered: {_first_line(error)}") from None
    return Rows(columns, tuple(rows[:limit]), len(rows) > limit)


class _Duck:
    """Our tables in a DuckDB that reads no file but those of the archive."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, books: Archive, store: Store) -> None:
        self._connection = connection
        self._books = books
        self._store = store

    def prepare(self, statement: Statement) -> None:
        run = self._connection.execute
        run("SET TimeZone = 'UTC'")
        run("CREATE MACRO from_unixtime(seconds) AS make_timestamp(CAST(seconds AS BIGINT) * 1000000)")
        conflicts = statement.conflicts and bool(statement.tables & {"hot", "records"})
        both = conflicts or "records" in statement.tables
        traces = self._paths(TRACES) if "archive" in statement.tables else []
        records = self._paths(RECORDS) if both else []
        if "hot" in statement.tables:
            self._keep("_hot", self._hot(archived_too=True))
        if both:
            self._keep("_fresh", self._hot(archived_too=False))
        self._allow([*traces, *records])
        if "archive" in statement.tables:
            self._view("archive", _TRACE, traces, "*")
        if both:
            self._view("_archived", _RECORD, records, "*, parent_ids[1] AS parent_id")
            same = "a.root_id = f.root_id AND a.node_id = f.node_id AND a.digest = f.digest"
            anew = f"SELECT {_SHOWN}, digest FROM _fresh f WHERE NOT EXISTS (FROM _archived a WHERE {same})"
            run(f"CREATE VIEW _every AS SELECT {_SHOWN}, digest FROM _archived UNION ALL {anew}")
        if conflicts:
            run(f"CREATE VIEW _several AS {_SEVERAL}")
        for table, source in (("hot", "_hot"), ("records", "_every")):
            if table in statement.tables:
                more = f", {_IN_CONFLICT}" if conflicts else ""
                run(f"CREATE VIEW {table} AS SELECT {_SHOWN}{more} FROM {source} r")
        run("SET lock_configuration = true")

    def _paths(self, kind: str) -> list[str]:
        files = self._books.files()
        live = self._books.live(kind)
        if live and files.system.type_name != "local":
            raise ArchiveUnusable("DuckDB reads archives on this machine. For this one use --engine spark.")
        return [files.full(file.path) for file in live]

    def _allow(self, paths: list[str]) -> None:
        named = ", ".join(map(_quoted, paths))
        self._connection.execute(f"SET allowed_paths = [{named}]")
        self._connection.execute("SET enable_external_access = false")

    def _view(self, name: str, columns: str, paths: list[str], select: str) -> None:
        if not paths:
            self._connection.execute(f"CREATE TABLE {name} ({columns})")
            return
        named = ", ".join(map(_quoted, paths))
        reading = f"read_parquet([{named}], hive_partitioning = true, hive_types = {{'day': DATE}})"
        self._connection.execute(f"CREATE VIEW {name} AS SELECT {select} FROM {reading}")

    def _keep(self, name: str, batches: Iterator[Any]) -> None:
        self._connection.execute(f"CREATE TABLE {name} ({_RECORD})")
        for batch in batches:
            self._connection.register("_batch", batch)
            self._connection.execute(
                f"INSERT INTO {name} SELECT root_id, node_id, parent_ids[1], parent_ids, action_taken,"
                " storage_location, epoch_us(recorded_at) // 1000000, recorded_at, DATE '1970-01-01' + day, digest"
                " FROM _batch"
            )
            self._connection.unregister("_batch")

    def _hot(self, *, archived_too: bool) -> Iterator[Any]:
        scan = Scan(*address_of(self._store._database), upto=self._books.watermark(), archived_too=archived_too)
        return scan.batches(scan.ranges(1)[0])


def query_by_spark(
    store: Store,
    spark: SparkSession,
    text: str,
    *,
    archive: str | None = None,
    dialect: str | None = None,
    limit: int = 100,
) -> Rows:
    from pyspark.errors import PySparkException

    from headwater.records.views import make_views

    statement = read_statement(text, "spark", dialect)
    books = Archive(store._database, archive)

    def ask() -> Rows:
        session = make_views(store, spark, books, statement)
        try:
            frame = session.sql(statement.text)
            rows = frame.limit(limit + 1).collect()
        except PySparkException as error:
            raise QueryError(f"The query cannot be answered: {_first_line(error)}") from None
        return Rows(tuple(frame.columns), tuple(map(tuple, rows[:limit])), len(rows) > limit)

    return _of_one_moment(books, ask)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
