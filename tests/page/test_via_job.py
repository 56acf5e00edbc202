"""A run whose event names many inputs and outputs without pairs: the page shows the job between them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from tests.page.browser import CheckedPage
from tests.server.running import ServerProcess
from tests.support.events import NAMESPACE, column_lineage, run_event, run_id, schema, used

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

OpenPage = Callable[..., CheckedPage]

INPUTS = [f"source_{number:02}" for number in range(20)]
OUTPUTS = ["orders", "customers"]
SENTENCE = re.compile("the event does not say which input went into which output")


def events() -> list[dict[str, object]]:
    """`load` reads 20 datasets and writes two; `report` sums a column of one of these."""
    load = run_event(
        run="load", job="load", inputs=INPUTS, outputs=[used("orders", facets={"schema": schema("kg")}), "customers"]
    )
    lineage = column_lineage({"total": [("orders", "kg", "DIRECT", "AGGREGATION")]})
    report = used("report", facets={"schema": schema("total:double"), "columnLineage": lineage})
    return [load, run_event(run="report", job="report", inputs=["orders"], outputs=[report], minute=1)]


@pytest.fixture(scope="module")
def url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """At most 30 edges of one run are direct; `load` would have 40."""
    folder = tmp_path_factory.mktemp("via_job")
    with ServerProcess(
        f"sqlite:///{folder}/lineage.db", log=folder / "server.log", HEADWATER_MAX_DIRECT_EDGES="30"
    ) as server:
        for event in events():
            body = json.dumps(event).encode()
            request = Request(f"{server.url}/api/v1/lineage", body, {"Content-Type": "application/json"})
            with urlopen(request, timeout=60) as response:
                assert response.status < 300
        yield server.url


def explore(page: Page, dataset: str, **more: str) -> None:
    page.goto("/explore?" + urlencode({"namespace": NAMESPACE, "name": dataset, **more}))
    card(page, dataset).wait_for()


def card(page: Page, dataset: str) -> Locator:
    return page.get_by_role("region", name=f"table {dataset},")


def job_card(page: Page) -> Locator:
    return page.get_by_role("region", name=re.compile("^job load,"))


def test_the_job_is_a_card_between_inputs_and_outputs(open_page: OpenPage, url: str) -> None:
    watched = open_page(url)
    page = watched.page
    explore(page, "orders")
    job_card(page).get_by_text("20 inputs, 2 outputs, not paired").wait_for()
    card(page, "source_07").wait_for()  # what lies behind the job is shown with it
    page.get_by_text("10 datasets · 1 job · 10 edges").wait_for()
    dashes = page.evaluate(
        "[...document.querySelectorAll('svg.lines path')].map(one => getComputedStyle(one).strokeDasharray)"
    )
    assert "0.1px, 5px" in dashes, "an edge through the job is dotted"
    assert "none" in dashes, "the edge to the report is solid"
    assert SENTENCE.search(page.get_by_role("list", name="Legend").inner_text())
    through = page.get_by_role("complementary", name="About the selected dataset").get_by_role(
        "region", name="Through the job"
    )
    through.get_by_text(SENTENCE).wait_for()
    assert watched.accessibility_violations() == []
    with watched.in_dark_mode():
        through.wait_for()
        assert watched.accessibility_violations() == []


def test_the_other_inputs_are_shown_on_demand(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    explore(page, "orders")
    page.get_by_role("button", name=re.compile("Show 12 more inputs of load")).click()
    card(page, "source_19").wait_for()
    page.get_by_text("22 datasets · 1 job · 22 edges").wait_for()


def test_the_panel_of_the_job_explains_missing_pairs(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    explore(page, "orders")
    job_card(page).click()
    panel = page.get_by_role("complementary", name="About the selected job")
    panel.get_by_text(SENTENCE).wait_for()
    panel.get_by_role("heading", name="load", exact=True).wait_for()
    panel.get_by_role("link", name="Runs of this job").click()
    page.get_by_role("table", name="Runs, the newest first").get_by_role("link", name=f"Run {run_id('load')}").click()
    page.get_by_text(SENTENCE).wait_for()


def test_the_path_of_a_column_leads_through_the_job(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    explore(page, "report", column="total", hops="2")
    sources = page.get_by_role("region", name="Comes from")
    sources.get_by_text("through the job", exact=True).first.wait_for()
    sources.get_by_text(SENTENCE).wait_for()
    page.locator("svg.lines path.line.via-job.on-path").first.wait_for(state="attached")
    assert "off-path" not in (job_card(page).get_attribute("class") or "")


def test_the_tooltip_of_an_edge_names_the_job(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    explore(page, "orders")
    job, target = job_card(page).bounding_box(), card(page, "orders").bounding_box()
    assert job is not None
    assert target is not None
    middle = (job["x"] + job["width"] + target["x"]) / 2
    tooltip = page.get_by_role("tooltip")
    top, bottom = sorted((job["y"], target["y"]))
    for height in range(int(top), int(bottom) + 40, 2):
        page.mouse.move(middle, height)
        if tooltip.count() > 0:
            break
    tooltip.get_by_text(SENTENCE).wait_for()


def test_the_exported_picture_has_dotted_lines(open_page: OpenPage, url: str) -> None:
    page = open_page(url).page
    explore(page, "orders")
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name=re.compile("SVG")).click()
    content = saved.value.path().read_text()
    assert content.count('stroke-dasharray="0.1 5"') == 10, "nine edges, and the border of the job's card"
    assert "20 inputs, 2 outputs, not paired" in content
