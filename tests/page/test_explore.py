"""The graph: by mouse and by keyboard, highlighted columns across jobs, earlier times, exported pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

import headwater as hw
from tests.page.browser import CheckedPage
from tests.page.conftest import Demo

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

OpenPage = Callable[..., CheckedPage]

pytestmark = pytest.mark.xdist_group("demo")  # with all tests that read it: it is created once


def explore(page: Page, demo: Demo, dataset: str, **more: str) -> None:
    page.goto("/explore?" + urlencode({"namespace": "file", "name": demo.name(dataset), **more}))
    card(page, dataset).wait_for()


def card(page: Page, dataset: str) -> Locator:
    return page.get_by_role("region", name=f"{dataset}, in file")


def test_one_hop_each_way_and_more_by_click(open_page: OpenPage, demo: Demo) -> None:
    watched = open_page(demo.url)
    page = watched.page
    explore(page, demo, "emissions")
    for neighbour in ("raw/activity", "raw/factors", "raw/sites", "daily_report", "peaks"):
        card(page, neighbour).wait_for()
    assert "lineage incomplete" in card(page, "peaks").inner_text()
    assert watched.accessibility_violations() == []


def test_a_column_is_highlighted_from_its_first_source(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    explore(page, demo, "daily_report", column="kg")
    comes = page.get_by_role("region", name="Comes from")
    comes.get_by_text("sum(kg)").first.wait_for()
    comes.get_by_text("kg_per_unit").first.wait_for()
    card(page, "raw/activity").get_by_role("button", name=re.compile("Column amount.*on the path")).wait_for()
    page.get_by_role("button", name="Clear selection").click()
    page.wait_for_url(lambda url: "column=" not in url)


def test_by_keyboard(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    explore(page, demo, "emissions")
    card(page, "emissions").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name=re.compile("^Columns of .*emissions")).first.wait_for()
    page.get_by_role("button", name=re.compile("^Column kg")).first.wait_for()
    page.keyboard.press("ArrowLeft")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")
    assert "raw/" in focused


def test_the_list_agrees_with_the_graph_and_is_exported(open_page: OpenPage, demo: Demo, tmp_path: Path) -> None:
    page = open_page(demo.url).page
    explore(page, demo, "raw/factors", tab="impact")
    affected = page.get_by_role("list", name="Affected")
    affected.get_by_text("daily_report").first.wait_for()
    page.get_by_text("Export", exact=True).click()
    for name, mark in (("Image (SVG)", b"<svg"), ("Image (PNG)", b"\x89PNG"), ("Impact (CSV)", b"daily_report")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        content = Path(saved.value.path()).read_bytes()
        assert mark in content
        if mark == b"<svg":
            assert content.count(b"<path") + content.count(b"<line") > 0
            assert b"raw/factors" in content or b"factors" in content
        if not page.get_by_role("button", name="Image (SVG)").is_visible():
            page.get_by_text("Export", exact=True).click()


def test_before_the_first_run_there_is_no_edge(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    explore(page, demo, "emissions", at="2020-01-01T00:00:00Z")
    page.get_by_text("1 dataset · 0 edges").wait_for()


def test_provenance_in_the_panel(open_page: OpenPage, demo: Demo) -> None:
    with hw.connect(demo.store) as lineage:
        agent = {"type": "user", "id": "ann", "name": "<b>Ann</b>"}
        lineage.state_provenance(
            f"file/{demo.name('emissions')}", "accessed", agent=agent, purpose="climate audit", sensitivity="internal"
        )
    watched = open_page(demo.url)
    page = watched.page
    explore(page, demo, "emissions")
    told = page.get_by_role("region", name="Provenance")
    stated = told.get_by_role("row", name=re.compile("climate audit"))
    stated.wait_for()
    for word in ("accessed", "<b>Ann</b>", "internal", "stated"):
        assert word in stated.inner_text()
    while told.get_by_role("button", name="Show more").is_visible():
        shown = told.get_by_role("row").count()
        told.get_by_role("button", name="Show more").click()
        told.get_by_role("row").nth(shown).wait_for()
    told.get_by_role("row", name=re.compile("created")).get_by_role("link").first.click()
    page.wait_for_url(lambda url: "/run?" in url)
