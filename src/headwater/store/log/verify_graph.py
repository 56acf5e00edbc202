"""The stored graph against the events: each derived table has to be what a fresh fold of all events makes of it.

Rows are compared by names, as sets of hashes that lie on disk where there are many. Only where the sets differ are the
rows read again, to name the first that does not hold.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Table, func, select, type_coerce
from sqlalchemy import Text as SqlText

from headwater.errors import EvidenceBroken, shorten
from headwater.store.engine.database import decode_anything
from headwater.store.engine.dialect import dialect_of, driver_of
from headwater.store.fold.named_rows import NamedTable, NamedVersions, by_names, stream
from headwater.store.fold.refold import Refold
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import (
    OPEN,
    Micros,
    column_edge,
    content,
    dataset,
    edge,
    event,
    from_micros,
    job,
    label,
    lineage,
    run,
    run_dataset,
    symlink,
    version,
)

Progress = Callable[[int, int], None]
Rows = Callable[[], Iterator[tuple[str, PlainRow]]]
"""What reads tables: each row with the name of its table."""
Collected = TypeVar("Collected")

COMPARED: tuple[Table, ...] = (dataset, job, run, symlink, run_dataset, version, lineage, edge, column_edge)
_KNOWN_BY: Mapping[str, tuple[str, ...]] = {
    "dataset": ("namespace", "name", "is_job"),
    "job": ("namespace", "name"),
    "run": ("run_id",),
    "symlink": ("dataset_id", "alias_id"),
    "run_dataset": ("run_id", "dataset_id", "direction"),
    "version": ("dataset_id", "partition_id", "origin", "job_id", "run_id", "event_id", "written_at"),
    "lineage": ("downstream_id", "partition_id", "origin", "job_id", "run_id", "upstream_id", "upstream_partition_id"),
    "edge": ("job_id", "origin", "upstream_id", "downstream_id", "valid_from"),
    "column_edge": (
        "job_id", "origin", "upstream_id", "upstream_column_id", "downstream_id", "downstream_column_id",
        "dependency", "subtype", "valid_from",
    ),
}  # fmt: skip
"""The columns that say which row one is; the others are what it says."""
_HASH = 16
_MOST_IN_MEMORY = 64 * 2**20
_MOST_NAMED = 1_000
"""Rows that differ and are read again, to name one of them."""

NOT_COVERED = (
    "names, labels and contents that nothing in the graph refers to any more",
    "the mark on a dataset that other events have a say in it (contested), where it is set",
    "when each event was received, how its JSON was spelled, and what was noted as off-specification",
)


def verify_graph(conn: Connection, refold: Refold, progress: Progress | None) -> int:
    """How many rows were compared. The events themselves are verified by then."""
    _verify_labels(conn)
    _verify_contents(conn)
    for table in COMPARED:
        for column, query in by_names(table).dangling:
            lost = conn.execute(query).first()
            if lost is not None:
                raise EvidenceBroken(
                    f"The row {', '.join(map(str, lost))} of the table {table.name}",
                    f"its {column} refers to a row that is not there",
                )
    compared = 0
    with tempfile.TemporaryDirectory(prefix="headwater-verify-") as folder:
        # Before the folded graph is waited for: with many events another process folds them meanwhile.
        stored = _digests(conn, Path(folder), "stored", check=True)
        with refold.store(conn, progress) as folded:
            _verify_limit(conn, folded, refold.max_direct_edges)
            wanted = _digests(folded, Path(folder), "folded")
            for table in COMPARED:
                differing = stored[table.name].difference(wanted[table.name])
                if differing is not None:
                    raise _Culprit(table, conn, folded).named(*differing)
                compared += stored[table.name].count
    _verify_contested(conn)
    return compared


def _verify_limit(conn: Connection, folded: Connection, max_direct_edges: int) -> None:
    """Which runs have a hub depends on a limit that the events do not carry. A store of an earlier version may be
    folded under another limit than the one it has; that is said before the rows are compared."""
    hubs = select(job.c.namespace, job.c.name).join(edge, edge.c.job_id == job.c.id).where(edge.c.upstream_id < 0)
    stored, wanted = ({tuple(row) for row in of.execute(hubs.distinct())} for of in (conn, folded))
    if stored != wanted:
        namespace, name = min(stored ^ wanted)
        form = "via the job" if (namespace, name) in stored else "edge by edge"
        raise EvidenceBroken(
            f"The lineage of the job {shorten(namespace)}/{shorten(name)}",
            f"it is stored {form}, and a limit of {max_direct_edges:,} direct edges does not lead to that; if an "
            f"earlier version wrote the store under another limit, `headwater db max-direct-edges` folds it again",
        )


def _verify_labels(conn: Connection) -> None:
    for key, text in _leniently(conn, lambda: stream(conn, select(label.c.key, label.c.text))):
        if not isinstance(text, str) or key_of(text) != key:
            raise EvidenceBroken(f"The label '{shorten(str(text))}'", "its key is that of another name")


def _verify_contents(conn: Connection) -> None:
    query = select(content.c.digest, type_coerce(content.c.body, SqlText))
    for digest, body in _leniently(conn, lambda: stream(conn, query)):
        if not isinstance(body, str) or sha256(body.encode(errors="surrogateescape")).digest() != digest:
            shown = digest.hex() if isinstance(digest, bytes) else repr(digest)
            raise EvidenceBroken(f"The content {shown[:16]}…", "its body does not have its digest")


def _verify_contested(conn: Connection) -> None:
    """Where others have a say in a dataset it has to be marked. One that is marked without need only takes time."""
    other, rival, mine = dataset.alias(), symlink.alias(), symlink.alias()
    under_names = (
        select(dataset.c.namespace, dataset.c.name)
        .join(other, other.c.canonical_id == dataset.c.id)
        .where(other.c.id != dataset.c.id, type_coerce(other.c.facets, SqlText) != "{}")
    )
    rivals = (
        select(dataset.c.namespace, dataset.c.name)
        .join(mine, mine.c.dataset_id == dataset.c.id)
        .join(rival, (rival.c.alias_id == mine.c.alias_id) & (rival.c.dataset_id != mine.c.dataset_id))
    )
    for query in (under_names, rivals):
        row = conn.execute(query.where(dataset.c.contested != 1).limit(1)).first()
        if row is not None:
            raise EvidenceBroken(
                f"The dataset {shorten(row.namespace)}/{shorten(row.name)}",
                "its contested is not set, and by the events others have a say in it",
            )


# -- sets of rows -----------------------------------------------------------------------------------------------------


class RowSet:
    """The rows of a table as hashes, each as often as it is there; on disk where they are many."""

    def __init__(self, file: Path) -> None:
        self.count = 0
        self._file = file
        self._parts: dict[int, bytearray] = {}
        self._held = 0
        self._spilled = False

    def add(self, row: PlainRow) -> None:
        digest = _hash(row)
        self._parts.setdefault(digest[0], bytearray()).extend(digest)
        self.count += 1
        self._held += _HASH
        if self._held > _MOST_IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        for number, part in self._parts.items():
            with open(f"{self._file}.{number}", "ab") as out:
                out.write(part)
        self._parts, self._held, self._spilled = {}, 0, True

    def _part(self, number: int) -> list[bytes]:
        data = bytes(self._parts.get(number, b""))
        if self._spilled:
            spilled = Path(f"{self._file}.{number}")
            data += spilled.read_bytes() if spilled.exists() else b""
        return sorted(data[start : start + _HASH] for start in range(0, len(data), _HASH))

    def difference(self, other: RowSet) -> tuple[set[bytes], set[bytes]] | None:
        """Hashes that only this one has, and that only the other has: some of them, where there are many."""
        only_here, only_there = set[bytes](), set[bytes]()
        for number in range(256):
            here, there = self._part(number), other._part(number)
            if here != there:
                counted_here, counted_there = Counter(here), Counter(there)
                only_here |= (counted_here - counted_there).keys()
                only_there |= (counted_there - counted_here).keys()
                if len(only_here) + len(only_there) > _MOST_NAMED:
                    break
        return (only_here, only_there) if only_here or only_there else None


def _hash(row: PlainRow) -> bytes:
    return sha256(repr(row).encode()).digest()[:_HASH]


def _digests(conn: Connection, folder: Path, side: str, *, check: bool = False) -> dict[str, RowSet]:
    sets: dict[str, RowSet] = {}
    for names, rows in _tables(conn, check=check):

        def collect(attempt: int, names: Sequence[str] = names, rows: Rows = rows) -> dict[str, RowSet]:
            made = {name: RowSet(folder / f"{side}.{name}.{attempt}") for name in names}
            for name, row in rows():
                made[name].add(row)
            return made

        sets |= _twice(conn, collect)
    return sets


def _tables(conn: Connection, *, check: bool) -> Iterator[tuple[Sequence[str], Rows]]:
    """Of the tables that are read together their names, and what reads them."""
    for table in COMPARED:
        if table is version:
            yield ("version", "lineage"), lambda: _versions(conn, check=check)
        elif table is not lineage:
            yield (table.name,), partial(_rows_of, conn, table)


def _rows_of(conn: Connection, table: Table) -> Iterator[tuple[str, PlainRow]]:
    for row in by_names(table).rows(conn):
        yield table.name, row


def _versions(conn: Connection, *, check: bool) -> Iterator[tuple[str, PlainRow]]:
    versions = NamedVersions(conn, check=check)
    for row, reads in versions.rows():
        yield "version", row
        for read in reads:
            yield "lineage", read
    total = conn.execute(select(func.count()).select_from(lineage)).scalar_one()
    if total != versions.lineage_rows:
        raise EvidenceBroken("The table lineage", f"{total - versions.lineage_rows} of its rows belong to no version")


def _twice(conn: Connection, collect: Callable[[int], Collected]) -> Collected:
    """Again where text is not UTF-8, as only a tampered file of SQLite has: then as far as it can be read."""
    try:
        return collect(1)
    except sqlite3.OperationalError:
        with dialect_of(conn).text_decoded_by(driver_of(conn), decode_anything):
            return collect(2)


def _leniently(conn: Connection, rows: Callable[[], Iterator[PlainRow]]) -> Iterator[PlainRow]:
    with dialect_of(conn).text_decoded_by(driver_of(conn), decode_anything):
        yield from rows()


# -- the row that does not hold ---------------------------------------------------------------------------------------


class _Culprit:
    def __init__(self, table: Table, stored: Connection, folded: Connection) -> None:
        self._table = table
        self._named: NamedTable = by_names(table)
        self._columns = (*(("version",) if table is lineage else ()), *self._named.columns)
        self._stored = stored
        self._folded = folded

    def named(self, only_stored: set[bytes], only_folded: set[bytes]) -> EvidenceBroken:
        extra = self._by_identity(self._stored, only_stored)
        lacking = self._by_identity(self._folded, only_folded)
        identity = min(extra.keys() | lacking.keys())
        what, row = f"The table {self._table.name}", f"the row of {identity}"
        if identity not in lacking:
            return EvidenceBroken(what, f"{row} does not follow from the events")
        if identity not in extra:
            return EvidenceBroken(what, f"{row} is missing")
        pairs = zip(self._columns, extra[identity], lacking[identity], strict=True)
        column, is_there, should_be = next((pair for pair in pairs if pair[1] != pair[2]), ("", None, None))
        if not column:
            return EvidenceBroken(what, f"{row} is not there as often as it follows from the events")
        return EvidenceBroken(
            what,
            f"{row} has the {_words(column)} {self._shown(column, is_there, self._stored)}, "
            f"by the events it is {self._shown(column, should_be, self._folded)}",
        )

    def _by_identity(self, conn: Connection, hashes: set[bytes]) -> dict[str, PlainRow]:
        def collect(_attempt: int) -> list[PlainRow]:
            return [row for row in self._rows(conn) if _hash(row) in hashes]

        found: dict[str, PlainRow] = {}
        for row in _twice(conn, collect) if hashes else ():
            found.setdefault(self._identity(conn, row), row)
        return found

    def _rows(self, conn: Connection) -> Iterable[PlainRow]:
        if self._table in (version, lineage):
            return (row for name, row in _versions(conn, check=False) if name == self._table.name)
        return self._named.rows(conn)

    def _identity(self, conn: Connection, row: PlainRow) -> str:
        values = dict(zip(self._columns, row, strict=True))
        told = [(name, values[name]) for name in _KNOWN_BY[self._table.name] if values[name] is not None]
        return ", ".join(f"{_words(name)} {self._shown(name, value, conn)}" for name, value in told)

    def _shown(self, column: str, value: object, conn: Connection) -> str:
        target = self._named.references.get(column)
        if value is None:
            return "not there"
        if target is not None and isinstance(value, bytes):
            return _name(conn, target, value)
        if isinstance(value, bytes):
            return f"{value.hex()[:16]}…"
        if column in self._table.c and isinstance(self._table.c[column].type, Micros) and isinstance(value, int):
            return _moment(value)
        return shorten(str(value)) if isinstance(value, int) else f"'{shorten(str(value))}'"


def _words(column: str) -> str:
    return column.removesuffix("_id").replace("_", " ") if column != "run_id" else "run"


def _moment(micros: int) -> str:
    if micros == OPEN:
        return "open"
    try:
        return from_micros(micros).isoformat()
    except OverflowError:
        return str(micros)


def _name(conn: Connection, target: Table, key: bytes) -> str:
    if target is event:
        return f"sha256:{key.hex()}"
    names = {label: ("text",), run: ("run_id",)}.get(target, ("namespace", "name"))
    columns = [target.c[name] for name in names]
    row = conn.execute(select(*columns).where(target.c.key == key)).first()
    return shorten("/".join(map(str, row))) if row is not None else f"{key.hex()[:16]}…"
