"""`headwater doctor --spark`: runs a real job, and reports if Spark does not start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.doctor.findings import CheckStatus, DoctorOptions
from headwater.doctor.trial import trial
from tests.cli.running import bare_environment
from tests.support import why_missing
from tests.support.console import blocks

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _java() -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")


def run_doctor(folder: Path, patience: float = 180.0) -> DoctorOptions:
    return DoctorOptions(f"sqlite:///{folder}/lineage.db", folder / "spool", spark=True, patience=patience)


def test_a_job_is_captured_and_its_lineage_queried(tmp_path: Path) -> None:
    """As docs/how-to/databricks-emr.md says. The user's own store, spool and folder are not used."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "databricks-emr.md"
    ((command, _),) = (each for block in blocks(page.read_text()) for each in block.commands())
    program, *arguments = command.split()
    assert program == "headwater"
    answer = subprocess.run(
        [sys.executable, "-m", "headwater", *arguments, "--json"],
        cwd=tmp_path,
        env={**bare_environment(), "HEADWATER_STORE": "sqlite:///own.db"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    found = {each["check"]: each for each in json.loads(answer.stdout)["checks"]}
    assert found["trial job"]["sign"] == "ok", found["trial job"]
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_run_without_the_option(tmp_path: Path) -> None:
    assert list(trial(DoctorOptions("sqlite:///x.db", tmp_path))) == []


def test_spark_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    (finding,) = trial(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.FAILED
    assert "\n" not in finding.found


def test_it_takes_too_long(tmp_path: Path) -> None:
    (finding,) = trial(run_doctor(tmp_path, patience=0.2))
    assert (finding.sign, finding.found) == (CheckStatus.FAILED, "did not end within 0.2 s")
