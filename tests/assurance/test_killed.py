"""kill -9 during appends: nothing signed or acknowledged is lost, and the log does not fork."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from headwater.assurance.anchors import FolderAnchor
from headwater.model.audit import Actor
from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.stores import ended
from tests.conftest import ROOT
from tests.support.events import run_event


def killed(url: str, keys: Path, anchored: Path, rounds: int) -> None:
    """In each round a writer appends and signs in a loop, and is killed; returns what it acknowledged."""
    chance = random.Random(rounds)
    KeyRing.create(keys)
    with Store(url) as store:
        store.ingest(run_event(run="first"))
        store.checkpoint(key=KeyRing.load(keys))
    for number in range(rounds):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            append(url, keys, anchored, number, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            heard = [pipe.readline() for _ in range(chance.randint(1, 4))]
            time.sleep(chance.random() * 0.03)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            heard += pipe.readlines()
        print(json.dumps([line.decode().split() for line in heard if line.endswith(b"\n")]), flush=True)


def append(url: str, keys: Path, anchored: Path, number: int, pipe: int) -> NoReturn:
    try:
        store, ring, anchor = Store(url), KeyRing.load(keys), FolderAnchor(str(anchored))
        for step in range(10_000):
            # Enough at once that tiles become whole now and then.
            batch = [ended(f"{number} {step}"), *(run_event("RUNNING", run=f"{number} {step} {i}") for i in range(40))]
            for receipt in store.ingest_many(batch, actor=Actor(f"writer {number}")):
                os.write(pipe, f"event {receipt.digest}\n".encode())
            signed = store.checkpoint(key=ring)
            os.write(pipe, f"signed {signed.size} {signed.root}\n".encode())
            anchor.publish(signed.note)
    finally:
        os._exit(1)


@pytest.mark.parametrize("rounds", [8, pytest.param(1_000, marks=pytest.mark.long)])
def test_nothing_is_lost_and_nothing_forks(durable_url: str, tmp_path: Path, rounds: int) -> None:
    url, keys, anchored = durable_url, tmp_path / "key.pem", tmp_path / "anchor"
    told = subprocess.run(
        [sys.executable, "-m", "tests.assurance.test_killed", url, str(keys), str(anchored), str(rounds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    assert (told.returncode, told.stderr) == (0, "")
    rounds_told = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(rounds_told) == rounds
    heard = [words for one in rounds_told for words in one]
    events = {words[1] for words in heard if words[0] == "event"}
    signed = {int(words[1]): words[2] for words in heard if words[0] == "signed"}
    assert len(events) >= rounds
    with Store(url, create=False) as store:
        found = store.verify(anchored=FolderAnchor(str(anchored)).checkpoints())
        logged = store.audit(event_type="event.ingested", limit=10_000_000)
        assert events <= {entry.details["digest"].removeprefix("sha256:") for entry in logged}
        kept = {one.size: one.root for one in store.checkpoints(limit=1_000_000)}
        assert signed.items() <= kept.items()
        assert found.checkpoints == len(kept)
        assert found.certificates == len([entry for entry in logged if entry.details["event_type"] == "COMPLETE"]) - 1
        assert store.checkpoint(key=KeyRing.load(keys)).size >= found.entries


if __name__ == "__main__":
    address, key_file, second_place, count = sys.argv[1:]
    killed(address, Path(key_file), Path(second_place), int(count))
