"""Tests that share something expensive run in one worker; one worker owns Spark; skipped tests are named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.harness.grouping import preferred_group

CONFTEST = """
import pytest
pytest_plugins = ["tests.harness.grouping", "tests.harness.summary"]

@pytest.fixture(scope="session")
def spark():
    return None

@pytest.fixture
def postgres():
    return None
"""
ROOT = Path(__file__).parents[2]


def run_tests(folder: Path, files: dict[str, str], *arguments: str, **variables: str) -> str:
    (folder / "tests").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = spark: on Spark\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--import-mode=importlib", *arguments]
    # Of the installed plugins xdist alone: to load the others takes most of such a run.
    command += ["-p", "xdist"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "TMPDIR": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.update(variables)
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False).stdout


def workers(output: str, sign: str) -> set[str]:
    return {line.split()[0] for line in output.splitlines() if "PASSED" in line and sign in line}


def test_one_worker_owns_spark_and_others_run_the_rest(tmp_path: Path) -> None:
    on_spark = "import time\ndef test_a(spark): time.sleep(1)\ndef test_b(): pass\n"
    plain = "import time\ndef test_a(): time.sleep(0.5)\ndef test_b(): pass\n"
    files = {"rows/test_x.py": on_spark, "rows/test_y.py": on_spark, "test_p.py": plain, "test_q.py": plain}
    output = run_tests(tmp_path, files, "-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
    assert workers(output, "tests/rows/") == {"[gw0]"}
    assert len(workers(output, "test_p.py")) == len(workers(output, "test_q.py")) == 1
    assert "8 tests passed, 0 failed, 0 not run" in output


def test_quick_skips_tests_that_need_spark_or_a_database(tmp_path: Path) -> None:
    text = "def test_plain(): pass\ndef test_on_spark(spark): pass\ndef test_stored(postgres): pass\n"
    text += "import pytest\n@pytest.mark.parametrize('on', ['sqlite', 'postgresql'])\ndef test_both(on): pass\n"
    output = run_tests(tmp_path, {"test_x.py": text, "test_y.py": "def test_z(): pass\n"}, "--quick")
    assert "test_plain PASSED" in output
    assert "test_z PASSED" in output
    assert "test_both[sqlite] PASSED" in output
    assert "3 deselected" in output


def test_skipped_tests_are_listed_with_their_reason(tmp_path: Path) -> None:
    text = "import pytest\ndef test_a(): pytest.skip('not run: no Java 17 or 21')\ndef test_b(): pass\n"
    assert "not run, 1: no Java 17 or 21" in run_tests(tmp_path, {"test_x.py": text})


def test_a_test_is_repeated(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', ['a b', 'c'])\ndef test_a(n): pass\n"
    only = "--only=tests/test_x.py::test_a[a b]"
    output = run_tests(tmp_path, {"test_x.py": text}, "--repeat=5", only, "tests/test_x.py::test_a")
    assert "5 passed" in output
    assert "a b" in output
    assert "[c" not in output


def test_an_idle_worker_runs_groups_of_others() -> None:
    assert preferred_group(["tests/a.py", "spark-rows"], spark_worker=True) == "spark-rows"
    assert preferred_group(["spark-rows", "tests/a.py"], spark_worker=False) == "tests/a.py"
    assert preferred_group(["spark-rows"], spark_worker=False) == "spark-rows"
    assert preferred_group(["tests/a.py"], spark_worker=True) == "tests/a.py"
