"""Row queries: immediately by pair tables, on Spark with progress; and records."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.page.browser import CheckedPage
from tests.page.conftest import Demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

OpenPage = Callable[..., CheckedPage]

pytestmark = pytest.mark.xdist_group("demo")  # with all tests that read it: it is created once


def rows_of(page: Page, demo: Demo, dataset: str, **more: str) -> None:
    page.goto("/rows?" + urlencode({"namespace": "file", "name": demo.name(dataset), **more}))


def test_a_row_is_selected_and_traced_to_its_first_sources(open_page: OpenPage, demo: Demo) -> None:
    watched = open_page(demo.url)
    page = watched.page
    rows_of(page, demo, "daily_report")
    page.get_by_role("button", name="Trace", exact=True).click()
    pick = page.get_by_role("region", name="Rows", exact=True)
    pick.get_by_role("link", name=re.compile("^Trace the row")).first.click()
    page.get_by_role("region", name="The row", exact=True).wait_for()
    came = page.get_by_role("region", name="Source rows")
    came.get_by_text(re.compile("emissions")).first.wait_for()
    came.get_by_role("button", name="Trace one step further back").first.click()
    came.get_by_text("raw/activity").first.wait_for()
    assert watched.accessibility_violations() == []
    page.go_back()
    pick.wait_for()


def test_a_condition_is_refused_by_name(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    rows_of(page, demo, "daily_report", condition="day = (select 1)")
    page.get_by_role("alert").wait_for()


def test_why_a_row_is_missing(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    rows_of(
        page, demo, "emissions", ask="why-not", source=demo.name("raw/activity"), source_namespace="file",
        condition="activity_id = 134",
    )  # fmt: skip
    page.get_by_role("button", name="Run on Spark").click()
    page.get_by_role("progressbar", name="Running on Spark").wait_for()
    page.get_by_role("region", name="Verdict").wait_for(timeout=240_000)
    stop = page.get_by_role("note", name="Operator that dropped it")
    assert "amount > 0" in stop.inner_text()
    assert "-422.7" in page.get_by_role("region", name=re.compile("Path of the row")).inner_text()


def test_records_are_a_tree_for_the_keyboard(open_page: OpenPage, demo: Demo) -> None:
    watched = open_page(demo.url)
    page = watched.page
    page.goto("/records?root=activity-2026-11-15.csv")
    tree = page.get_by_role("tree", name="Records of the root")
    tree.get_by_role("treeitem").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.get_by_role("complementary", name="The record").wait_for()
    assert watched.accessibility_violations() == []
