"""The books of the archive: which files it is made of, and which hot rows it holds.

A commit is one transaction: it is refused if another came since the one it began from, or if it was given up; else
files come and go, and the marks of what is archived move. A process that dies before that leaves files that no book
names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from headwater.store.records import attempts
from headwater.store.records.evidence import write_expiry
from headwater.store.schema.record_tables import (
    record_archived_day,
    record_archived_root,
    record_clock,
    record_compaction,
    record_file,
    record_file_keys,
    record_hot,
)

_CLOCK = 1


def upsert(conn: Connection) -> Any:
    """The INSERT of this database that knows ON CONFLICT."""
    return sqlite_insert if conn.dialect.name == "sqlite" else postgresql_insert


def clock(conn: Connection) -> tuple[int, str | None, str | None]:
    """The number of the last load, the last commit of the archive, and where the archive is."""
    row = conn.execute(select(record_clock.c.load, record_clock.c.head, record_clock.c.archive)).one_or_none()
    return (0, None, None) if row is None else (row.load, row.head, row.archive)


def next_load(conn: Connection) -> int:
    """Take the next number; nobody else gets one until this transaction ends."""
    made = upsert(conn)(record_clock).values(id=_CLOCK, load=1)
    taken = made.on_conflict_do_update(index_elements=["id"], set_={"load": record_clock.c.load + 1})
    return int(conn.execute(taken.returning(record_clock.c.load)).scalar_one())


def remember_archive(conn: Connection, location: str) -> None:
    made = upsert(conn)(record_clock).values(id=_CLOCK, load=0, archive=location)
    conn.execute(made.on_conflict_do_update(index_elements=["id"], set_={"archive": location}))


def begin(conn: Connection, *, id: str, kind: str, started_at: int, location: str, run_id: str | None) -> str | None:
    """Write down that a compaction begins, or begins again; the commit it begins from."""
    base = clock(conn)[1]
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    conn.execute(delete(record_compaction).where(*unfinished))
    conn.execute(
        insert(record_compaction).values(
            id=id, base=base, kind=kind, started_at=started_at, location=location, run_id=run_id
        )
    )
    return base


def commit(
    conn: Connection,
    *,
    id: str,
    attempt: str,
    leaves_work: bool,
    finished_at: int,
    rows: int,
    digest: bytes,
    added: Sequence[Mapping[str, Any]],
    removed: Collection[str],
    days: Mapping[int, int],
    roots: Mapping[bytes, int],
) -> bool:
    """Whether it holds now: False where another commit came first, or this one was committed or given up before.

    A row of ``added`` may have ``keys`` (see `record_file_keys`). Where it ``leaves_work`` behind, that is remembered
    until it is removed.
    """
    made = upsert(conn)(record_clock).values(id=_CLOCK, load=0)
    conn.execute(made.on_conflict_do_nothing())
    begun = conn.execute(
        select(record_compaction.c.base).where(record_compaction.c.id == id, record_compaction.c.finished_at.is_(None))
    ).one_or_none()
    if begun is None or not attempts.is_open(conn, attempt):
        return False
    # Equal also where there is none yet on both sides.
    same = record_clock.c.head.is_not_distinct_from(begun.base)
    if conn.execute(update(record_clock).where(same).values(head=id)).rowcount != 1:
        return False
    conn.execute(
        update(record_compaction)
        .where(record_compaction.c.id == id)
        .values(finished_at=finished_at, rows=rows, digest=digest)
    )
    attempts.close(conn, attempt, finished_at) if leaves_work else attempts.end(conn, attempt)
    _change_files(conn, id, added, removed)
    _mark(conn, record_archived_day, "day", days)
    _mark(conn, record_archived_root, "root_key", roots)
    return True


def _change_files(conn: Connection, id: str, added: Sequence[Mapping[str, Any]], removed: Collection[str]) -> None:
    if added:
        plain = [{name: value for name, value in file.items() if name != "keys"} for file in added]
        conn.execute(insert(record_file), [{**file, "added_in": id} for file in plain])
    if keys := [{"path": file["path"], **file["keys"]} for file in added if file.get("keys")]:
        conn.execute(insert(record_file_keys), keys)
    gone = 0
    for some in _chunks(sorted(removed)):
        live = record_file.c.path.in_(some) & record_file.c.removed_in.is_(None)
        gone += conn.execute(update(record_file).where(live).values(removed_in=id)).rowcount
    if gone != len(removed):
        # The caller replaced files that were not there: a fault of its own, and no archive may come of it.
        raise ValueError(f"{len(removed) - gone} of {len(removed)} files to replace are not in the archive")


def _mark(conn: Connection, table: Any, key: str, marks: Mapping[Any, int]) -> None:
    if not marks:
        return
    made = upsert(conn)(table)
    # Never back: what is archived stays archived.
    higher = made.excluded.upto > table.c.upto
    made = made.on_conflict_do_update(index_elements=[key], set_={"upto": made.excluded.upto}, where=higher)
    conn.execute(made, [{key: mark, "upto": upto} for mark, upto in marks.items()])


def files(
    conn: Connection, kind: str | None, days: Collection[int] | None, root_key: bytes | None = None
) -> Sequence[RowMapping]:
    """The live ones, by day and path; of a root, those between whose least and greatest key it lies."""
    query = select(record_file).where(record_file.c.removed_in.is_(None))
    if kind is not None:
        query = query.where(record_file.c.kind == kind)
    if days is not None:
        query = query.where(record_file.c.day.in_(days))
    if root_key is not None:
        keys = record_file_keys.c
        beyond = or_(keys.low > root_key, keys.high < root_key)
        query = query.where(~exists().where(keys.path == record_file.c.path, beyond))
    return conn.execute(query.order_by(record_file.c.day, record_file.c.path)).mappings().all()


def file_keys(conn: Connection, paths: Collection[str], sieve: str) -> dict[str, RowMapping]:
    """What is known of these files: low, high, and the sieve of that name as ``sieve``."""
    keys, found = record_file_keys.c, dict[str, RowMapping]()
    for some in _chunks(sorted(paths)):
        query = select(keys.path, keys.low, keys.high, keys[sieve].label("sieve")).where(keys.path.in_(some))
        found |= {row["path"]: row for row in conn.execute(query).mappings()}
    return found


def since(conn: Connection, id: str) -> tuple[str | None, list[str]] | None:
    """The last commit, and the ids of all that came since the one that this compaction began from, the newest first.

    None where it was committed or given up, and where the one it began from is not found.
    """
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    begun = conn.execute(select(record_compaction.c.base).where(*unfinished)).one_or_none()
    if begun is None:
        return None
    head = clock(conn)[1]
    at, between = head, list[str]()
    while at != begun.base:
        if at is None:
            return None
        between.append(at)
        at = conn.scalar(select(record_compaction.c.base).where(record_compaction.c.id == at))
    return head, between


def changes(conn: Connection, ids: Collection[str]) -> tuple[Sequence[RowMapping], list[str]]:
    """The files that these commits have added, and the paths that they have removed."""
    added = conn.execute(select(record_file).where(record_file.c.added_in.in_(ids)).order_by(record_file.c.path))
    removed = select(record_file.c.path).where(record_file.c.removed_in.in_(ids)).order_by(record_file.c.path)
    return added.mappings().all(), list(conn.scalars(removed))


def move(conn: Connection, id: str, base: str | None) -> None:
    """As if it had begun from that commit."""
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    conn.execute(update(record_compaction).where(*unfinished).values(base=base))


def kind_of(conn: Connection, id: str) -> str:
    return str(conn.scalar(select(record_compaction.c.kind).where(record_compaction.c.id == id)))


def is_committed(conn: Connection, id: str) -> bool:
    done = exists().where(record_compaction.c.id == id, record_compaction.c.finished_at.is_not(None))
    return bool(conn.scalar(select(done)))


def compactions(conn: Connection, limit: int) -> Sequence[RowMapping]:
    """Those that were committed, the newest first."""
    done = select(record_compaction).where(record_compaction.c.finished_at.is_not(None))
    return conn.execute(done.order_by(record_compaction.c.finished_at.desc()).limit(limit)).mappings().all()


def known(conn: Connection, paths: Collection[str]) -> set[str]:
    """Those of these paths that the books name, whether or not they still count."""
    found: set[str] = set()
    for some in _chunks(sorted(paths)):
        found.update(conn.scalars(select(record_file.c.path).where(record_file.c.path.in_(some))))
    return found


def committed(conn: Connection, ids: Collection[str]) -> set[str]:
    """Those of these compactions that hold."""
    found: set[str] = set()
    for some in _chunks(sorted(ids)):
        done = record_compaction.c.id.in_(some), record_compaction.c.finished_at.is_not(None)
        found.update(conn.scalars(select(record_compaction.c.id).where(*done)))
    return found


def drop(conn: Connection, id: str) -> None:
    """Forget that it began; one that is committed stays."""
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    conn.execute(delete(record_compaction).where(*unfinished))


def retired(conn: Connection, before: int) -> list[str]:
    """Files that a commit before then removed from the archive, and that are still on disk."""
    over = record_compaction.c.finished_at < before
    query = select(record_file.c.path).join(record_compaction, record_compaction.c.id == record_file.c.removed_in)
    return list(conn.scalars(query.where(over).order_by(record_file.c.path)))


def forget_files(conn: Connection, paths: Iterable[str]) -> None:
    for some in _chunks(sorted(paths)):
        gone = record_file.c.path.in_(some), record_file.c.removed_in.is_not(None)
        forgotten = select(record_file.c.path).where(*gone)
        conn.execute(delete(record_file_keys).where(record_file_keys.c.path.in_(forgotten)))
        conn.execute(delete(record_file).where(*gone))


def _archived() -> Any:
    """Whether a hot row is in the archive."""
    hot, day, root = record_hot.c, record_archived_day.c, record_archived_root.c
    by_day = exists().where(day.day == hot.day, hot.load <= day.upto)
    by_root = exists().where(root.root_key == hot.root_key, hot.load <= root.upto)
    return or_(by_day, by_root)


def _due(now: int, after: bytes) -> Any:
    return and_(record_hot.c.root_key > after, record_hot.c.ttl_expiry <= now, _archived())


def overdue(conn: Connection, now: int, most: int, after: bytes) -> tuple[bytes | None, bool]:
    """Of hot rows that are past their time AND in the archive, of roots whose keys come ``after`` one: the key up to
    which there are about ``most``, of whole roots, and whether there may be more. None where there is none."""
    key = record_hot.c.root_key
    keys = conn.scalars(select(key).where(_due(now, after)).order_by(key).limit(most + 1)).all()
    return (bytes(keys[-1]) if keys else None), len(keys) > most


def expire(conn: Connection, now: int, after: bytes, upto: bytes) -> int:
    """Delete those whose roots' keys come ``after`` the one and not after the other, and log which; how many."""
    due = delete(record_hot).where(_due(now, after), record_hot.c.root_key <= upto)
    gone = conn.execute(due.returning(record_hot.c.load, record_hot.c.digest)).all()
    return write_expiry(conn, ((row.load, bytes(row.digest)) for row in gone))


def fresh_days(conn: Connection, upto: int) -> dict[int, int]:
    """The days that have hot rows which are in no archive, of loads up to ``upto``; how many each."""
    query = (
        select(record_hot.c.day, func.count())
        .where(record_hot.c.load <= upto, ~_archived())
        .group_by(record_hot.c.day)
        .order_by(record_hot.c.day)
    )
    return {row[0]: row[1] for row in conn.execute(query)}


def marks(conn: Connection) -> tuple[dict[int, int], dict[bytes, int]]:
    """Up to which load each day is archived, and each root that was archived by itself."""
    days = {row.day: row.upto for row in conn.execute(select(record_archived_day))}
    roots = {bytes(row.root_key): row.upto for row in conn.execute(select(record_archived_root))}
    return days, roots


def _chunks(names: Sequence[str], size: int = 500) -> Iterable[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
