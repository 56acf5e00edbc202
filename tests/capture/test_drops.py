"""Which tables a job has dropped, in whichever order Spark's listeners hear of it."""

from __future__ import annotations

import pytest

from headwater.capture.listener.drops import Dropping, Drops
from headwater.capture.naming.catalogs import SESSION_CATALOG, Catalogs


@pytest.fixture
def drops() -> Drops:
    return Drops(Catalogs("file:/warehouse", None, {}))


def dropping(table: str, if_exists: bool = False) -> Dropping:
    return Dropping(SESSION_CATALOG, ("default", table), "TABLE", if_exists)


def test_a_table_that_is_gone_while_its_command_runs(drops: Drops) -> None:
    drops.began(1, dropping("T"), ["tag"])
    drops.gone("default", "t")
    dropped = drops.ended(1, failed=False)
    assert dropped is not None
    assert (dropped.place.name, dropped.tags) == ("default.t", ("tag",))


def test_a_command_that_was_over_before_its_start_was_heard_of(drops: Drops) -> None:
    drops.gone("default", "t")
    drops.began(1, dropping("T"), [])
    dropped = drops.ended(1, failed=False)
    assert dropped is not None
    assert dropped.place.name == "default.t"


def test_what_an_overwrite_took_away_is_not_what_a_later_command_dropped(drops: Drops) -> None:
    drops.gone("default", "t")
    drops.execution_ended()
    drops.began(1, dropping("t", if_exists=True), [])
    assert drops.ended(1, failed=False) is None


def test_another_table_is_not_meant(drops: Drops) -> None:
    drops.gone("default", "u")
    drops.began(1, dropping("t", if_exists=True), [])
    assert drops.ended(1, failed=False) is None
