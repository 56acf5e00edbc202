"""The queries of `headwater demo`: what a team asks about its pipeline, each with its command."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from rich.console import RenderableType

from headwater.cli.render.closure import closure_tree
from headwater.cli.render.datasets import dataset_list
from headwater.cli.render.diff import run_diff
from headwater.cli.render.impact import impact_report
from headwater.cli.render.log import verification_text
from headwater.cli.render.runs import run_detail, run_list
from headwater.model.runs import RunState
from headwater.store.store import Store

REPORT = "shop.daily_revenue"
BEFORE_THE_CHANGE = datetime(2026, 11, 13, tzinfo=UTC)


_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class DemoAnswer:
    value: object
    """The answer as `--json` prints it."""
    render: Callable[[], RenderableType]


@dataclass(frozen=True)
class DemoQuery:
    key: str
    """Member of the `--json` output."""
    heading: str
    arguments: tuple[str, ...]
    ask: Callable[[Store], DemoAnswer]

    def command(self, url: str) -> str:
        return shlex.join(["headwater", *self.arguments, "--store", url])


def _query(
    key: str,
    heading: str,
    arguments: tuple[str, ...],
    ask: Callable[[Store], _Answer],
    render: Callable[[_Answer], RenderableType],
) -> DemoQuery:
    def answer(store: Store) -> DemoAnswer:
        value = ask(store)
        return DemoAnswer(value, partial(render, value))

    return DemoQuery(key, heading, arguments, answer)


def demo_queries(store: Store) -> list[DemoQuery]:
    """Return the demo's queries; the ids of its runs are looked up in the store."""
    return [*_graph_queries(), *_run_queries(store)]


def _graph_queries() -> list[DemoQuery]:
    as_of = BEFORE_THE_CHANGE.date().isoformat()
    return [
        _query(
            "datasets",
            "Which datasets are in the store?",
            ("datasets",),
            lambda lineage: lineage.datasets(),
            lambda result: dataset_list(result, len(result) + 1, filtered=False),
        ),
        _query(
            "upstream",
            "Where does the revenue report come from?",
            ("upstream", REPORT),
            lambda lineage: lineage.upstream(REPORT),
            closure_tree,
        ),
        _query(
            "upstream_column",
            "And its column `revenue`?",
            ("upstream", REPORT, "--column", "revenue"),
            lambda lineage: lineage.upstream(REPORT, column="revenue"),
            closure_tree,
        ),
        _query(
            "as_of",
            "And before 13 November? Then the job did not use exchange rates:",
            ("upstream", REPORT, "--column", "revenue", "--depth", "1", "--as-of", as_of),
            lambda lineage: lineage.upstream(REPORT, column="revenue", depth=1, as_of=BEFORE_THE_CHANGE),
            closure_tree,
        ),
    ]


def _run_queries(store: Store) -> list[DemoQuery]:
    failed = store.runs(namespace="shop", state=RunState.FAIL)[0].run_id
    newest, previous = [run.run_id for run in store.runs(namespace="shop", job="daily_revenue", limit=2)]
    return [
        _query(
            "diff",
            "What exactly changed between the last two runs?",
            ("diff", previous, newest),
            lambda lineage: lineage.diff(previous, newest),
            run_diff,
        ),
        _query(
            "impact",
            "What breaks, and who must be informed, if the shop changes how it writes `amount`?",
            ("impact", "raw/orders", "--column", "amount"),
            lambda lineage: lineage.impact("raw/orders", column="amount"),
            impact_report,
        ),
        _query(
            "runs",
            "Which runs failed?",
            ("runs", "--state", "FAIL"),
            lambda lineage: lineage.runs(state=RunState.FAIL),
            lambda result: run_list(result, len(result) + 1, filtered=True),
        ),
        _query(
            "failed_run",
            "Why did that run fail?",
            ("run", failed),
            lambda lineage: lineage.run(failed),
            run_detail,
        ),
        DemoQuery(
            "verify",
            "And can you prove that these records were not changed?",
            ("verify",),
            _verify,
        ),
    ]


def _verify(store: Store) -> DemoAnswer:
    verified = store.verify()
    return DemoAnswer({"holds": True, **verified._asdict()}, partial(verification_text, verified))


def more_commands(url: str) -> list[str]:
    """Return further commands to try on the same store."""
    return [
        shlex.join(["headwater", *arguments, "--store", url])
        for arguments in (
            ("dataset", REPORT),
            ("downstream", "raw/orders", "--partition", "day=2026-11-11"),
            ("upstream", REPORT, "--partition", "day=2026-11-12"),
            ("impact", "erp.public.fx_rates"),
            ("runs", "--job", "enrich_orders", "--since", "2026-11-12"),
            ("audit", "--limit", "5", "--json"),
        )
    ]
