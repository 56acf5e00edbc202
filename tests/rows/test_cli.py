"""`headwater trace` and `headwater why-not`, as a person calls them, on what `headwater exec` has captured.

A mistake is looked at in this process as well, on the Spark that its tests share: only `./dev test --all` starts a
process for each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli.app import app
from headwater.cli.failures import run_app
from tests.cli.running import OUR_VARIABLES
from tests.support import why_missing
from tests.support.spark import short_job_environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One group: the estate is made once.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark-rows")]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = why_missing("java")
    if reason is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    folder = tmp_path_factory.mktemp("estate")
    done = headwater(folder, "exec", str(ROOT / "examples" / "orders_daily.py"))
    assert done.returncode == 0, done.stderr
    return folder


def headwater(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        **short_job_environment("local[1]"),
        "HEADWATER_STORE": f"sqlite:///{folder}/lineage.db",
        "HEADWATER_SPOOL": str(folder / "spool"),
    }
    command = [sys.executable, "-m", "headwater", *arguments]
    return subprocess.run(command, check=False, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def in_this_process(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    own = spark.newSession()
    monkeypatch.setattr(own, "stop", lambda: None)  # the application is not the command's own
    monkeypatch.setattr("headwater.rows.session.quiet_session", lambda master: own)
    for name in OUR_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with suppress(ImportError):  # the command turns it off, for all who use it after it
        from pyspark.logger import PySparkLogger

        monkeypatch.setattr(PySparkLogger.getLogger("SQLQueryContextLogger"), "disabled", False)

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HEADWATER_STORE", f"sqlite:///{folder}/lineage.db")
        capfd.readouterr()
        code = run_app(app, list(arguments))
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    return run


@pytest.fixture(params=["this process", pytest.param("a process", marks=pytest.mark.long)])
def command(request: pytest.FixtureRequest) -> Command:
    if request.param == "a process":
        return headwater
    here: Command = request.getfixturevalue("in_this_process")
    return here


def asked(folder: Path, *arguments: str) -> Any:
    done = headwater(folder, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_row_is_traced_to_its_first_sources_and_the_question_is_no_job(estate: Path) -> None:
    where = "day = '2026-11-15' and country = 'US'"
    runs = len(asked(estate, "runs"))
    found = asked(estate, "trace", "default.daily_revenue", "--where", where)
    assert found["rows"][0]["revenue"] == 73.6
    (priced,) = found["sources"]
    assert (priced["grain"], [row["order_id"] for row in priced["rows"]]) == ("exact", [5])
    first = {source["dataset"].rsplit("/", 1)[-1]: source for source in priced["from"]["sources"]}
    assert [row["order_id"] for row in first["orders"]["rows"]] == [5]
    assert [row["email"] for row in first["customers"]["rows"]] == ["grace@example.com"]
    assert len(asked(estate, "runs")) == runs


@pytest.mark.long
def test_the_tree_is_for_people_and_spark_keeps_quiet(estate: Path) -> None:
    done = headwater(
        estate, "trace", "default.daily_revenue", "--where", "country = 'PL'", "--depth", "1", "--rows", "1"
    )
    assert done.returncode == 0, done.stderr
    assert "orders_priced  exact, 2 rows" in done.stdout
    assert "… and 1 more" in done.stdout
    assert done.stderr == ""


@pytest.mark.long
def test_forward(estate: Path) -> None:
    found = asked(estate, "trace", "warehouse/raw/orders", "--where", "order_id = 2", "--forward")
    (priced,) = found["reached"]
    assert [row["order_id"] for row in priced["rows"]] == [2]
    (daily,) = priced["reached"]
    assert [(row["day"], row["country"]) for row in daily["rows"]] == [("2026-11-14", "US")]


@pytest.mark.long
def test_why_not(estate: Path) -> None:
    arguments = ("why-not", "warehouse/orders_priced", "--source", "raw/orders", "--where")
    assert "amount > 0 is false, as amount = -1.0" in asked(estate, *arguments, "order_id = 4")["verdict"]
    done = headwater(estate, *arguments, "order_id = 4")
    assert "WHERE amount > 0" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("trace", "default.daily_revenue", "--where", "nothing = 1"), "The condition does not fit"),
        (("why-not", "default.daily_revenue", "--source", "x", "--where", "true"), "'x' is not a source here."),
    ],
)
def test_a_mistake_is_one_line(command: Command, estate: Path, arguments: tuple[str, ...], line: str) -> None:
    done = command(estate, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
