"""One run whole: what became of its rows, its steps, its evidence recomputed in the browser; and the way it differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import Watched
from tests.page.conftest import Demo

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

Look = Callable[..., Watched]

pytestmark = pytest.mark.xdist_group("demo")  # with all who look at it: it is made once


def open_run(look: Look, demo: Demo, job: str, alone: bool = False) -> Page:
    page = look(demo.url, alone=alone).page
    page.goto(f"/runs?job={job}")
    page.get_by_role("table", name="Runs, the newest first").get_by_role("link", name=re.compile("^Run ")).first.click()
    page.get_by_role("heading", level=1, name=re.compile(f"Run of {job}")).wait_for()
    return page


def test_a_captured_run_tells_what_became_of_every_row(look: Look, demo: Demo) -> None:
    page = open_run(look, demo, "emissions")
    page.get_by_role("heading", level=1, name=re.compile("complete.*balanced.*certificate verifies")).wait_for()
    ledger = page.get_by_role("region", name="Row ledger")
    ledger.get_by_role("button", name="Table").click()
    table = ledger.get_by_role("table", name="Ledger by source")
    activity = table.get_by_role("row").filter(has_text="raw/activity")
    assert "2\u2009000" in activity.inner_text()
    page.get_by_role("region", name="Timeline").get_by_role("table", name="Steps of the plan").wait_for()
    page.get_by_role("region", name="Outputs").get_by_role("link").first.click()
    page.wait_for_url(re.compile("/explore\\?.*emissions"))


def test_a_failed_run_says_why(look: Look, demo: Demo) -> None:
    page = open_run(look, demo, "audit_factors")
    page.get_by_role("region", name="Error").get_by_text("the factors are those of last year").first.wait_for()


def test_a_pipeline_shows_its_dead_letters(look: Look, demo: Demo) -> None:
    page = open_run(look, demo, "carbon_cost")
    page.get_by_role("region", name="Timeline").get_by_role("table", name="Steps of the pipeline").wait_for()
    page.get_by_role("list", name="Dead letters").wait_for()


def test_what_could_not_be_known_is_marked(look: Look, demo: Demo) -> None:
    page = open_run(look, demo, "peaks")
    page.get_by_role("region", name="Lineage coverage").wait_for()


def test_the_evidence_is_recomputed_here_and_a_changed_byte_is_found(look: Look, demo: Demo) -> None:
    page = open_run(look, demo, "daily_report", alone=True)
    proof = page.get_by_role("region", name="Proof, verified in this browser")
    for step in ("Hash", "Inclusion", "Checkpoint"):
        proof.get_by_role("listitem", name=f"{step}: holds").wait_for()

    def tampered(route: Route) -> None:
        body = route.fetch().body().replace(b"daily_report", b"daily_rep0rt", 1)
        route.fulfill(status=200, body=body, content_type="application/json")

    page.route("**/bundle", tampered)
    page.reload()
    proof.get_by_role("listitem", name=re.compile("does not hold")).first.wait_for()


def test_nobody_stumbles_over_a_run(look: Look, demo: Demo) -> None:
    watched = look(demo.url)
    watched.page.goto("/runs?job=emissions")
    watched.page.get_by_role("link", name=re.compile("^Run ")).first.click()
    watched.page.get_by_role("listitem", name="Checkpoint: holds").wait_for()
    assert watched.faults_by_axe() == []
    with watched.in_the_dark():
        watched.page.get_by_role("listitem", name="Checkpoint: holds").wait_for()
        assert watched.faults_by_axe() == []
