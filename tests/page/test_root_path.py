"""The page below a path, in a browser: every request, link and address stays below it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.store.store import Store
from tests.page.browser import CheckedPage
from tests.server.running import ServerProcess
from tests.support.events import run_event, run_id
from tests.support.prefix_proxy import prefix_proxy

PREFIX = "/tools/lineage"


@pytest.mark.parametrize("strips", [True, False], ids=["stripping", "passing on"])
def test_the_page_below_a_path(
    strips: bool, open_page: Callable[..., CheckedPage], sqlite_template: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lineage.db"
    shutil.copy(sqlite_template, file)
    with Store(f"sqlite:///{file}") as store:
        store.ingest(run_event(run="first", inputs=["orders"], outputs=["revenue"]))
        secret = store.access.add("page", scopes=["read", "write", "admin"]).secret
    with (
        ServerProcess(f"sqlite:///{file}", "--root-path", PREFIX, log=tmp_path / "log") as server,
        prefix_proxy(server.port, PREFIX, strips=strips) as (base, outside),
    ):
        host = base.removesuffix(PREFIX)
        page = open_page(host, alone=True).page
        failed: list[str] = []
        page.on("response", lambda answer: failed.append(answer.url) if answer.status in (404, 500) else None)
        page.goto(PREFIX)
        page.get_by_label("API key", exact=True).fill(secret)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="Runs", exact=True).click()
        page.wait_for_url(f"{base}/runs")
        page.get_by_text("live", exact=True).wait_for()  # the stream is open

        page.goto(f"{PREFIX}/explore?namespace=warehouse&name=revenue")
        page.reload()
        page.get_by_text("revenue").first.wait_for()
        page.goto(f"{PREFIX}/run?id={run_id('first')}")
        report = page.get_by_role("link", name="Report")
        assert report.get_attribute("href") == f"{PREFIX}/api/v1/runs/{run_id('first')}/report"
        page.get_by_role("link", name="Headwater").click()
        page.wait_for_url(f"{base}/")
        assert page.locator("img[src]").first.get_attribute("src") == f"{PREFIX}/mark.svg"
        page.get_by_role("button", name="Log out").click()
        page.get_by_role("button", name="Log in").wait_for()
        page.wait_for_url(f"{base}/")
        assert outside == []
        assert failed == []
