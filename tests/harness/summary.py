"""The summary of a test run: how many ran, what did not run and why, and the slowest tests."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest

from tests.harness.grouping import SECONDS_FILE, SPARK_GROUP, function_of, group_of, recorded_seconds

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
        write(record(config))


def record(config: pytest.Config) -> str:
    """Writes seconds.json, if the run covered whole files; returns what was done."""
    if not ran_whole_files(config):
        return "Seconds are not recorded: this was not `./dev test` with whole files or folders alone."
    groups: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, float] = defaultdict(float)
    functions: defaultdict[str, float] = defaultdict(float)
    for nodeid, taken in _seconds.items():
        groups[group_of(nodeid)] += taken
        files[nodeid.split("::", 1)[0]] += taken
        if not group_of(nodeid).startswith(SPARK_GROUP):  # left out for its fixture
            functions[function_of(nodeid)] = max(functions[function_of(nodeid)], taken)
    earlier = recorded_seconds()
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        earlier = {"files": {}, "groups": {}, "slow_functions": []}
    else:  # of a group of several files, not all may have run
        groups = defaultdict(float, {file: taken for file, taken in files.items() if group_of(file) == file})
    slow = {function for function, taken in functions.items() if taken >= SLOW}
    slow |= {function for function in earlier["slow_functions"] if function.split("::", 1)[0] not in files}
    recorded = {
        "files": {**earlier["files"], **rounded(files)},
        "groups": {name: taken for name, taken in {**earlier["groups"], **rounded(groups)}.items() if taken >= SLOW},
        "slow_functions": sorted(slow),
    }
    SECONDS_FILE.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    return f"Seconds of {len(files)} files are recorded in {SECONDS_FILE.name}."


def ran_whole_files(config: pytest.Config) -> bool:
    """Whether all tests of the files in the short run ran, once each."""
    selected = config.option.keyword or config.getoption("--quick") or config.getoption("--repeat") > 1
    return not selected and config.option.markexpr == "not long" and not any("::" in path for path in config.args)


def rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(taken, 1) for name, taken in sorted(seconds.items())}
