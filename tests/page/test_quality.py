"""The tab Quality: metrics, rules that pass and fail, and earlier reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from headwater.store.store import Store
from tests.page.browser import CheckedPage
from tests.server.running import ServerProcess
from tests.support.events import NAMESPACE, run_event, used

CHECKS = {"headwater_quality": {"checks": True}}
MEASURED = {
    "measured_at": "2026-11-15T06:05:00Z",
    "rows": 1200,
    "metrics": {"completeness": 0.99996, "accuracy": 0.5},
    "validations": [
        {"rule_name": "not_null(id)", "rule_type": "not_null", "passed": True, "failed_count": 0, "details": "id"},
        {"rule_name": "<b>amount</b>", "rule_type": "range", "passed": False, "failed_count": 600, "details": "≥ 0"},
    ],
    "anomalies": [{"type": "invalid", "severity": "critical", "count": 600, "description": "half of all rows"}],
}


def test_quality_is_shown_with_icons_and_numbers(
    open_page: Callable[..., CheckedPage], tmp_path: Path, sqlite_url: str
) -> None:
    use = {**used("orders"), "inputFacets": {"headwater_quality": MEASURED}}
    with Store(sqlite_url) as store:
        store.ingest(run_event(run="w", inputs=["raw"], outputs=["orders"], minute=1))
        store.ingest(run_event(run="q", job="check orders", inputs=[use], minute=5, job_facets=CHECKS))
        store.set_quality("orders", {"measured_at": "2026-11-14T06:00:00Z", "metrics": {"accuracy": 1}})
    with ServerProcess(sqlite_url, log=tmp_path / "server.log") as server:
        watched = open_page(server.url)
        page = watched.page
        asked = {"namespace": NAMESPACE, "name": "orders", "tab": "quality"}
        page.goto("/explore?" + urlencode(asked))
        told = page.get_by_role("region", name="Quality report")
        told.wait_for()
        text = told.inner_text()
        assert "99.99 %" in text, "99.99 % is not rounded to 100 %"
        assert "50.00 %" in text
        assert text.count("not measured") == 2
        half, whole = (page.locator(place).nth(1).bounding_box() for place in (".filled > div", ".filled"))
        assert half is not None
        assert whole is not None
        assert half["width"] / whole["width"] == pytest.approx(0.5, abs=0.02)
        assert half["height"] == whole["height"]
        assert "1 of 2 rules pass" in text
        assert "<b>amount</b>" in text
        assert "fails" in told.get_by_role("row").filter(has_text="amount").inner_text()
        assert "half of all rows" in text
        assert "stated" in page.get_by_role("region", name="Earlier reports").inner_text()
        assert watched.accessibility_violations() == []
        page.goto("/explore?" + urlencode({**asked, "name": "raw"}))
        page.get_by_text("No quality rules have been run on this dataset.").wait_for()
