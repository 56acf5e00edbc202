"""What needs jars, where they are to be had for this Spark: the cases in `cases/with_jars`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

from tests.capture.cases_file import Case, rewrite
from tests.capture.with_jars import SETTINGS, WITH_JARS, cases_of
from tests.conftest import ROOT
from tests.support import why_missing
from tests.support.jars import jars_or_skip, spark_line
from tests.support.postgres import PostgresUnavailable, choose_account, find_package

CASES = [case for name in SETTINGS for case in cases_of(name)]
Told = dict[str, list[str]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Told]:
    """What was told of each case of a file: one Spark for all of them."""

    @cache
    def run(name: str) -> Told:
        folder = tmp_path_factory.mktemp(name)
        answer = folder / "told.json"
        command = [sys.executable, "-m", "tests.capture.with_jars", name, str(folder), str(answer)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
        assert answer.exists(), ended.stdout[-2000:] + ended.stderr[-4000:]
        found: Told = json.loads(answer.read_text())
        return found

    return run


def postgres_or_skip() -> None:
    try:
        find_package()
        choose_account()
    except PostgresUnavailable as unavailable:
        pytest.skip(f"not run: no PostgreSQL: {unavailable}")


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, told: Callable[[str], Told]) -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    jars_or_skip(case.file)
    if case.file == "postgresql":
        postgres_or_skip()
    lines = told(case.file)[case.title]
    if os.environ.get("HEADWATER_REWRITE_CASES") == "1":
        rewrite(case, spark_line(), lines, WITH_JARS)
        return
    assert lines == case.expected[case.block(spark_line())]
