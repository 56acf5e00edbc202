"""The audit log as a Merkle tree: entry n is leaf n - 1, and its hash, which covers the entry, is what the leaf holds.

So nothing is added to an entry. Once in 256 entries the root over them is written beside, in the same transaction, that
proofs need not read the whole log.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BindParameter, Connection, bindparam, func, insert, select

from headwater.errors import EvidenceBroken, QueryError
from headwater.model.log import ConsistencyProof, InclusionProof
from headwater.proof.merkle import leaf_hash, perfect_root
from headwater.proof.tiles import WIDTH, Tiles, completed_tiles
from headwater.store.engine.prepared import Prepared
from headwater.store.schema.tables import audit, log_tile

_START: BindParameter[int] = bindparam("start")
_STOP: BindParameter[int] = bindparam("stop")
_ENTRIES = select(audit.c.hash).where(audit.c.seq > _START, audit.c.seq <= _STOP).order_by(audit.c.seq)
_TILES = (
    select(log_tile.c.hash)
    .where(log_tile.c.level == bindparam("level"), log_tile.c.number >= _START, log_tile.c.number < _STOP)
    .order_by(log_tile.c.number)
)
_ASK_ENTRIES, _ASK_TILES, _INSERT = Prepared(_ENTRIES), Prepared(_TILES), Prepared(insert(log_tile))


def grow(conn: Connection, size_before: int, size: int) -> None:
    """Write the tiles that became whole. The caller holds the write lock and has written the entries."""
    for level, number in completed_tiles(size_before, size):
        bounds = {"start": number * WIDTH, "stop": (number + 1) * WIDTH}
        if level == 1:
            hashes = [leaf_hash(one) for (one,) in _ASK_ENTRIES.rows(conn, bounds) if isinstance(one, bytes)]
        else:
            hashes = [one for (one,) in _ASK_TILES.rows(conn, {**bounds, "level": level - 1})]
        # Where entries were taken out behind our back there is no such root; that is for `verify` to say.
        if len(hashes) == WIDTH:
            _INSERT.run(conn, [{"level": level, "number": number, "hash": perfect_root(hashes)}])


def size_of(conn: Connection) -> int:
    return conn.execute(select(func.max(audit.c.seq))).scalar_one() or 0


def tree(conn: Connection) -> Tiles:
    def fetch(level: int, start: int, stop: int) -> Sequence[bytes]:
        if level == 0:
            found = [leaf_hash(bytes(one)) for one in conn.scalars(_ENTRIES, {"start": start, "stop": stop})]
        else:
            tiles = conn.scalars(_TILES, {"level": level, "start": start, "stop": stop})
            found = [bytes(one) for one in tiles]
        if len(found) != stop - start:
            what = "entries" if level == 0 else f"tiles of level {level}"
            raise EvidenceBroken("The log", f"of its {what} {start} to {stop - 1} only {len(found)} are there")
        return found

    return Tiles(fetch)


def inclusion(conn: Connection, seq: int, size: int | None) -> InclusionProof:
    there_are = size_of(conn)
    size = there_are if size is None else size
    if not 1 <= size <= there_are:
        raise QueryError(f"There is no log of {size} entries. It has {there_are}.")
    if not 1 <= seq <= size:
        raise QueryError(f"Entry {seq} is not in the log of {size} entries.")
    entry = conn.scalars(select(audit.c.hash).where(audit.c.seq == seq)).one_or_none()
    if entry is None:
        raise EvidenceBroken(f"Entry {seq}", "it is missing")
    tiles = tree(conn)
    path = tuple(one.hex() for one in tiles.inclusion(seq - 1, size))
    return InclusionProof(seq, size, bytes(entry).hex(), path, tiles.root(size).hex())


def consistency(conn: Connection, old: int, new: int | None) -> ConsistencyProof:
    there_are = size_of(conn)
    new = there_are if new is None else new
    if not 0 <= old <= new <= there_are:
        raise QueryError(f"There is no log that grew from {old} to {new} entries. It has {there_are}.")
    tiles = tree(conn)
    path = tuple(one.hex() for one in tiles.consistency(old, new))
    return ConsistencyProof(old, new, tiles.root(old).hex(), path, tiles.root(new).hex())
