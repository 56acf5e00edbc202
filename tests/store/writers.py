"""Writers to run as processes of their own, which can be killed.

    python -m tests.store.writers share URL WORKER WORKERS RUNS START   ingest a worker's share of a busy day
    python -m tests.store.writers killed URL ROUNDS SEED                fork writers and kill each one mid-stream

Each prints what it did as JSON lines.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from typing import NoReturn

from headwater.formats.openlineage import facets
from headwater.store.store import Store
from tests.store.workload import busy_day, share
from tests.support.events import Json, column_lineage, run_event, used, written_in_part


def ingest_share(url: str, worker: int, workers: int, runs: int, start: float) -> None:
    events = share(busy_day(runs), worker, workers)
    with Store(url) as store:
        time.sleep(max(0.0, start - time.time()))
        fresh = [receipt.digest for receipt in map(store.ingest, events) if not receipt.duplicate]
        store.verify()
    print(json.dumps({"sent": len(events), "fresh": fresh}))


def kill_writers(url: str, rounds: int, seed: int) -> None:
    """Each round: a writer streams events, is killed somewhere in the middle, and what it acknowledged is kept."""
    chance = random.Random(seed)
    Store(url).close()
    facets._class_checker("column_lineage_dataset.ColumnLineageDatasetFacet")  # imported once, before the forks
    for number in range(rounds):
        acknowledged = _one_writer(url, number, chance)
        with Store(url, create=False) as store:
            count = store.verify().entries
        print(json.dumps({"round": number, "acknowledged": acknowledged, "audited": count}), flush=True)


def _one_writer(url: str, number: int, chance: random.Random) -> list[str]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _stream(url, number, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        heard = [pipe.readline() for _ in range(chance.randint(1, 25))]
        time.sleep(chance.random() * 0.01)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        heard += pipe.readlines()
    return [line.decode().strip() for line in heard if line.endswith(b"\n")]


def _stream(url: str, number: int, pipe: int) -> NoReturn:
    """Ingest without end; an event is acknowledged by its digest, after ingest has returned."""
    try:
        store = Store(url)
        step = 0
        while True:
            batch = [_event(number, step + i) for i in range(1 + step % 3)]
            for receipt in store.ingest_many(batch):
                os.write(pipe, f"{receipt.digest}\n".encode())
            step += len(batch)
    finally:
        os._exit(1)


def _event(number: int, step: int) -> Json:
    """Every third completes a run, some of them over what another round has written."""
    said = column_lineage({"c": [(f"in {step % 7}", "c")]})
    output = written_in_part("out", f"p{step % 4}", columnLineage=said)
    return run_event(
        ("START", "RUNNING", "COMPLETE")[step % 3],
        run=f"round {number} run {step // 3}",
        job=f"job {step % 2}",
        inputs=[f"in {step % 7}", used(f"in {step % 5}", namespace="other")],
        outputs=[output],
        minute=number * 1000 + step,
    )


if __name__ == "__main__":
    command, address, *numbers = sys.argv[1:]
    if command == "share":
        worker, workers, runs = map(int, numbers[:3])
        ingest_share(address, worker, workers, runs, float(numbers[3]))
    else:
        kill_writers(address, int(numbers[0]), int(numbers[1]))
