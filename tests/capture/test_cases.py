"""Every case: a script on real Spark, and exactly what is told of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.cases_file import Case, holds, read_cases, rewrite
from tests.capture.scripts import run_script
from tests.capture.specification import problems
from tests.capture.telling import TERMINAL, runs_of
from tests.capture.watching import APPLICATION, Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = read_cases()

# pyspark 3.5 asks pandas in ways that pandas 2 warns of.
pytestmark = pytest.mark.filterwarnings("ignore:is_(categorical|datetime64tz)_dtype is deprecated:DeprecationWarning")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, spark: SparkSession, watch: Watch, here: Path, shop: Path) -> None:
    if case.condition and not holds(case.condition, spark.version):
        pytest.skip(f"not run: for {case.condition}, this is Spark {spark.version}")
    run_script(case, spark, here, shop)
    events = watch.new_events()
    for run in runs_of(events, APPLICATION):
        assert run.states[0] == "START"
        assert [state for state in run.states if state in TERMINAL] == run.states[-1:]
    assert [problem for event in events for problem in problems(event)] == []
    lines = watch.lines(events, here, shop)
    if os.environ.get("HEADWATER_REWRITE_CASES") == "1":
        rewrite(case, spark.version, lines)
        return
    assert lines == case.expected[case.block(spark.version)]


def test_titles_are_unique() -> None:
    titles = [str(case) for case in CASES]
    assert sorted(set(titles)) == sorted(titles)
