"""A fresh fold of all stored events into a scratch store: what the graph has to be.

``python -m headwater.store.fold.refold`` folds in a process of its own: it reads a pickled request from its parent and
answers with lines of progress.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import Connection, event, select

import headwater
from headwater.errors import StoreUnavailable
from headwater.formats.openlineage.event import reread_event
from headwater.store.engine.database import Database
from headwater.store.fold.ingest import fold_again
from headwater.store.fold.memory import Memory
from headwater.store.log.entries import as_stored
from headwater.store.log.log_head import GENESIS, Standing
from headwater.store.schema import tables
from headwater.store.schema.tables import metadata

DERIVED = (
    tables.dataset,
    tables.symlink,
    tables.job,
    tables.run,
    tables.run_dataset,
    tables.label,
    tables.content,
    tables.version,
    tables.lineage,
    tables.edge,
    tables.column_edge,
)
"""What events fold into."""
_AT_ONCE = 500
_WORTH_A_PROCESS = 10_000
"""Events. Fewer are folded in memory, while nothing else is verified."""

Progress = Callable[[int, int], None]


class Refold:
    """The scratch store, in the making: with many events, by a process of its own beside what else is verified."""

    def __init__(self, database: Database, count: int, max_direct_edges: int) -> None:
        self._count = count
        self.max_direct_edges = max_direct_edges
        self._stack = ExitStack()
        self._worker: subprocess.Popen[bytes] | None = None
        if count < _WORTH_A_PROCESS or database.is_in_memory or not sys.executable:
            self._scratch = "memory://"
        else:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="headwater-verify-"))
            self._scratch = f"sqlite:///{folder}/graph.db"
            url = database.url.render_as_string(hide_password=False)
            self._worker = _start((url, self._scratch, count, max_direct_edges))

    @property
    def has_process(self) -> bool:
        """Whether a process of its own folds the events."""
        return self._worker is not None

    @contextmanager
    def store(self, conn: Connection, progress: Progress | None) -> Iterator[Connection]:
        """The scratch store with all events folded into it. ``conn`` reads the store that is verified."""
        if self._worker is not None:
            self._wait(self._worker, progress)
        scratch = Database(self._scratch)
        self._stack.callback(scratch.close)
        if self._worker is None:
            fold_all(conn, scratch, self._count, self.max_direct_edges, progress)
        with scratch.read() as folded:
            yield folded

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()  # only where something else has failed is it still running
            with self._worker:
                pass
        self._stack.close()

    def _wait(self, worker: subprocess.Popen[bytes], progress: Progress | None) -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            if progress is not None:
                progress(int(line), self._count)
        assert worker.stderr is not None
        said = worker.stderr.read().decode(errors="replace").strip()
        if worker.wait():
            reason = said.rpartition("\n")[2] or f"exit code {worker.returncode}"
            raise StoreUnavailable(f"The process that folds the events again has failed: {reason}")


def fold_all(conn: Connection, scratch: Database, count: int, max_direct_edges: int, progress: Progress | None) -> None:
    """Fold the first ``count`` events of the store that ``conn`` reads."""
    event.listen(scratch.engine, "connect", _without_durability)
    with scratch.write() as writing:
        metadata.create_all(writing, tables=[tables.event, *DERIVED])
    memory, standing = Memory(), Standing(0, GENESIS, max_direct_edges=max_direct_edges)
    stored = tables.event.c
    events = select(stored.digest, stored.body, stored.id)
    for start in range(0, count, _AT_ONCE):
        some = events.where(stored.id > start, stored.id <= min(start + _AT_ONCE, count)).order_by(stored.id)
        read = [reread_event(bytes(body), bytes(digest)) for digest, body, _ in as_stored(conn, some)]
        with scratch.write() as writing:
            memory = fold_again(writing, memory, standing, read)
        if progress is not None:
            progress(min(start + _AT_ONCE, count), count)


def _without_durability(connection: sqlite3.Connection, _record: object) -> None:
    """What a power cut leaves of a scratch store does not matter."""
    cursor = connection.cursor()
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _start(asked: tuple[str, str, int, int]) -> subprocess.Popen[bytes]:
    """As :mod:`headwater.store.log.log_partitions` starts its own, and for the same reasons."""
    path = os.pathsep.join([str(Path(headwater.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    worker = subprocess.Popen(
        [sys.executable, "-m", "headwater.store.fold.refold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
    )
    assert worker.stdin is not None
    worker.stdin.write(pickle.dumps(asked))
    worker.stdin.close()
    worker.stdin = None
    return worker


def main() -> None:
    url, scratch_url, count, max_direct_edges = pickle.load(sys.stdin.buffer)
    database, scratch = Database(url, create=False), Database(scratch_url)
    # Few enough lines that a pipe holds them all: the reader is busy with something else meanwhile.
    step = max(_AT_ONCE, count // 500)

    def tell(done: int, _: int) -> None:
        if done % step < _AT_ONCE:
            print(done, flush=True)

    with database.read() as conn:
        fold_all(conn, scratch, count, max_direct_edges, tell)
    scratch.close()
    database.close()


if __name__ == "__main__":
    main()
