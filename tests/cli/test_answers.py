"""Every query: as JSON exactly the library's answer, as text plain lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import headwater as hw
from headwater.model.plain import plain
from tests.cli.running import CONTROL, Run
from tests.cli.stores import FAILED_RUN, REPORT, RUN_A, RUN_B

ANSWERS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "datasets": (("datasets",), lambda s: s.datasets()),
    "datasets, search": (("datasets", "ORDERS"), lambda s: s.datasets("orders")),
    "datasets, namespace": (
        ("datasets", "--namespace", "postgres://erp:5432"),
        lambda s: s.datasets(namespace="postgres://erp:5432"),
    ),
    "datasets, kind": (("datasets", "--kind", "file"), lambda s: s.datasets(kind="file")),
    "datasets, owner": (("datasets", "--owner", "team:data"), lambda s: s.datasets(owner="team:data")),
    "datasets, tag": (("datasets", "--tag", "tier=1"), lambda s: s.datasets(tag="tier=1")),
    "datasets, limit": (("datasets", "-n", "2"), lambda s: s.datasets(limit=2)),
    "datasets, none": (("datasets", "zebra"), lambda s: []),
    "dataset": (("dataset", REPORT), lambda s: s.dataset(REPORT)),
    "upstream": (("upstream", REPORT), lambda s: s.upstream(REPORT)),
    "upstream, column": (("upstream", REPORT, "-c", "revenue"), lambda s: s.upstream(REPORT, column="revenue")),
    "upstream, partition": (
        ("upstream", REPORT, "-p", "day=2026-11-12"),
        lambda s: s.upstream(REPORT, partition="day=2026-11-12"),
    ),
    "upstream, depth": (("upstream", REPORT, "-d", "1"), lambda s: s.upstream(REPORT, depth=1)),
    "upstream, as of": (
        ("upstream", REPORT, "--as-of", "2026-11-12T13:00+01:00"),
        lambda s: s.upstream(REPORT, as_of=utc("2026-11-12T12:00:00+00:00")),
    ),
    "downstream": (("downstream", "raw/orders"), lambda s: s.downstream("raw/orders")),
    "downstream, whole name": (
        ("downstream", "s3://shop-lake/raw/customers", "--column", "email", "--depth", "1"),
        lambda s: s.downstream("s3://shop-lake/raw/customers", column="email", depth=1),
    ),
    "impact": (("impact", "raw/orders"), lambda s: s.impact("raw/orders")),
    "impact, column": (
        ("impact", "raw/orders", "--column", "amount", "--depth", "2", "--as-of", "2026-11-13"),
        lambda s: s.impact("raw/orders", column="amount", depth=2, as_of=utc("2026-11-13T00:00:00+00:00")),
    ),
    "runs": (("runs",), lambda s: s.runs()),
    "runs, filters": (
        ("runs", "--job", "enrich_orders", "--namespace", "shop", "--state", "complete", "--since", "2026-11-12"),
        lambda s: s.runs(job="enrich_orders", namespace="shop", state="COMPLETE", since=utc("2026-11-12T00:00:00Z")),
    ),
    "runs, dataset": (
        ("runs", "--dataset", REPORT, "--until", "2026-11-11", "--limit", "3"),
        lambda s: s.runs(dataset=REPORT, until=utc("2026-11-11T00:00:00Z"), limit=3),
    ),
    "run": (("run", FAILED_RUN), lambda s: s.run(FAILED_RUN)),
    "diff": (("diff", RUN_A, RUN_B), lambda s: s.diff(RUN_A, RUN_B)),
    "provenance": (("provenance", "show", REPORT), lambda s: s.provenance(REPORT)),
    "provenance, filters": (
        (
            "provenance",
            "show",
            REPORT,
            "--event",
            "accessed",
            "--since",
            "2026-11-11",
            "--until",
            "2026-11-13",
            "-n",
            "1",
        ),
        lambda s: s.provenance(
            REPORT, event="accessed", since=utc("2026-11-11T00:00:00Z"), until=utc("2026-11-13T00:00:00Z"), limit=1
        ),
    ),
    "audit": (("audit", "--limit", "5"), lambda s: s.audit(limit=5)),
    "audit, filters": (
        ("audit", "--event-type", "event.ingested", "--resource", FAILED_RUN, "--before", "40"),
        lambda s: s.audit(event_type="event.ingested", resource=FAILED_RUN, before=40),
    ),
    "audit, nobody": (("audit", "--actor", "nobody", "--correlation-id", "x"), lambda s: []),
    "verify": (("verify",), lambda s: {"holds": True, **s.verify()._asdict()}),
}


def utc(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


@pytest.mark.parametrize("answer", ANSWERS)
def test_json_is_the_librarys_answer(ask: Run, demo_url: str, answer: str) -> None:
    arguments, expected = ANSWERS[answer]
    result = ask(*arguments, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.isascii()
    with hw.connect(demo_url, create=False) as lineage:
        assert result.json == plain(expected(lineage))


@pytest.mark.parametrize("answer", ANSWERS)
def test_text_is_plain_lines(ask: Run, answer: str) -> None:
    """In a pipe: no colour, no blanks at the end of a line, nothing truncated."""
    result = ask(*ANSWERS[answer][0])
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\n")
    assert not CONTROL.search(result.out)
    assert "..." not in result.out
    assert not re.search(r" $", result.out, re.MULTILINE)
