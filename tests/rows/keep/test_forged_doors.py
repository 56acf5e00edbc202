"""Plans that run code, asked about through every door: Python, the command line and a running server.

For each gadget there are three events: nobody signed it, a stranger did, and a key did that the store trusts. The first
two end at the signature; of the third it is the list of classes that stops it. Beside them is one honest write of the
same source: a question that goes forward from the source meets it and all that is forged, in one process of Spark.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.cli.app import app
from headwater.cli.failures import run_app
from headwater.errors import KeptPlanRefused, SignatureRefused
from headwater.formats.openlineage.facet_names import ROWS_FACET
from headwater.formats.openlineage.signed_rows import SIGNATURE, sign_event
from headwater.proof.keys import SigningKey, key_text
from headwater.store.store import Store
from tests.capture.watching import Watch
from tests.rows.keep.forging import GADGETS, REFUSED, Forger
from tests.rows.keep.keeping import Keeping
from tests.server.running import ServerProcess
from tests.support.events import run_event, run_id, schema, used
from tests.support.spark import INTERPRETED, SHORT_JOB, program_environment

NOBODY, STRANGER, TRUSTED = SIGNERS = ("nobody", "a stranger", "a trusted key")
SIGNATURES = {NOBODY: "is not signed", STRANGER: "a key that this store does not trust"}
REFUSAL = "The stored plan is refused: "
# Gadgets are text in code that Spark generates, so it has to generate some.
COMPILED = program_environment("local[2]", {k: v for k, v in SHORT_JOB.items() if k not in INTERPRETED})


class Estate:
    def __init__(self, watch: Watch, items: str, folder: Path) -> None:
        keeping = Keeping(watch, folder)
        self.spark = keeping.spark
        self.folder = folder
        self.address = f"sqlite:///{folder}/lineage.db"
        self.items = items
        self.forger = Forger(self.spark, folder / "canaries")
        self._keys = {STRANGER: SigningKey.new(), TRUSTED: SigningKey.new()}
        captured = keeping.frame(self.spark.sql("SELECT id FROM items WHERE k = 1"))
        events = [self._event("honest", captured, TRUSTED)]
        for gadget in GADGETS:
            forged = self.forger.forged(captured, gadget)
            events += [self._event(f"{gadget} of {signer}", forged, signer) for signer in SIGNERS]
        with Store(self.address) as store:
            store.capture_keys.trust(key_text(self._keys[TRUSTED].public))
            store.ingest_many(events)
        assert not self.forger.has_run()

    def _event(self, name: str, facet: dict[str, Any], signer: str) -> dict[str, Any]:
        unsigned = {name: value for name, value in facet.items() if name != SIGNATURE}
        read = used(self.items, namespace="file", facets={"schema": schema("id:bigint")})
        written = used(self.output(name), namespace="file", output_facets={ROWS_FACET: unsigned})
        event = run_event(run=name, job=name, inputs=[read], outputs=[written])
        if signer != NOBODY:
            sign_event(event, self._keys[signer])
        return event

    def output(self, name: str) -> str:
        return f"{self.folder}/{name}"


@pytest.fixture(scope="module")
def estate(watch: Watch, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Estate:
    return Estate(watch, f"{data}/items", tmp_path_factory.mktemp("doors"))


@pytest.fixture(autouse=True)
def nothing_runs(estate: Estate) -> Iterator[None]:
    yield
    assert not estate.forger.has_run(), list(estate.forger.folder.iterdir())


def expected(signer: str) -> tuple[type[Exception], str]:
    return (KeptPlanRefused, REFUSED) if signer == TRUSTED else (SignatureRefused, SIGNATURES[signer])


@pytest.mark.parametrize("signer", SIGNERS)
@pytest.mark.parametrize("gadget", GADGETS)
def test_python(estate: Estate, gadget: str, signer: str) -> None:
    name, (refused, text) = f"{gadget} of {signer}", expected(signer)
    asked: dict[str, Any] = {"spark": estate.spark, "store": estate.address}
    source: dict[str, Any] = {"source": "items", "where": "id = 1"}
    questions: list[Callable[[], Any]] = [
        lambda: hw.trace(run_id(name), **asked),
        lambda: hw.trace(estate.output(name), depth=None, **asked),
        lambda: hw.why_not(run_id(name), **source, **asked),
        lambda: hw.trace_forward(run_id(name), **source, **asked),
    ]
    for question in questions:
        with pytest.raises(refused, match=text):
            question()
    if signer == NOBODY:  # what the caller says of signatures opens the second wall to nobody
        with pytest.raises(KeptPlanRefused, match=REFUSED):
            hw.trace(run_id(name), trust_unsigned=True, **asked)


@pytest.fixture
def command(estate: Estate, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process, on its Spark."""
    own = estate.spark.newSession()
    monkeypatch.setattr(own, "stop", lambda: None)  # the application is not the command's own
    monkeypatch.setattr("headwater.rows.session.quiet_session", lambda master: own)
    monkeypatch.setenv("HEADWATER_STORE", estate.address)

    def asked(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = run_app(app, list(arguments))
        return code, *capfd.readouterr()

    return asked


@pytest.mark.parametrize("signer", SIGNERS)
@pytest.mark.parametrize("gadget", GADGETS)
def test_command_line(estate: Estate, command: Callable[..., Any], gadget: str, signer: str) -> None:
    name, (_, text) = f"{gadget} of {signer}", expected(signer)
    questions = [("trace", run_id(name)), ("why-not", run_id(name), "--source", "items", "--where", "id = 1")]
    if signer == NOBODY:
        questions.append(("trace", run_id(name), "--trust-unsigned"))
    for question in questions:
        code, out, err = command(*question)
        assert (code, out) == (1, "")
        assert err.startswith(f"Error: {REFUSAL}")
        assert re.search(REFUSED if "--trust-unsigned" in question else text, err)
        assert err.count("\n") == 1


def judge_forward(answer: dict[str, Any], estate: Estate) -> None:
    """The honest write is answered, and every other refused: one word for each."""
    [reached] = answer["reached"]
    assert reached["dataset"].endswith("/honest")
    assert answer["ends"].count(REFUSAL) == len(GADGETS) * len(SIGNERS)
    for signer, text in SIGNATURES.items():
        assert answer["ends"].count(text) == len(GADGETS), signer


def test_a_process_of_the_command_line(estate: Estate) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headwater", "trace", estate.items, "--forward", "--where", "id = 1", "--json"],
        cwd=estate.folder, env={**os.environ, **COMPILED, "HEADWATER_STORE": estate.address},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    judge_forward(json.loads(done.stdout), estate)


@pytest.fixture(scope="module")
def server(estate: Estate) -> Iterator[ServerProcess]:
    log, rows = estate.folder / "server.log", str(estate.folder / "rows")
    with ServerProcess(estate.address, "--rows-location", rows, log=log, **COMPILED) as running:
        yield running


@pytest.mark.parametrize("signer", [NOBODY, STRANGER])
@pytest.mark.parametrize("gadget", GADGETS)
def test_server_starts_no_task_for_a_plan_that_nobody_trusted_signed(
    estate: Estate, server: ServerProcess, gadget: str, signer: str
) -> None:
    name, text = f"{gadget} of {signer}", SIGNATURES[signer]
    dataset = {"dataset": estate.output(name), "namespace": "file"}
    missing = {**dataset, "source": estate.items, "source_namespace": "file", "where": {"id": 1}}
    for path, body in (("trace", {"run": run_id(name)}), ("trace", dataset), ("why-not", missing)):
        status, problem = server.post(f"/api/v1/rows/{path}", body)
        assert (status, problem["code"]) == (409, "rows_not_kept"), problem
        assert text in problem["detail"]
    assert server.get("/api/v1/tasks")[1]["items"] == []


def test_server_refuses_what_a_trusted_key_signed_in_its_task(estate: Estate, server: ServerProcess) -> None:
    """Two tasks, which the server has at once: a trace of the gadget that a review attacked with, and the way forward
    through all of them."""
    forward = {"dataset": estate.items, "namespace": "file", "condition": "id = 1"}
    started = [
        server.post("/api/v1/rows/trace", {"run": run_id(f"InitializeJavaBean of {TRUSTED}")}),
        server.post("/api/v1/rows/forward", forward),
    ]
    assert [status for status, _ in started] == [202, 202], started
    traced, followed = (ended(server, task["id"]) for _, task in started)
    assert traced["state"] == "failed", traced
    assert traced["problem"]["code"] == "kept_plan_refused"
    assert re.search(REFUSED, traced["problem"]["detail"])
    assert followed["state"] == "succeeded", followed
    judge_forward(followed["result"], estate)


def ended(server: ServerProcess, number: str) -> dict[str, Any]:
    for _ in range(1_500):  # five minutes: a busy machine is slow to start Spark
        _, task = server.get(f"/api/v1/tasks/{number}")
        if task["state"] != "running":
            return dict(task)
        time.sleep(0.2)
    raise AssertionError("the task does not end")
