"""The commands `headwater bundle`, `headwater verify FILE` and `headwater report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.stores import ended, manifest
from tests.cli.conftest import run
from tests.cli.running import Run
from tests.support.events import run_event, run_id

__all__ = ["run"]

ONE, TWO = run_id("one"), run_id("two")


@pytest.fixture
def url(run: Run, ring: KeyRing, tmp_path: Path) -> str:
    """A store with one run that fulfils everything, another that reads its output and does not, all of it signed."""
    address = f"sqlite:///{tmp_path}/store.db"
    with Store(address) as store:
        store.ingest_many([run_event("START", run="one"), ended("one", minute=1, outputs=["daily"])])
        unbalanced = manifest("sha256:cc") | {"cdme.accountingLedger": {"balanced": False}}
        unbalanced["cdme.runManifest"]["inputChecksums"] = {"daily": "sha256:bb"}
        store.ingest(ended("two", minute=5, inputs=["daily"], facets=unbalanced))
    run("checkpoint", "--anchor", "there", "--store", address)
    return address


def test_a_bundle_verifies_without_the_store(run: Run, url: str, tmp_path: Path) -> None:
    written = run("bundle", ONE, "--store", url, "--out", "evidence.json")
    assert written.out.startswith("Evidence written to evidence.json, ")
    assert "`headwater verify evidence.json` verifies it without the store.\n" in written.out
    (tmp_path / "store.db").unlink()
    text = run("verify", "evidence.json")
    assert (text.code, text.err) == (0, "")
    lines = text.out.splitlines()
    assert lines[0] == f"The evidence holds: run {ONE} of scheduler/job"
    assert lines[1] == "2 events, 3 entries of the log, all in the checkpoint at 7."
    assert lines[2].endswith(", number 0 in its namespace.")
    assert lines[-1] == (
        "The key is the file's own and says nothing about who signed. Name a key that you trust with --key."
    )
    answer = run("verify", "evidence.json", "--json").json
    assert (answer["holds"], answer["trusted"], answer["run_id"]) == (True, False, ONE)
    trusting = run("verify", "evidence.json", "--key", answer["key"], "--anchor", "there")
    assert "vouches for itself" not in trusting.out
    assert trusting.out.endswith("The anchor has this checkpoint.\n")


def test_the_claims_of_the_certificate_are_shown(run: Run, url: str) -> None:
    run("bundle", TWO, "--store", url, "--out", "two.json")
    text = run("verify", "two.json").out
    assert "The run broke its declared checks: balance.\n" in text
    assert "Read warehouse/daily, in the state it wrote by certificate " in text


def test_a_changed_file(run: Run, url: str, tmp_path: Path) -> None:
    run("bundle", ONE, "--store", url, "--out", "evidence.json")
    file = tmp_path / "evidence.json"
    file.write_bytes(file.read_bytes().replace(b'"actor_type":"user"', b'"actor_type":"robo"', 1))
    result = run("verify", "evidence.json")
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: Entry 1 does not hold: it is not among those that were signed\n"
    answer = run("verify", "evidence.json", "--json")
    assert (answer.code, answer.json["holds"], answer.json["what"]) == (1, False, "Entry 1")


def test_a_key_that_never_signed(run: Run, url: str) -> None:
    run("bundle", ONE, "--store", url, "--out", "evidence.json")
    run("keys", "new", "--key-file", "other.pem")
    with Store("memory://") as store:
        store.ingest(ended("one"))
        other = store.checkpoint(key=KeyRing.load(Path("other.pem"))).key
    result = run("verify", "evidence.json", "--key", other)
    assert (result.code, result.err) == (1, f"Error: The log does not hold: it was never signed with {other}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "nothing.json"), "nothing.json: No such file or directory."),
        (("verify", "store.db"), "The file does not hold: it is not a bundle of evidence"),
        (("verify", "x.json", "--run", "y"), "Combine FILE only with --key and --anchor."),
        (("verify", "x.json", "--log-only"), "Combine FILE only with --key and --anchor."),
        (("bundle", "nothing"), "Run 'nothing' is not known."),
        (("report", "nothing"), "Run 'nothing' is not known."),
        (("bundle", ONE, "--out", "no/such/folder.json"), "no/such/folder.json: No such file or directory."),
    ],
)
def test_wrong_usage_is_one_line(run: Run, url: str, arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments, "--store", url)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_an_unsigned_run_has_no_bundle(run: Run, url: str) -> None:
    with Store(url) as store:
        store.ingest(ended("three", minute=9))
    result = run("bundle", run_id("three"), "--store", url)
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("is signed yet. `headwater checkpoint` signs the log.\n")


def test_a_report(run: Run, url: str, tmp_path: Path) -> None:
    assert run("report", ONE, "--store", url, "--out", "one.html").out == "Report written to one.html.\n"
    assert "scheduler/job" in (tmp_path / "one.html").read_text(encoding="utf-8")
    text = run("report", TWO, "--store", url).out
    assert text == (
        f"Report written to {TWO}.report.html.\nFindings:\n"
        "  CRITICAL: balance does not hold: rows of the sources are not all accounted for, once each.\n"
    )
    answer = run("report", TWO, "--store", url, "--json").json
    assert (answer["holds"], len(answer["concerns"]), answer["file"]) == (False, 1, f"{TWO}.report.html")


def test_any_run_id_gives_a_safe_file_name(run: Run, url: str, tmp_path: Path) -> None:
    event = ended("odd")
    event["run"]["runId"] = "../../etc/pass\nwd"
    with Store(url) as store:
        store.ingest(event)
    run("checkpoint", "--store", url)
    for command, suffix in (("report", "report.html"), ("bundle", "bundle.json")):
        assert run(command, event["run"]["runId"], "--store", url).code == 0
        assert (tmp_path / f"______etc_pass_wd.{suffix}").exists()
