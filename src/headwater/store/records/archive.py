"""The catalog of the archive: which files it consists of, and which hot rows are archived.

A commit is one transaction: it is refused if there is a newer commit than its base, or if its attempt was abandoned;
else files are added and removed, and the marks of what is archived move. A process that dies before that leaves files
that the catalog does not name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from headwater.store.engine.dialect import dialect_of
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


def clock(conn: Connection) -> tuple[int, str | None, str | None]:
    """The number of the last load, the last commit of the archive, and where the archive is."""
    row = conn.execute(select(record_clock.c.load, record_clock.c.head, record_clock.c.archive)).one_or_none()
    return (0, None, None) if row is None else (row.load, row.head, row.archive)


def next_load(conn: Connection) -> int:
    """Take the next load number; other transactions wait for the next one until this one ends."""
    made = dialect_of(conn).insert(record_clock).values(id=_CLOCK, load=1)
    taken = made.on_conflict_do_update(index_elements=["id"], set_={"load": record_clock.c.load + 1})
    return int(conn.execute(taken.returning(record_clock.c.load)).scalar_one())


def remember_archive(conn: Connection, location: str) -> None:
    made = dialect_of(conn).insert(record_clock).values(id=_CLOCK, load=0, archive=location)
    conn.execute(made.on_conflict_do_update(index_elements=["id"], set_={"archive": location}))


def begin(conn: Connection, *, id: str, kind: str, started_at: int, location: str, run_id: str | None) -> str | None:
    """Record that a compaction begins, or starts over; returns the commit that it is based on."""
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
    added: Sequence[Mapping[str, object]],
    removed: Collection[str],
    days: Mapping[int, int],
    roots: Mapping[bytes, int],
) -> bool:
    """Commit; False if there is a newer commit, or if the compaction is committed or its attempt abandoned already.

    A row of ``added`` may have ``keys`` (see `record_file_keys`). With ``leaves_work`` the attempt is remembered until
    its files are removed.
    """
    first_clock = dialect_of(conn).insert(record_clock).values(id=_CLOCK, load=0)
    conn.execute(first_clock.on_conflict_do_nothing())
    compaction = conn.execute(
        select(record_compaction.c.base).where(record_compaction.c.id == id, record_compaction.c.finished_at.is_(None))
    ).one_or_none()
    if compaction is None or not attempts.is_open(conn, attempt):
        return False
    # Also equal if there is no commit yet.
    base_is_head = record_clock.c.head.is_not_distinct_from(compaction.base)
    if conn.execute(update(record_clock).where(base_is_head).values(head=id)).rowcount != 1:
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


def _change_files(conn: Connection, id: str, added: Sequence[Mapping[str, object]], removed: Collection[str]) -> None:
    if added:
        rows = [{name: value for name, value in file.items() if name != "keys"} for file in added]
        conn.execute(insert(record_file), [{**file, "added_in": id} for file in rows])
    keys_by_file = [(file["path"], file.get("keys")) for file in added]
    if rows_of_keys := [{"path": path, **keys} for path, keys in keys_by_file if isinstance(keys, Mapping) and keys]:
        conn.execute(insert(record_file_keys), rows_of_keys)
    removed_count = 0
    for chunk in _chunks(sorted(removed)):
        live = record_file.c.path.in_(chunk) & record_file.c.removed_in.is_(None)
        removed_count += conn.execute(update(record_file).where(live).values(removed_in=id)).rowcount
    if removed_count != len(removed):
        # A fault of the caller: it replaces files that are not in the archive.
        raise ValueError(f"{len(removed) - removed_count} of {len(removed)} files to replace are not in the archive")


def _mark(conn: Connection, table: Table, key: str, marks: Mapping[int, int] | Mapping[bytes, int]) -> None:
    if not marks:
        return
    made = dialect_of(conn).insert(table)
    # Never lowered: archived rows stay archived.
    higher = made.excluded.upto > table.c.upto
    made = made.on_conflict_do_update(index_elements=[key], set_={"upto": made.excluded.upto}, where=higher)
    conn.execute(made, [{key: mark, "upto": upto} for mark, upto in marks.items()])


def files(
    conn: Connection, kind: str | None, days: Collection[int] | None, root_key: bytes | None = None
) -> Sequence[RowMapping]:
    """The files of the archive, by day and path; with ``root_key`` those whose range of root keys includes it."""
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


def file_keys(conn: Connection, paths: Collection[str], kind: str) -> dict[str, RowMapping]:
    """The least and greatest root key of these files, and their Bloom filter of ``kind`` roots or nodes."""
    keys, rows = record_file_keys.c, dict[str, RowMapping]()
    for chunk in _chunks(sorted(paths)):
        query = select(keys.path, keys.low, keys.high, keys[kind].label("bloom_filter")).where(keys.path.in_(chunk))
        rows |= {row["path"]: row for row in conn.execute(query).mappings()}
    return rows


def commits_since(conn: Connection, id: str) -> tuple[str | None, list[str]] | None:
    """The last commit, and the ids of all commits since the base of this compaction, the newest first.

    None if the compaction is committed or dropped, or if its base is not found.
    """
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    compaction = conn.execute(select(record_compaction.c.base).where(*unfinished)).one_or_none()
    if compaction is None:
        return None
    head = clock(conn)[1]
    commit, newer = head, list[str]()
    while commit != compaction.base:
        if commit is None:
            return None
        newer.append(commit)
        commit = conn.scalar(select(record_compaction.c.base).where(record_compaction.c.id == commit))
    return head, newer


def changes(conn: Connection, ids: Collection[str]) -> tuple[Sequence[RowMapping], list[str]]:
    """The files that these commits added, and the paths that they removed."""
    added = conn.execute(select(record_file).where(record_file.c.added_in.in_(ids)).order_by(record_file.c.path))
    removed = select(record_file.c.path).where(record_file.c.removed_in.in_(ids)).order_by(record_file.c.path)
    return added.mappings().all(), list(conn.scalars(removed))


def rebase(conn: Connection, id: str, base: str | None) -> None:
    """Set the commit that a compaction is based on."""
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    conn.execute(update(record_compaction).where(*unfinished).values(base=base))


def kind_of(conn: Connection, id: str) -> str:
    return str(conn.scalar(select(record_compaction.c.kind).where(record_compaction.c.id == id)))


def is_committed(conn: Connection, id: str) -> bool:
    done = exists().where(record_compaction.c.id == id, record_compaction.c.finished_at.is_not(None))
    return bool(conn.scalar(select(done)))


def compactions(conn: Connection, limit: int) -> Sequence[RowMapping]:
    """The committed compactions, the newest first."""
    done = select(record_compaction).where(record_compaction.c.finished_at.is_not(None))
    return conn.execute(done.order_by(record_compaction.c.finished_at.desc()).limit(limit)).mappings().all()


def known_paths(conn: Connection, paths: Collection[str]) -> set[str]:
    """Those of these paths that the catalog names, whether or not they were removed since."""
    paths_in_catalog: set[str] = set()
    for chunk in _chunks(sorted(paths)):
        paths_in_catalog.update(conn.scalars(select(record_file.c.path).where(record_file.c.path.in_(chunk))))
    return paths_in_catalog


def committed_ids(conn: Connection, ids: Collection[str]) -> set[str]:
    """Those of these compactions that are committed."""
    committed: set[str] = set()
    for chunk in _chunks(sorted(ids)):
        condition = record_compaction.c.id.in_(chunk), record_compaction.c.finished_at.is_not(None)
        committed.update(conn.scalars(select(record_compaction.c.id).where(*condition)))
    return committed


def drop(conn: Connection, id: str) -> None:
    """Forget a compaction, unless it is committed."""
    unfinished = record_compaction.c.id == id, record_compaction.c.finished_at.is_(None)
    conn.execute(delete(record_compaction).where(*unfinished))


def retired(conn: Connection, before: int) -> list[str]:
    """Files that a commit before that time removed from the archive, and that are still on disk."""
    over = record_compaction.c.finished_at < before
    query = select(record_file.c.path).join(record_compaction, record_compaction.c.id == record_file.c.removed_in)
    return list(conn.scalars(query.where(over).order_by(record_file.c.path)))


def forget_files(conn: Connection, paths: Iterable[str]) -> None:
    for chunk in _chunks(sorted(paths)):
        retired = record_file.c.path.in_(chunk), record_file.c.removed_in.is_not(None)
        retired_paths = select(record_file.c.path).where(*retired)
        conn.execute(delete(record_file_keys).where(record_file_keys.c.path.in_(retired_paths)))
        conn.execute(delete(record_file).where(*retired))


def _is_archived() -> ColumnElement[bool]:
    """The condition that a hot row is archived."""
    hot, day, root = record_hot.c, record_archived_day.c, record_archived_root.c
    by_day = exists().where(day.day == hot.day, hot.load <= day.upto)
    by_root = exists().where(root.root_key == hot.root_key, hot.load <= root.upto)
    return or_(by_day, by_root)


def _is_expirable(now: int, after: bytes) -> ColumnElement[bool]:
    return and_(record_hot.c.root_key > after, record_hot.c.ttl_expiry <= now, _is_archived())


def next_expiry_range(conn: Connection, now: int, limit: int, after: bytes) -> tuple[bytes | None, bool]:
    """The next range of root keys ``after`` a key that has about ``limit`` hot rows which are both archived and past
    their time to live: its last key, or None if there are no such rows, and whether there may be more."""
    key = record_hot.c.root_key
    keys = conn.scalars(select(key).where(_is_expirable(now, after)).order_by(key).limit(limit + 1)).all()
    return (bytes(keys[-1]) if keys else None), len(keys) > limit


def expire(conn: Connection, now: int, after: bytes, upto: bytes) -> int:
    """Delete those whose root key is greater than ``after`` and at most ``upto``, and log which; returns how many."""
    due = delete(record_hot).where(_is_expirable(now, after), record_hot.c.root_key <= upto)
    gone = conn.execute(due.returning(record_hot.c.load, record_hot.c.digest)).all()
    return write_expiry(conn, ((row.load, bytes(row.digest)) for row in gone))


def unarchived_days(conn: Connection, upto: int) -> dict[int, int]:
    """The number of hot rows of loads up to ``upto`` that are not archived, by day."""
    query = (
        select(record_hot.c.day, func.count())
        .where(record_hot.c.load <= upto, ~_is_archived())
        .group_by(record_hot.c.day)
        .order_by(record_hot.c.day)
    )
    return {row[0]: row[1] for row in conn.execute(query)}


def marks(conn: Connection) -> tuple[dict[int, int], dict[bytes, int]]:
    """Up to which load each day is archived, and each root that was archived on its own."""
    days = {row.day: row.upto for row in conn.execute(select(record_archived_day))}
    roots = {bytes(row.root_key): row.upto for row in conn.execute(select(record_archived_root))}
    return days, roots


def _chunks(names: Sequence[str], size: int = 500) -> Iterable[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
