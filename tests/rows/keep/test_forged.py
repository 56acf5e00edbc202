"""Plans that run code, in a facet that was really captured: the list of classes lets none of them through.

That none comes through a door that people have, whoever signed it, is in test_forged_doors.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import KeptPlanRefused
from headwater.rows.kept_queries.restore import RestoredQuery
from tests.capture.telling import Json
from tests.rows.keep.forging import CLASSES, GADGETS, OF_OWN_CLASSES, REFUSED, Forger
from tests.rows.keep.keeping import Keeping, rows_of, run


@pytest.fixture
def captured(keeping: Keeping) -> Json:
    return keeping.frame(keeping.spark.sql("SELECT id FROM range(1)"))


@pytest.fixture
def forger(keeping: Keeping, tmp_path: Path) -> Forger:
    return Forger(keeping.spark, tmp_path / "canaries")


@pytest.fixture
def compiling(keeping: Keeping) -> Iterator[None]:
    """With code that Spark generates, as a session has it that nobody has set up: some gadgets are text in it."""
    names = {"spark.sql.codegen.factoryMode": "FALLBACK", "spark.sql.codegen.wholeStage": "true"}
    before = {name: str(keeping.spark.conf.get(name)) for name in names}
    for name, value in names.items():
        keeping.spark.conf.set(name, value)
    yield
    for name, value in before.items():
        keeping.spark.conf.set(name, value)


def test_what_is_forged_is_read_where_it_is_a_query(keeping: Keeping, forger: Forger, captured: Json) -> None:
    frame: Any = keeping.spark.sql("SELECT id + 41 AS id FROM range(2)")
    forged = forger.facet(captured, frame._jdf.queryExecution().analyzed())
    assert rows_of(run(keeping.spark, keeping.again(forged))) == rows_of(frame)


def test_there_are_gadgets_of_each_kind() -> None:
    assert len(CLASSES) >= 6
    assert all(set(gadgets) & set(GADGETS) - set(OF_OWN_CLASSES) for gadgets in CLASSES.values())


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("gadget", GADGETS)
def test_a_gadget_that_a_trusted_key_signed(keeping: Keeping, forger: Forger, captured: Json, gadget: str) -> None:
    """The second wall: what no query holds is not read, also from a capture that is trusted."""
    plan = forger.plan(gadget)
    assert not forger.has_run()
    failure = "it ran"
    try:
        rows_of(run(keeping.spark, RestoredQuery(plan, (), ())))
    except Exception as late:  # a gadget may fail after it has done what it was made for
        failure = str(late)
    runs = forger.has_run()
    assert runs or gadget in OF_OWN_CLASSES, f"it writes no canary even where nothing refuses it: {failure}"
    forger.clean()
    with pytest.raises(KeptPlanRefused, match=REFUSED):
        keeping.again(forger.forged(captured, gadget))
    assert not forger.has_run()
