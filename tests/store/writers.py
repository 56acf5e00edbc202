"""Writers to run as processes of their own, which can be killed.

    python -m tests.store.writers open URL PROCESSES           open a database from several processes at once
    python -m tests.store.writers share URL PROCESSES RUNS     ingest a busy day, a share in each process
    python -m tests.store.writers killed URL ROUNDS SEED       fork writers and kill each one mid-stream

Each prints what it did as JSON lines. Processes are forked, so that only one has to import what all need.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import NoReturn

from headwater.formats.openlineage import facets
from headwater.store.store import Store
from tests.store.workload import busy_day, share
from tests.support.events import Json, column_lineage, run_event, used, written_in_part


def open_at_once(url: str, processes: int) -> None:
    for module in ("alembic.command", "headwater.store.schema.upgrade"):
        importlib.import_module(module)

    def open_and_close() -> str:
        Store(url).close()
        return json.dumps("opened")

    _at_once(processes, lambda _: open_and_close)


def ingest_shares(url: str, processes: int, runs: int) -> None:
    facets._class_checker("column_lineage_dataset.ColumnLineageDatasetFacet")  # imported once, before the forks

    def prepare(worker: int) -> Callable[[], str]:
        events = share(busy_day(runs), worker, processes)
        store = Store(url)

        def ingest() -> str:
            with store:
                fresh = [receipt.digest for receipt in map(store.ingest, events) if not receipt.duplicate]
                store.verify()
            return json.dumps({"sent": len(events), "fresh": fresh})

        return ingest

    _at_once(processes, prepare)


def _at_once(processes: int, prepare: Callable[[int], Callable[[], str]]) -> None:
    """Fork processes, have each prepare, and when all have, have all act; what they answer is printed."""
    reading_ready, writing_ready = os.pipe()
    reading_go, writing_go = os.pipe()
    children = []
    for number in range(processes):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(writing_go)  # all wait for its last end to be closed
            _act(number, prepare, writing_ready, reading_go, writing)
        os.close(writing)
        children.append((pid, reading))
    ready = 0
    while ready < processes:
        ready += len(os.read(reading_ready, processes))
    os.close(writing_go)
    for pid, reading in children:
        with os.fdopen(reading) as answer:
            print(answer.read())
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"process {pid} ended with {status}"


def _act(number: int, prepare: Callable[[int], Callable[[], str]], ready: int, go: int, answer: int) -> NoReturn:
    status = 1
    try:
        try:
            act = prepare(number)
        finally:
            os.write(ready, b".")
        os.read(go, 1)
        with os.fdopen(answer, "w") as pipe:
            pipe.write(act())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


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
    commands: dict[str, Callable[..., None]] = {"open": open_at_once, "share": ingest_shares, "killed": kill_writers}
    commands[command](address, *map(int, numbers))
