"""Which tables a job has dropped, in whichever order Spark's listeners hear of it."""

from __future__ import annotations

import pytest

from headwater.capture.listener.drops import DropCommand, DropTracker
from headwater.capture.naming.catalogs import SESSION_CATALOG, Catalogs


@pytest.fixture
def drops() -> DropTracker:
    return DropTracker(Catalogs("file:/warehouse", None, {}))


def dropping(table: str, if_exists: bool = False) -> DropCommand:
    return DropCommand(SESSION_CATALOG, ("default", table), "TABLE", if_exists)


def test_a_table_that_is_gone_while_its_command_runs(drops: DropTracker) -> None:
    drops.command_started(1, dropping("T"), ["tag"])
    drops.table_gone("default", "t")
    dropped = drops.command_ended(1, failed=False)
    assert dropped is not None
    assert (dropped.dataset.name, dropped.tags) == ("default.t", ("tag",))


def test_a_command_that_was_over_before_its_start_was_heard_of(drops: DropTracker) -> None:
    drops.table_gone("default", "t")
    drops.command_started(1, dropping("T"), [])
    dropped = drops.command_ended(1, failed=False)
    assert dropped is not None
    assert dropped.dataset.name == "default.t"


def test_what_an_overwrite_took_away_is_not_what_a_later_command_dropped(drops: DropTracker) -> None:
    drops.table_gone("default", "t")
    drops.execution_ended()
    drops.command_started(1, dropping("t", if_exists=True), [])
    assert drops.command_ended(1, failed=False) is None


def test_another_table_is_not_meant(drops: DropTracker) -> None:
    drops.table_gone("default", "u")
    drops.command_started(1, dropping("t", if_exists=True), [])
    assert drops.command_ended(1, failed=False) is None
