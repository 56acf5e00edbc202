"""The commands `headwater verify`, `checkpoint`, `prove` and `keys`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.proof.keys import KeyRing
from headwater.proof.merkle import leaf_hash, verify_consistency, verify_inclusion
from headwater.proof.notes import Note, Verifier
from headwater.store.store import Store
from tests.assurance.stores import ended, tamper
from tests.cli.conftest import run
from tests.cli.running import Run
from tests.support.events import run_event, run_id

__all__ = ["run"]


@pytest.fixture
def url(run: Run, ring: KeyRing, tmp_path: Path) -> str:
    with Store(f"sqlite:///{tmp_path}/store.db") as store:
        store.ingest_many([run_event("START", run="one"), ended("one", minute=1)])
    return f"sqlite:///{tmp_path}/store.db"


def test_from_a_new_key_to_a_verified_log(run: Run, url: str, tmp_path: Path) -> None:
    made = run("keys", "new", "--key-file", "mine.pem")
    assert made.out.startswith("Created a key in mine.pem.")
    assert run("keys", "new", "--key-file", "mine.pem").err.startswith("Error: mine.pem already holds a key.")
    mine = ("--key-file", "mine.pem", "--store", url)
    signed = run("checkpoint", *mine, "--anchor", "there", "--anchor", "here", "--json").json
    assert signed["size"] == 5
    assert Note.parse(signed["note"]).is_signed_by(Verifier.parse(signed["key"]))
    for place in ("there", "here"):
        assert [file.read_text() for file in (tmp_path / place).iterdir()] == [signed["note"]]
    shown = run("keys", "show", *mine, "--json").json
    assert shown["log"] == [{"from_entry": 4, "key": signed["key"]}]
    text = run("verify", "--store", url, "--anchor", "there", "--key", signed["key"]).out
    assert "The audit log holds: 5 entries.\n" in text
    assert "1 certificate, each linked to the one before.\n" in text
    assert "2 events, each matching the log.\n" in text
    assert f"1 checkpoint, signed; current key: {signed['key']}\n" in text
    assert text.endswith("The anchor agrees, up to entry 5.\n")
    rotated = run("keys", "rotate", *mine, "--json").json["key"]
    assert rotated != signed["key"]
    assert len(run("keys", "show", *mine, "--json").json["log"]) == 2
    assert run("verify", "--store", url, "--key", signed["key"], "--json").json["key"] == rotated
    assert run("checkpoint", *mine).out.startswith(f"{signed['origin']}\n7\n")


def test_a_proof_can_be_checked_with_the_published_rule(run: Run, url: str) -> None:
    proof = run("prove", "2", "--store", url, "--json").json
    path = [bytes.fromhex(one) for one in proof["path"]]
    leaf = leaf_hash(bytes.fromhex(proof["entry_hash"]))
    assert verify_inclusion(leaf, 1, proof["size"], path, bytes.fromhex(proof["root"]))
    assert run("prove", "2", "--size", "2", "--store", url, "--json").json["size"] == 2
    assert run("prove", "9", "--store", url).err == "Error: Entry 9 is not in the log of 3 entries.\n"
    assert "Path" in run("prove", "2", "--store", url).out


def test_one_run_and_one_certificate(run: Run, url: str) -> None:
    shown = run("run", run_id("one"), "--store", url)
    certificate = run("run", run_id("one"), "--store", url, "--json").json["certificates"][0]["certificate_id"]
    assert f"Certificate\n  {certificate}" in shown.out
    assert "holds  balance" in shown.out
    text = run("verify", "--run", run_id("one"), "--store", url).out
    assert text.startswith("The run holds: 3 entries of the log, 1 certificate.\n")
    run("checkpoint", "--store", url)
    answer = run("verify", "--certificate", certificate, "--store", url, "--json").json
    assert (answer["holds"], answer["signed"], answer["checkpoint"]) == (True, 3, 5)
    assert run("verify", "--run", "x", "--certificate", "y", "--store", url).code == 1


def test_one_run_against_an_anchor(run: Run, url: str) -> None:
    run("checkpoint", "--anchor", "there", "--store", url)
    with Store(url) as store:
        store.ingest(ended("one", minute=2))
    answer = run("verify", "--run", run_id("one"), "--anchor", "there", "--store", url, "--json").json
    assert (answer["holds"], answer["signed"], answer["anchored"]) == (True, 3, 3)
    assert len(answer["entries"]) == 5
    text = run("verify", "--run", run_id("one"), "--anchor", "there", "--store", url).out
    assert text.endswith("3 of them in the newest checkpoint of the anchor, which agrees.\n")
    assert "anchored" not in run("verify", "--run", run_id("one"), "--store", url).out


def test_the_log_is_append_only(run: Run, url: str) -> None:
    before = run("checkpoint", "--store", url, "--json").json
    with Store(url) as store:
        store.ingest_many(run_event("START", run=str(number)) for number in range(300))
    proof = run("prove", "--from", str(before["size"]), "--store", url, "--json").json
    assert (proof["old"], proof["new"], proof["old_root"]) == (5, 305, before["root"])
    path = [bytes.fromhex(one) for one in proof["path"]]
    old, new = bytes.fromhex(proof["old_root"]), bytes.fromhex(proof["new_root"])
    assert verify_consistency(proof["old"], proof["new"], path, old, new)
    assert not verify_consistency(proof["old"], proof["new"], path, new, new)
    assert run("prove", "--from", "3", "--size", "5", "--store", url, "--json").json["new_root"] == before["root"]
    assert "old size  5" in run("prove", "--from", "5", "--store", url).out


def test_a_failed_verification_is_one_line(run: Run, url: str) -> None:
    run("checkpoint", "--anchor", "there", "--store", url)
    with Store(url) as store:
        tamper(store, "UPDATE checkpoint SET note = replace(note, '5', '3')")
    result = run("verify", "--store", url)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert result.err.startswith("Error: The checkpoint of 5 entries does not hold: ")
    answer = run("verify", "--store", url, "--json")
    assert answer.code == 1
    assert (answer.json["holds"], answer.json["what"]) == (False, "The checkpoint of 5 entries")


def test_events_are_skipped_on_request(run: Run, url: str) -> None:
    with Store(url) as store:
        tamper(store, "UPDATE event SET event_type = 'FAIL'")
    assert run("verify", "--store", url).err.startswith("Error: Event 1 (entry 1) does not hold: ")
    assert run("verify", "--log-only", "--store", url, "--json").json["events"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("checkpoint", "--key-file", "nothing.pem"),
            "No key at nothing.pem. `headwater keys new` creates one.",
        ),
        (("verify", "--key", "nonsense"), "'nonsense' is not a public key of Ed25519. It has the form NAME+ID+KEY."),
        (("verify", "--anchor", "git:nowhere"), "The anchor git:nowhere cannot be used: "),
        (("verify", "--certificate", "nothing"), "Certificate 'nothing' is not known."),
        (("keys", "rotate"), "No key signs for this log yet"),
        (("prove",), "Give SEQ, the entry to prove, or --from N, the earlier size of the log."),
        (("prove", "1", "--from", "1"), "Give SEQ, the entry to prove, or --from N, the earlier size of the log."),
        (("prove", "--from", "9"), "There is no log that grew from 9 to 3 entries. It has 3."),
        (("verify", "--run", "x", "--log-only"), "Combine --run and --certificate only with --key and --anchor."),
    ],
)
def test_wrong_usage_is_one_line(run: Run, url: str, arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments, "--store", url)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_a_long_verification_shows_a_progress_bar(url: str, tmp_path: Path) -> None:
    """Only on a terminal; the answer is on its own stream."""
    script = (
        "import headwater.cli.verify as command; command._MIN_FOR_PROGRESS = 1\n"
        "from headwater.cli.app import app; from headwater.cli.failures import run_app\n"
        f"raise SystemExit(run_app(app, ['verify', '--store', {url!r}, '--json']))"
    )
    terminal, theirs = pty.openpty()
    answer = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    assert json.loads(answer.stdout)["holds"] is True
    assert "Verifying" in os.read(terminal, 100_000).decode()
    os.close(terminal)
