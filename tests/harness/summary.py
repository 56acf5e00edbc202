"""What a run of the tests says at its end: how many ran, what did not run and why, what took longest."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter, defaultdict

import pytest

from tests.harness.grouping import SECONDS_FILE, SPARK_GROUP, function_of, group_of

SLOWEST = 10
SLOW = 0.5  # seconds of one test, beside two other worker processes; left out of `--quick`

_seconds: defaultdict[str, float] = defaultdict(float)
_not_run: Counter[str] = Counter()
_outcomes: Counter[str] = Counter()
_started = time.monotonic()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _not_run[re.sub(r"^(Skipped: )?(not run: )?", "", reason)] += 1
    elif report.failed or report.when == "call":
        _outcomes["failed" if report.failed else "passed"] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or len(_seconds) < 2:
        return
    write = terminalreporter.write_line
    terminalreporter.section("summary", "-")
    minutes, seconds = divmod(time.monotonic() - _started, 60)
    write(
        f"{_outcomes['passed']} tests passed, {_outcomes['failed']} failed, {_not_run.total()} not run, "
        f"in {minutes:.0f} min {seconds:.0f} s."
    )
    for reason, count in _not_run.most_common():
        write(f"  not run, {count}: {reason}")
    write("Time by package (seconds, summed over worker processes):")
    packages: defaultdict[str, float] = defaultdict(float)
    for nodeid, taken in _seconds.items():
        packages["/".join(nodeid.split("::", 1)[0].split("/")[:-1])] += taken
    for package, taken in sorted(packages.items(), key=lambda item: -item[1]):
        write(f"  {taken:7.1f}  {package}")
    write(f"The {SLOWEST} slowest tests:")
    for nodeid, taken in sorted(_seconds.items(), key=lambda item: -item[1])[:SLOWEST]:
        write(f"  {taken:7.1f}  {nodeid}")
    if os.environ.get("HEADWATER_RECORD_SECONDS") == "1":
        record()


def record() -> None:
    """For the order of groups in later runs, and for what `--quick` leaves out."""
    groups: defaultdict[str, float] = defaultdict(float)
    functions: defaultdict[str, float] = defaultdict(float)
    for nodeid, taken in _seconds.items():
        groups[group_of(nodeid)] += taken
        if not group_of(nodeid).startswith(SPARK_GROUP):  # left out for its fixture
            functions[function_of(nodeid)] = max(functions[function_of(nodeid)], taken)
    recorded = {
        "groups": {group: round(taken, 1) for group, taken in sorted(groups.items()) if taken >= SLOW},
        "slow_functions": sorted(function for function, taken in functions.items() if taken >= SLOW),
    }
    SECONDS_FILE.write_text(json.dumps(recorded, indent=1) + "\n")
