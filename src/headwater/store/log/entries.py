"""A stretch of the log recomputed: what it contributes to the tree, and what of it has to be looked at as a whole.

Python's own JSON is canonical for what an entry is made of (texts, whole numbers and nulls under names of plain
letters), and many times as quick as an implementation of all of RFC 8785; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from json.encoder import encode_basestring

from sqlalchemy import Connection, RowMapping, Select, select

from headwater.errors import AuditBroken
from headwater.proof.merkle import perfect_root, perfect_roots
from headwater.proof.tiles import WIDTH
from headwater.store.engine.database import fetch_plainly
from headwater.store.log.audit import ALGORITHM, INGESTED
from headwater.store.log.log_head import GENESIS
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import audit

_PAGE = 16 * WIDTH
_HASHED = sorted(column.name for column in audit.c if column.name not in ("hash", "previous_hash"))
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Stretch:
    """Entries ``start`` + 1 to ``stop``; ``start`` is a multiple of 256. The tree is wanted at each of ``sizes``."""

    start: int
    stop: int
    sizes: tuple[int, ...]


@dataclass
class Recomputed:
    first_previous: bytes = GENESIS
    first_hash: bytes = GENESIS
    last_hash: bytes = GENESIS
    roots: list[bytes] = field(default_factory=list)
    """Over each 256 entries."""
    ends: dict[int, list[bytes]] = field(default_factory=dict)
    """For each size that was asked for, the perfect trees after the last 256."""
    others: list[tuple[int, str, str]] = field(default_factory=list)
    """Entries that are not about events: number, type and details."""
    broken: tuple[int, str] | None = None

    def check(self) -> None:
        if self.broken is not None:
            raise AuditBroken(*self.broken)


def recompute(conn: Connection, stretch: Stretch, progress: Progress | None = None) -> Recomputed:
    """Up to the first entry that does not hold."""
    found = Recomputed()
    sizes = sorted(size for size in stretch.sizes if stretch.start < size <= stretch.stop)
    for start in range(stretch.start, stretch.stop, _PAGE):
        stop = min(start + _PAGE, stretch.stop)
        rows = _page(conn, start, stop)
        hashes = _hashes(rows, start, stretch, found)
        if found.broken is None and len(rows) < stop - start:
            found.broken = start + len(rows) + 1, "missing"
        if found.broken is not None:
            return found
        if start == stretch.start:
            found.first_hash = hashes[0]
        leaves = [sha256(b"\0" + one).digest() for one in hashes]
        found.roots += [perfect_root(leaves[i : i + WIDTH]) for i in range(0, len(leaves) - WIDTH + 1, WIDTH)]
        while sizes and sizes[0] <= stop:
            size = sizes.pop(0)
            within = size - start
            found.ends[size] = perfect_roots(leaves[within - size % WIDTH : within])
        if progress is not None:
            progress(stop)
    return found


def _page(conn: Connection, start: int, stop: int) -> list[PlainRow]:
    columns = [*(audit.c[name] for name in _HASHED), audit.c.previous_hash, audit.c.hash]
    return as_stored(conn, select(*columns).where(audit.c.seq > start, audit.c.seq <= stop).order_by(audit.c.seq))


def as_stored(conn: Connection, query: Select[*tuple[object, ...]]) -> list[PlainRow]:
    """The rows as the driver returns them: with a million of them each step counts, and a tampered value may be of
    any type."""
    return fetch_plainly(conn, str(query.compile(conn.engine, compile_kwargs={"literal_binds": True})))


def _hashes(rows: Sequence[PlainRow], start: int, stretch: Stretch, found: Recomputed) -> list[bytes]:
    """The hashes of a page's entries, each recomputed; ``found.broken`` where one does not hold."""
    text, hashes, expected = encode_basestring, [], start
    previous = found.last_hash
    try:
        for (
            action, actor_id, actor_type, algorithm, client_ip, correlation_id, details, event_type, recorded_at,
            resource_id, resource_type, seq, user_agent, previous_hash, kept,
        ) in rows:  # fmt: skip
            expected += 1
            if seq != expected:
                found.broken = expected, f"missing; the next entry there is {seq}"
                break
            if previous_hash != previous:
                if expected != stretch.start + 1 or stretch.start == 0:
                    found.broken = expected, "it does not follow from the entry before it"
                    break
                previous = found.first_previous = previous_hash
            if algorithm != ALGORITHM:
                found.broken = expected, f"unknown algorithm {algorithm!r}"
                break
            if type(recorded_at) is not int:  # SQLite would keep the same digits as a text, too
                raise TypeError(recorded_at)
            content = (
                f'{{"action":{text(action)},"actor_id":{text(actor_id)},"actor_type":{text(actor_type)},'
                f'"algorithm":{text(algorithm)},"client_ip":{"null" if client_ip is None else text(client_ip)},'
                f'"correlation_id":{"null" if correlation_id is None else text(correlation_id)},'
                f'"details":{text(details)},"event_type":{text(event_type)},"previous_hash":"{previous.hex()}",'
                f'"recorded_at":{recorded_at},"resource_id":{"null" if resource_id is None else text(resource_id)},'
                f'"resource_type":{"null" if resource_type is None else text(resource_type)},"seq":{seq},'
                f'"user_agent":{"null" if user_agent is None else text(user_agent)}}}'
            )
            previous = sha256(content.encode()).digest()
            if previous != kept:
                found.broken = expected, "its content does not match its hash"
                break
            hashes.append(previous)
            if event_type != INGESTED:
                found.others.append((seq, event_type, details))
    except (TypeError, AttributeError, UnicodeEncodeError):  # of a type, or with characters, that we never write
        found.broken = expected, "its content does not match its hash"
    found.last_hash = previous
    return hashes


def entry_holds(row: RowMapping | Mapping[str, object]) -> None:
    """One entry alone: whether its content has its hash."""
    values: PlainRow = tuple(row[name] for name in [*_HASHED, "previous_hash", "hash"])
    seq: int = values[_HASHED.index("seq")]
    found = Recomputed(last_hash=values[-2])
    _hashes([values], seq - 1, Stretch(seq - 1, seq, ()), found)
    found.check()
