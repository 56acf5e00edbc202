"""The shell around every view, and views of the whole store: search, map, audit, keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.store.store import Store
from tests.page.browser import CheckedPage
from tests.page.conftest import Demo
from tests.server.running import ServerProcess

OpenPage = Callable[..., CheckedPage]

pytestmark = pytest.mark.xdist_group("demo")  # with all tests that read it: it is created once
VIEWS = ["/", "/map", "/runs", "/records", "/audit", "/keys"]


def test_problems_are_on_the_home_view(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    page.goto("/")
    page.get_by_role("region", name="Failed runs").get_by_text("the factors are those of last year").wait_for()
    uncovered = page.get_by_role("region", name="Incomplete lineage")
    uncovered.get_by_text("peaks").wait_for()
    page.get_by_role("region", name="Latest runs").get_by_role("link", name="daily_report").click()
    page.wait_for_url(re.compile("/run\\?id="))


def test_search_by_keyboard_opens_the_graph(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    page.goto("/")
    page.get_by_role("heading", name="Search your lineage").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("daily_rep")
    page.get_by_role("option", name=re.compile("^dataset.*daily_report")).wait_for()
    chosen = page.get_by_role("option").all_inner_texts()
    for _ in range(next(i for i, text in enumerate(chosen) if text.startswith("dataset"))):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/explore\\?.*daily_report"))
    page.go_back()
    page.wait_for_url(f"{demo.url}/")


def test_the_map_opens_the_explorer(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    page.goto("/map")
    page.get_by_role("img", name=re.compile("Map of \\d+ datasets")).wait_for()
    page.get_by_role("complementary", name="Namespaces").get_by_role("link", name=re.compile("file")).click()
    page.wait_for_url(re.compile("namespace=file"))
    page.get_by_role("img", name=re.compile("Map of")).wait_for()


def test_the_log_is_verified_from_the_page(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url).page
    page.goto("/audit")
    page.get_by_role("region", name="Latest checkpoint").get_by_text("Root hash").wait_for()
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("The log verifies").wait_for()
    page.get_by_label("Event type").fill("certificate.issued")
    page.get_by_role("button", name="Apply filters").click()
    page.wait_for_url(re.compile("event_type=certificate.issued"))
    entries = page.get_by_role("region", name="Entries")
    entries.get_by_text("certificate.issued").first.click()
    entries.get_by_text("Previous hash").first.wait_for()


def test_a_key_is_created_shown_once_and_required(open_page: OpenPage, tmp_path: Path) -> None:
    """The first key closes the server, also for the user who created it."""
    with ServerProcess(f"sqlite:///{tmp_path}/lineage.db", log=tmp_path / "log") as server:
        page = open_page(server.url, alone=True).page
        page.goto("/keys")
        page.get_by_text("This is the first key").wait_for()
        page.get_by_label("Name", exact=True).fill("<b>ada</b>")
        page.get_by_role("button", name="Create key").click()
        page.get_by_text("Copy the key now").wait_for()
        secret = page.get_by_role("status").locator("code").inner_text()
        page.reload()
        page.get_by_label("API key", exact=True).fill("hw_wrong")
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("alert").wait_for()
        page.get_by_label("API key", exact=True).fill(secret)
        page.get_by_role("button", name="Log in").click()
        row = page.get_by_role("row").filter(has_text="<b>ada</b>")
        row.get_by_text("active").wait_for()
        assert page.get_by_text(secret).count() == 0
        page.on("dialog", lambda dialog: dialog.accept())
        row.get_by_role("button", name="Revoke").click()
        page.get_by_text("is the last key that can manage keys").wait_for()
        row.get_by_text("active").wait_for()
        with Store(f"sqlite:///{tmp_path}/lineage.db") as store:
            store.access.add("second", scopes=["admin"])
        row.get_by_role("button", name="Revoke").click()
        page.get_by_role("button", name="Log in").or_(row.get_by_text("revoked")).first.wait_for()


def test_help_and_colour_scheme(open_page: OpenPage, demo: Demo) -> None:
    page = open_page(demo.url, alone=True).page
    page.goto("/")
    page.get_by_role("heading", name="Search your lineage").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Use dark colours").click()
    page.reload()
    page.get_by_role("button", name="Use light colours").wait_for()


@pytest.mark.parametrize("view", VIEWS)
def test_accessibility(open_page: OpenPage, demo: Demo, view: str) -> None:
    watched = open_page(demo.url)
    watched.page.goto(view)
    assert faults(watched, view) == []
    with watched.in_dark_mode():
        assert faults(watched, view) == []


def faults(watched: CheckedPage, view: str) -> list[str]:
    watched.page.get_by_role("heading", level=1).first.wait_for()
    watched.page.wait_for_load_state("networkidle") if view != "/map" else watched.page.wait_for_timeout(500)
    return watched.accessibility_violations()


def test_an_unknown_address(open_page: OpenPage, demo: Demo) -> None:
    watched = open_page(demo.url)
    answer = watched.page.goto("/nowhere")
    assert answer is not None
    assert answer.status == 404
