"""Plans that run code, in a facet that was really captured: nothing of them runs, whoever has signed them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.cli.app import app
from headwater.cli.failures import run_app
from headwater.errors import KeptPlanRefused, SignatureRefused
from headwater.formats.openlineage.signed_rows import sign_event
from headwater.proof.keys import SigningKey
from headwater.rows.kept_queries.restore import RestoredQuery
from headwater.store.store import Store
from tests.capture.telling import Json
from tests.rows.keep.forging import GADGETS, Forger
from tests.rows.keep.keeping import Keeping, rows_of, run
from tests.support.events import run_event, used

ALIVE = ("StaticInvoke", "Invoke", "reflect", "try_reflect", "ScriptTransformation")
"""Those that do run in this session, where nothing refuses them. The others depend on settings of Spark and on classes
that executors have, and are refused all the same."""
REFUSED = r"it holds|not on the list|with a text that it never has|ClassNotFoundException"


@pytest.fixture
def captured(keeping: Keeping) -> Json:
    return keeping.frame(keeping.spark.sql("SELECT id FROM range(1)"))


@pytest.fixture
def forger(keeping: Keeping, tmp_path: Path) -> Iterator[Forger]:
    forger = Forger(keeping.spark, tmp_path / "canary")
    forger.clean()
    yield forger
    forger.clean()


def test_what_is_forged_is_read_where_it_is_a_query(keeping: Keeping, forger: Forger, captured: Json) -> None:
    frame: Any = keeping.spark.sql("SELECT id + 41 AS id FROM range(2)")
    forged = forger.facet(captured, frame._jdf.queryExecution().analyzed())
    assert rows_of(run(keeping.spark, keeping.again(forged))) == rows_of(frame)


@pytest.mark.parametrize("gadget", GADGETS)
def test_a_gadget_that_a_trusted_key_signed(keeping: Keeping, forger: Forger, captured: Json, gadget: str) -> None:
    """The second wall: what no query holds is not read, also from a capture that is trusted."""
    plan = forger.plan(gadget)
    with suppress(Exception):  # a gadget may fail after it has done what it was made for
        rows_of(run(keeping.spark, RestoredQuery(plan, (), ())))
    ran = forger.has_run()
    forger.clean()
    with pytest.raises(KeptPlanRefused, match=REFUSED):
        keeping.again(forger.facet(captured, plan))
    assert not forger.has_run()
    assert ran or gadget not in ALIVE, "the gadget writes no canary even where nothing refuses it"


def test_python_and_the_command_line_read_none_that_nobody_trusted_signed(
    keeping: Keeping, forger: Forger, captured: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    """The first wall: each gadget in an event of its own, unsigned or signed by a stranger."""
    address = f"sqlite:///{tmp_path}/lineage.db"
    own = keeping.spark.newSession()
    monkeypatch.setattr(own, "stop", lambda: None)  # the application is not the command's own
    monkeypatch.setattr("headwater.rows.session.quiet_session", lambda master: own)
    monkeypatch.setenv("HEADWATER_STORE", address)
    with Store(address) as store:
        for number, gadget in enumerate(GADGETS):
            facet = forger.facet(captured, forger.plan(gadget))
            event = run_event(run=gadget, outputs=[{**used(gadget), "outputFacets": {"headwater_rows": facet}}])
            if number % 2:
                sign_event(event, SigningKey.new())
            store.ingest(event)
        for gadget in GADGETS:
            with pytest.raises(SignatureRefused, match=r"is not signed|does not trust"):
                hw.trace(gadget, spark=keeping.spark, store=store)
        for number, gadget in enumerate(GADGETS):
            if number % 2 == 0:  # what the caller says of signatures opens the second wall to nobody
                with pytest.raises(KeptPlanRefused, match=REFUSED):
                    hw.trace(gadget, spark=keeping.spark, store=store, trust_unsigned=True)
    capfd.readouterr()
    for arguments in (
        ["trace", GADGETS[0]],
        ["trace", GADGETS[1]],
        ["why-not", GADGETS[0], "--source", "x", "--where", "true"],
        ["trace", GADGETS[0], "--trust-unsigned"],
    ):
        assert run_app(app, arguments) == 1
        told = capfd.readouterr().err
        assert told.startswith("Error: The stored plan is refused:")
        assert told.count("\n") == 1
    assert not forger.has_run()
