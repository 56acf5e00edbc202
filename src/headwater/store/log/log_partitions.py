"""The whole log recomputed: in one go, or a long one in stretches, each in a process of its own.

python -m headwater.store.log.log_partitions      recompute a stretch; asked for and answered by pickles
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

import headwater
from headwater.errors import AuditBroken, StoreUnavailable
from headwater.proof.merkle import CompactRange
from headwater.proof.tiles import WIDTH
from headwater.store.engine.database import Database
from headwater.store.log.entries import Recomputed, Stretch, recompute
from headwater.store.log.log_head import GENESIS
from headwater.store.schema.tables import audit

_WORTH_A_PROCESS = 100_000
_MOST_PROCESSES = 4
Progress = Callable[[int, int], None]
"""How much is done, of how much."""


@dataclass(frozen=True, slots=True)
class WholeLog:
    size: int
    first: bytes
    head: bytes
    roots: Sequence[bytes]
    """Over each 256 entries."""
    root_at: dict[int, bytes]
    others: Sequence[tuple[int, str, str]]
    """Entries that are not about events: number, type and details."""


def recompute_all(
    database: Database, conn: Connection, sizes: Sequence[int], progress: Progress | None = None
) -> WholeLog:
    """Every entry, and the root at each of ``sizes`` and at the end; :class:`AuditBroken` at the first that fails."""
    lowest, size = conn.execute(select(func.min(audit.c.seq), func.max(audit.c.seq))).one()
    size = size or 0
    if lowest is not None and lowest < 1:
        raise AuditBroken(1, f"missing; the next entry there is {lowest}")
    # Known before the pages are read: an entry far behind a gap is not looked for number by number.
    count = conn.execute(select(func.count()).select_from(audit)).scalar_one() if size > _WORTH_A_PROCESS else size
    parts = _parts(database, count, size)
    wanted = tuple(sorted({*(one for one in sizes if one <= size), size}))
    stretches = [Stretch(start, stop, wanted) for start, stop in zip(parts, [*parts[1:], size], strict=True)]
    found = _recomputed(database, conn, stretches, progress)
    _check(stretches, found)
    return _joined(size, wanted, found)


def _parts(database: Database, count: int, size: int) -> list[int]:
    """Where each stretch starts."""
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES, 1 + count // _WORTH_A_PROCESS)
    if database.is_in_memory or not sys.executable or processes < 2 or count < size:
        return [0]
    each = -(-size // processes // WIDTH) * WIDTH
    return list(range(0, size, each))


def _recomputed(
    database: Database, conn: Connection, stretches: Sequence[Stretch], progress: Progress | None
) -> list[Recomputed]:
    """The first stretch here, the others each in a process; all are as long, so this one tells how far all are."""
    workers = [_worker(database, stretch) for stretch in stretches[1:]]
    first, size = stretches[0], stretches[-1].stop
    share = size / max(1, first.stop)
    try:
        tell = None if progress is None else lambda done: progress(min(size, int(done * share)), size)
        found = [recompute(conn, first, tell)]
        for worker in workers:
            answer, _ = worker.communicate()
            if worker.returncode:
                raise StoreUnavailable(f"A process that read the log at {database} ended with {worker.returncode}.")
            found.append(pickle.loads(answer))
        return found
    finally:
        for worker in workers:
            worker.kill()  # only what something else has stopped is still running
            with worker:
                pass


def _worker(database: Database, stretch: Stretch) -> subprocess.Popen[bytes]:
    """Not by multiprocessing: that would run the caller's script again, or fork its threads."""
    path = os.pathsep.join([str(Path(headwater.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    worker = subprocess.Popen(
        [sys.executable, "-m", "headwater.store.log.log_partitions"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
    )
    assert worker.stdin is not None
    # The address through the pipe, for its password's sake: others can read a process's arguments.
    worker.stdin.write(pickle.dumps((database.url.render_as_string(hide_password=False), stretch)))
    worker.stdin.close()
    worker.stdin = None
    return worker


def _check(stretches: Sequence[Stretch], found: Sequence[Recomputed]) -> None:
    previous = GENESIS
    for stretch, one in zip(stretches, found, strict=True):
        if stretch.start and one.broken is None and one.first_previous != previous:
            raise AuditBroken(stretch.start + 1, "it does not follow from the entry before it")
        one.check()
        previous = one.last_hash


def _joined(size: int, wanted: Sequence[int], found: Sequence[Recomputed]) -> WholeLog:
    roots = [root for one in found for root in one.roots]
    ends = {at: end for one in found for at, end in one.ends.items()}
    whole, root_at = CompactRange(), {0: CompactRange().root()}
    for at in wanted:
        while whole.size < at // WIDTH:
            whole.append(roots[whole.size])
        root_at[at] = whole.root(ends.get(at, ()))
    others = [entry for one in found for entry in one.others]
    return WholeLog(size, found[0].first_hash, found[-1].last_hash, roots, root_at, others)


def main() -> None:
    url, stretch = pickle.load(sys.stdin.buffer)
    database = Database(url, create=False)
    with database.read() as conn:
        found = recompute(conn, stretch)
    database.close()
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    main()
