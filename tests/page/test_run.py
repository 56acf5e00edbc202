"""The view of a run: its rows, its steps, its evidence recomputed in the browser; and the comparison of two runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import CheckedPage
from tests.page.conftest import Demo

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

OpenPage = Callable[..., CheckedPage]

pytestmark = pytest.mark.xdist_group("demo")  # with all tests that read it: it is created once


def open_run(open_page: OpenPage, demo: Demo, job: str, alone: bool = False) -> Page:
    page = open_page(demo.url, alone=alone).page
    page.goto(f"/runs?job={job}")
    page.get_by_role("table", name="Runs, the newest first").get_by_role("link", name=re.compile("^Run ")).first.click()
    page.get_by_role("heading", level=1, name=re.compile(f"Run of {job}")).wait_for()
    return page


def test_a_captured_run_shows_its_ledger(open_page: OpenPage, demo: Demo) -> None:
    page = open_run(open_page, demo, "emissions")
    page.get_by_role("heading", level=1, name=re.compile("complete.*balanced.*certificate verifies")).wait_for()
    ledger = page.get_by_role("region", name="Row ledger")
    ledger.get_by_role("button", name="Table").click()
    table = ledger.get_by_role("table", name="Ledger by source")
    activity = table.get_by_role("row").filter(has_text="raw/activity")
    assert "2\u2009000" in activity.inner_text()
    page.get_by_role("region", name="Timeline").get_by_role("table", name="Steps of the plan").wait_for()
    page.get_by_role("region", name="Outputs").get_by_role("link").first.click()
    page.wait_for_url(re.compile("/explore\\?.*emissions"))


def test_a_failed_run_shows_its_error(open_page: OpenPage, demo: Demo) -> None:
    page = open_run(open_page, demo, "audit_factors")
    page.get_by_role("region", name="Error").get_by_text("the factors are those of last year").first.wait_for()


def test_a_pipeline_shows_its_dead_letters(open_page: OpenPage, demo: Demo) -> None:
    page = open_run(open_page, demo, "carbon_cost")
    page.get_by_role("region", name="Timeline").get_by_role("table", name="Steps of the pipeline").wait_for()
    page.get_by_role("list", name="Dead letters").wait_for()


def test_unknown_lineage_is_marked(open_page: OpenPage, demo: Demo) -> None:
    page = open_run(open_page, demo, "peaks")
    page.get_by_role("region", name="Lineage coverage").wait_for()


def test_the_evidence_is_recomputed_and_a_changed_byte_detected(open_page: OpenPage, demo: Demo) -> None:
    page = open_run(open_page, demo, "daily_report", alone=True)
    proof = page.get_by_role("region", name="Proof, verified in this browser")
    for step in ("Hash", "Inclusion", "Checkpoint"):
        proof.get_by_role("listitem", name=f"{step}: holds").wait_for()

    def tampered(route: Route) -> None:
        body = route.fetch().body().replace(b"daily_report", b"daily_rep0rt", 1)
        route.fulfill(status=200, body=body, content_type="application/json")

    page.route("**/bundle", tampered)
    page.reload()
    proof.get_by_role("listitem", name=re.compile("does not hold")).first.wait_for()


def test_accessibility_of_a_run(open_page: OpenPage, demo: Demo) -> None:
    watched = open_page(demo.url)
    watched.page.goto("/runs?job=emissions")
    watched.page.get_by_role("link", name=re.compile("^Run ")).first.click()
    watched.page.get_by_role("listitem", name="Checkpoint: holds").wait_for()
    assert watched.accessibility_violations() == []
    with watched.in_dark_mode():
        watched.page.get_by_role("listitem", name="Checkpoint: holds").wait_for()
        assert watched.accessibility_violations() == []
