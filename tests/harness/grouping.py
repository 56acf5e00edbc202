"""Which tests run together, in which order, and which worker process runs them.

The tests of a file run in one worker, so that what they share is made once. All tests on the shared Spark of one folder
are one group as well. One worker owns Spark and is given these groups first; the others run everything else, and take
a group of Spark only when nothing else is left. Groups that take long come first: a slow one cannot be the last.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

SECONDS_FILE = Path(__file__).with_name("seconds.json")
SPARK_GROUP = "spark-"
SPARK_WORKER = "gw0"

# What `--quick` does without. A test asks for these through its fixtures, or has the database as a parameter.
NOT_QUICK = {"browser", "daily_revenue", "plain_spark", "postgres", "postgresql", "spark"}


def recorded_seconds() -> dict[str, Any]:
    """Seconds of groups and files of tests, and the functions whose tests are slow, when last recorded.

    They decide the order, what `--quick` leaves out, and the times in CONTRIBUTING.md. `HEADWATER_RECORD_SECONDS=1
    ./dev test` records them; with paths those of the files that these name, and the rest stays as it was.
    """
    recorded: dict[str, Any] = json.loads(SECONDS_FILE.read_text())
    return recorded


_groups: dict[str, str] = {}  # by file, where it is not the file itself


def group_of(nodeid: str) -> str:
    file = nodeid.split("::", 1)[0]
    return _groups.get(file, file)


def function_of(nodeid: str) -> str:
    """The test's function, without its parameters."""
    return nodeid.split("[", 1)[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    options = parser.getgroup("headwater")
    options.addoption("--quick", action="store_true", help="No Spark, no browser, no PostgreSQL, nothing slow.")
    options.addoption("--only", metavar="TEST", help="Of a function's tests the one with these parameters, repeated.")
    options.addoption("--repeat", type=int, default=1, metavar="N", help="Run every selected test N times.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    repetitions: int = metafunc.config.getoption("--repeat")
    if repetitions > 1:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(repetitions))


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        _mark(item)
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    if worker.get("workerid") == SPARK_WORKER:  # all have collected the same
        Path(worker["groups_file"]).write_text(json.dumps(_groups))
    if config.getoption("--quick"):
        _leave_out_slow(config, items)
    if "[" in (only := config.getoption("--only") or ""):
        items[:] = [item for item in items if only in _ids_without_repetition(item)]
    seconds = recorded_seconds()["groups"]
    items.sort(key=lambda item: -seconds.get(group_of(item.nodeid), 0.0))  # stable: files stay whole, in their order


def _fixtures(item: pytest.Item) -> set[str]:
    return set(item.fixturenames) if isinstance(item, pytest.Function) else set()


def _ids_without_repetition(item: pytest.Item) -> set[str]:
    number = item.callspec.params["repetition"] if isinstance(item, pytest.Function) else ""
    return {item.nodeid.replace(f"[{number}-", "[", 1), item.nodeid.removesuffix(f"-{number}]") + "]"}


def _parameters(item: pytest.Item) -> set[str]:
    values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return {value for value in values if isinstance(value, str)}


def _mark(item: pytest.Item) -> None:
    """A test that uses a Spark session is marked `spark`; its file is grouped with those of its folder that do."""
    file = item.nodeid.split("::", 1)[0]
    fixtures = _fixtures(item)
    if "spark" in fixtures:
        item.add_marker(pytest.mark.spark)
    if fixtures & {"plain_spark", "spark"}:
        folders = file.split("/")[1:-1]
        _groups.setdefault(file, f"{SPARK_GROUP}{folders[0] if folders else 'set-up'}")
    mark = item.get_closest_marker("xdist_group")
    if mark is not None:
        _groups[file] = str(mark.args[0])


def _leave_out_slow(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = set(recorded_seconds()["slow_functions"])

    def is_slow(item: pytest.Item) -> bool:
        needs = _fixtures(item) | _parameters(item)
        on_spark = item.get_closest_marker("spark") is not None
        return on_spark or bool(needs & NOT_QUICK) or function_of(item.nodeid) in slow

    left_out = [item for item in items if is_slow(item)]
    config.hook.pytest_deselected(items=left_out)
    kept = set(left_out)
    items[:] = [item for item in items if item not in kept]


# The process that hands out tests does not collect them: a worker writes down which files are grouped, and how. (xdist
# has workers append the group to the id of a test, which pytest 9 no longer lets them do.)


@pytest.hookimpl(optionalhook=True)  # there are no such hooks where xdist is not installed
def pytest_configure_node(node: Any) -> None:
    node.workerinput["groups_file"] = str(_groups_file())


@functools.cache
def _groups_file() -> Path:
    return Path(tempfile.mkdtemp(prefix="headwater-groups-")) / "groups.json"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):  # type: ignore[misc]
        def schedule(self) -> None:
            _groups.update(json.loads(_groups_file().read_text()))
            super().schedule()

        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            preferred = preferred_group(self.workqueue, node.gateway.id == SPARK_WORKER)
            self.workqueue.move_to_end(preferred, last=False)
            super()._assign_work_unit(node)

    return Scheduler(config, log)


def preferred_group(waiting: Iterable[str], spark_worker: bool) -> str:
    """The first group that suits the worker, else the first of all."""
    groups = list(waiting)
    return next((group for group in groups if group.startswith(SPARK_GROUP) == spark_worker), groups[0])
