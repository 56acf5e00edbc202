"""The events verified against the log: in one go, or many of them in parts, each part in a process of its own.

``python -m headwater.store.log.event_partitions`` verifies one part; a pickled request asks for it, a pickle answers.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from sqlalchemy import Connection, func, select

import headwater
from headwater.errors import EvidenceBroken, StoreUnavailable
from headwater.store.engine.database import Database
from headwater.store.log.audit import INGESTED
from headwater.store.log.log_partitions import Progress
from headwater.store.log.verify_events import EventRange, verify_range
from headwater.store.schema.tables import audit, event

_WORTH_A_PROCESS = 50_000
_MAX_PROCESSES = 4


def verify_events(
    database: Database,
    conn: Connection,
    certified: Mapping[str, Mapping[str, object]],
    progress: Progress | None,
    *,
    busy: int,
) -> int:
    """How many there are; ``certified`` are the certificates' documents by the digest of their event.

    ``busy``: how many other processes are at work already.
    """
    count, last = conn.execute(select(func.count(), func.max(event.c.id)).select_from(event)).one()
    processes = min((os.cpu_count() or 1) - busy, _MAX_PROCESSES, 1 + count // _WORTH_A_PROCESS)
    parts = [] if database.is_in_memory or not sys.executable else _ranges(conn, count, last, processes)
    if len(parts) < 2:
        parts = [EventRange()]
    seen = _verified(database, conn, parts, certified, progress)
    for digest in sorted(certified.keys() - seen):
        raise EvidenceBroken(f"Certificate {certified[digest]['certificateId']}", f"there is no event {digest}")
    return int(count)


def _ranges(conn: Connection, count: int, last: int, processes: int) -> list[EventRange]:
    """Parts of as many events each, with the entries about them; none where that cannot be said beforehand."""
    if processes < 2 or count != last:
        return []
    entries = select(audit.c.seq).where(audit.c.event_type == INGESTED).order_by(audit.c.seq)
    newest = conn.scalar(select(func.max(audit.c.seq)))
    ends = [(0, 0)]
    for number in range(1, processes):
        upto = count * number // processes
        seq = conn.scalar(entries.offset(upto - 1).limit(1))
        if seq is None:
            return []
        ends.append((upto, seq))
    ends.append((last, newest))
    parts = pairwise(ends)
    return [EventRange(after, upto, after_seq, upto_seq) for (after, after_seq), (upto, upto_seq) in parts]


def _verified(
    database: Database,
    conn: Connection,
    parts: Sequence[EventRange],
    certified: Mapping[str, Mapping[str, object]],
    progress: Progress | None,
) -> set[str]:
    """The first part here, the others each in a process; all are as long, so this one says how far all are. The answer
    are the digests of events that have a certificate."""
    workers = [_worker(database, part, certified) for part in parts[1:]]
    count = conn.scalar(select(func.count()).select_from(event)) or 0
    share = len(parts)
    try:
        tell = None if progress is None else lambda done: progress(min(count, done * share), count)
        seen = verify_range(conn, parts[0], certified, tell)
        for worker in workers:
            answer, _ = worker.communicate()
            if worker.returncode:
                raise StoreUnavailable(f"A process that read events at {database} ended with {worker.returncode}.")
            found = pickle.loads(answer)
            if isinstance(found, tuple):
                raise EvidenceBroken(*found)
            seen |= found
        return seen
    finally:
        for worker in workers:
            worker.kill()  # only what something else has stopped is still running
            with worker:
                pass


def _worker(
    database: Database, part: EventRange, certified: Mapping[str, Mapping[str, object]]
) -> subprocess.Popen[bytes]:
    """As :mod:`headwater.store.log.log_partitions` starts its own, and for the same reasons."""
    path = os.pathsep.join([str(Path(headwater.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    worker = subprocess.Popen(
        [sys.executable, "-m", "headwater.store.log.event_partitions"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
    )
    assert worker.stdin is not None
    pickle.dump((database.url.render_as_string(hide_password=False), part, dict(certified)), worker.stdin)
    worker.stdin.close()
    worker.stdin = None
    return worker


def main() -> None:
    url, part, certified = pickle.load(sys.stdin.buffer)
    database = Database(url, create=False)
    found: set[str] | tuple[str, str]
    with database.read() as conn:
        try:
            found = verify_range(conn, part, certified, None)
        except EvidenceBroken as broken:
            found = broken.what, broken.reason
    database.close()
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    main()
