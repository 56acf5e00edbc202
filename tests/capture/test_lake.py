"""Delta and Iceberg, where their jars are to be had for this Spark: the cases in `cases/lake`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

from tests.capture.cases_file import Case, rewrite
from tests.capture.lake import LAKE, SETTINGS, cases_of
from tests.conftest import ROOT
from tests.support import why_missing
from tests.support.jars import jars_or_skip, spark_line

CASES = [case for format in SETTINGS for case in cases_of(format)]
Told = dict[str, list[str]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Told]:
    """What was told of each case of a format: one Spark for all of them."""

    @cache
    def run(format: str) -> Told:
        folder = tmp_path_factory.mktemp(format)
        answer = folder / "told.json"
        command = [sys.executable, "-m", "tests.capture.lake", format, str(folder), str(answer)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert answer.exists(), ended.stdout[-2000:] + ended.stderr[-4000:]
        found: Told = json.loads(answer.read_text())
        return found

    return run


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, told: Callable[[str], Told]) -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    jars_or_skip(case.file)
    lines = told(case.file)[case.title]
    if os.environ.get("HEADWATER_REWRITE_CASES") == "1":
        rewrite(case, spark_line(), lines, LAKE)
        return
    assert lines == case.expected[case.block(spark_line())]
