"""Hostile names, very wide tables and very many datasets on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from headwater.store.store import Store
from tests.page import large_graphs
from tests.page.browser import CheckedPage
from tests.server.running import ServerProcess
from tests.support.events import NAMESPACE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OpenPage = Callable[..., CheckedPage]


@pytest.fixture(scope="module")
def url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("strained")
    store_url = f"sqlite:///{folder}/lineage.db"
    with Store(store_url) as store:
        store.ingest_many(list(large_graphs.hostile()))
        store.ingest_many(list(large_graphs.wide()))
        store.ingest_many(list(large_graphs.many(500, 2_500)))
        store.ingest_many(list(large_graphs.fan()))
    with ServerProcess(store_url, log=folder / "server.log") as server:
        yield server.url


def explore(name: str, **more: str) -> str:
    return "/explore?" + urlencode({"namespace": NAMESPACE, "name": name, **more})


@pytest.mark.parametrize("name", large_graphs.HOSTILE, ids=range(len(large_graphs.HOSTILE)))
def test_a_name_is_shown_as_text_and_breaks_no_layout(open_page: OpenPage, url: str, name: str) -> None:
    is_text_and_fits(open_page(url), explore(name))


@pytest.mark.parametrize("address", ["/", explore("honest"), "/runs", "/map", "/audit"])
def test_all_hostile_names_together_are_text_and_break_no_layout(open_page: OpenPage, url: str, address: str) -> None:
    is_text_and_fits(open_page(url), address)


def is_text_and_fits(watched: CheckedPage, address: str) -> None:
    page = watched.page
    page.goto(address)
    page.get_by_role("heading", level=1).first.wait_for()
    page.wait_for_timeout(300)  # a name that is a script has the time to run
    assert page.title() == "Headwater"
    assert page.locator("script:not([src])").count() == 0
    assert page.locator("img[src='x'], svg[onload]").count() == 0
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, address


def test_an_error_message_is_text(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    page.goto("/")
    page.get_by_role("region", name="Failed runs").get_by_role("link").first.click()
    page.get_by_text(re.compile("onerror")).first.wait_for()
    assert page.title() == "Headwater"


def test_many_datasets_are_one_map(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    page.goto("/map")
    page.get_by_role("img", name=re.compile("Map of \\d+ datasets")).wait_for()
    canvas = page.locator(".map-picture canvas").first
    canvas.wait_for()
    assert page.get_by_role("link", name=re.compile("team-")).count() == 12


def test_a_large_map_is_redrawn_after_it_stops_moving(open_page: OpenPage, url: str) -> None:
    """If WebGL is emulated, as it is here."""
    page = open_page(url).page
    page.goto("/map")
    picture = page.get_by_role("img", name=re.compile("Map of"))
    picture.locator("canvas").first.wait_for()
    box = picture.bounding_box()
    assert box is not None
    nodes = picture.locator("canvas.sigma-nodes")
    page.mouse.move(box["x"] + box["width"] - 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 140, box["y"] + 90, steps=4)
    page.wait_for_function("canvas => canvas.style.transform.startsWith('translate(')", arg=nodes.element_handle())
    page.mouse.up()
    page.wait_for_function("canvas => canvas.style.transform === ''", arg=nodes.element_handle())


def test_three_hundred_cards_with_all_columns_are_one_request(open_page: OpenPage, url: str) -> None:
    page = open_page(url, alone=True).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(explore("centre", hops="3"))
    page.get_by_text("301 datasets · 300 edges", exact=True).wait_for()
    page.get_by_role("button", name="All columns").click()
    page.get_by_text("301 datasets · 300 edges · 900 column edges", exact=True).wait_for()
    assert sum("/graph/around" in url for url in asked) == 2
    assert not [url for url in asked if "/graph/columns" in url]
    details = {re.sub(r"/provenance\?.*", "", url) for url in asked if "/api/v1/datasets/" in url}
    assert len(details) == 1  # of the one that the panel tells of


def test_the_keyboard_reaches_cards_out_of_sight(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    page.goto(explore("centre", hops="3", shown="all"))
    page.get_by_text("900 column edges").wait_for()
    drawn = page.locator(".react-flow__node").count()
    assert 0 < drawn < 301
    page.get_by_role("region", name="table centre,").focus()
    reached = {"centre"}
    for key in ("ArrowRight", "ArrowRight", *["ArrowDown"] * 15):
        page.keyboard.press(key)
        name = page.wait_for_function(
            "seen => { const told = document.activeElement.getAttribute('aria-label')?.match(/^table ([^,]+),/)?.[1];"
            " return told && !seen.includes(told) && told; }",
            arg=list(reached),
        ).json_value()
        reached.add(name)
    bottom = page.evaluate("document.activeElement.getBoundingClientRect().bottom")
    assert bottom <= 900


def test_an_edge_has_a_tooltip(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    page.goto(explore("narrow"))
    source, target = (page.get_by_role("region", name=f"table {name},").bounding_box() for name in ("narrow", "wide"))
    assert source is not None
    assert target is not None
    middle = (source["x"] + source["width"] + target["x"]) / 2
    top = (source["y"] + target["y"]) / 2
    tooltip = page.get_by_role("tooltip")
    for below in range(0, 40, 2):
        page.mouse.move(middle, top + below)
        if tooltip.count() > 0:
            break
    tooltip.get_by_text("widen").wait_for()
    page.mouse.move(middle, top + 300)
    tooltip.wait_for(state="detached")
