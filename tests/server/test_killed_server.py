"""kill -9 under load: every acknowledged event is stored exactly once."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from headwater.store.schema.tables import event
from headwater.store.store import Store
from tests.server.running import ServerProcess
from tests.store.test_killed_writers import same_graph_as_from_scratch
from tests.store.writers import _event

CLIENTS = 4


class Load:
    """Clients that send in a loop and record what was acknowledged."""

    def __init__(self, server: ServerProcess, number: int) -> None:
        self.acknowledged: list[str] = []
        self.unexpected: list[object] = []
        self.enough = threading.Semaphore(0)
        self._server = server
        self._threads = [
            threading.Thread(target=self._send, args=(number * CLIENTS + client,)) for client in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, seed: int) -> None:
        step = 0
        while True:
            try:
                status, told = self._server.post("/api/v1/lineage", _event(seed, step))
            except (OSError, EOFError):
                return  # killed
            except Exception as error:  # half an answer is no acknowledgement either
                if "IncompleteRead" not in repr(error) and "RemoteDisconnected" not in repr(error):
                    self.unexpected.append(error)
                return
            if status != 201:
                self.unexpected.append(told)
                return
            self.acknowledged.append(told["digest"])
            self.enough.release()
            step += 1

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=pytest.mark.long)])
def test_acknowledged_events_are_stored_once(durable_url: str, rounds: int, tmp_path: Path) -> None:
    chance = random.Random(rounds)
    acknowledged: list[str] = []
    workers = () if durable_url.startswith("sqlite") else ("--workers", "2")
    for number in range(rounds):
        with ServerProcess(durable_url, *workers, log=tmp_path / "server.log") as server:
            load = Load(server, number)
            for _ in range(chance.randint(1, 60)):
                load.enough.acquire(timeout=20)
            server.kill()
            load.join()
        assert load.unexpected == []
        acknowledged += load.acknowledged
    assert len(acknowledged) > rounds
    with Store(durable_url, create=False) as store:
        with store._database.read() as conn:
            stored = [bytes(digest).hex() for digest in conn.scalars(select(event.c.digest))]
            bodies = [bytes(body) for body in conn.scalars(select(event.c.body).order_by(event.c.id))]
        assert len(stored) == len(set(stored))
        assert set(acknowledged) <= set(stored)
        # Only what was under way may be there without its acknowledgement.
        assert len(stored) - len(acknowledged) <= CLIENTS * rounds
        assert store.verify().entries == len(stored)
        assert same_graph_as_from_scratch(store, bodies)
