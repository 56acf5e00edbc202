"""kill -9 during ingest: every acknowledged event is stored exactly once, and the store opens and verifies."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from sqlalchemy import select

from headwater.store.schema.tables import event
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.oracles.dump import state_of_store
from tests.store.short_answers import row_counts
from tests.support.events import run_event


@pytest.mark.parametrize("rounds", [8, pytest.param(200, marks=pytest.mark.long)])
def test_acknowledged_events_are_stored_once(durable_url: str, rounds: int) -> None:
    killed = subprocess.run(
        [sys.executable, "-m", "tests.store.writers", "killed", durable_url, str(rounds), str(rounds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert (killed.returncode, killed.stderr) == (0, "")
    told = [json.loads(line) for line in killed.stdout.splitlines()]
    assert [round["round"] for round in told] == list(range(rounds))
    acknowledged = [digest for round in told for digest in round["acknowledged"]]
    assert len(acknowledged) == len(set(acknowledged)) > rounds
    with Store(durable_url, create=False) as store:
        with store._database.read() as conn:
            stored = [bytes(digest).hex() for digest in conn.scalars(select(event.c.digest))]
            bodies = [bytes(body) for body in conn.scalars(select(event.c.body).order_by(event.c.id))]
        assert len(stored) == len(set(stored))
        assert set(acknowledged) <= set(stored)
        # Only the batch in flight may be there without its acknowledgement: three events at most in each round.
        assert len(stored) - len(acknowledged) <= 3 * rounds
        assert (store.verify()[0], row_counts(store)["audit"]) == (len(stored), len(stored))
        assert told[-1]["audited"] == len(stored)
        assert same_graph_as_from_scratch(store, bodies)
        store.ingest(run_event(run="life goes on"))


def same_graph_as_from_scratch(store: Store, bodies: list[bytes]) -> bool:
    with Store("memory://") as again:
        for start in range(0, len(bodies), 500):
            again.ingest_many(bodies[start : start + 500])
        return state_of_store(again) == state_of_store(store)
