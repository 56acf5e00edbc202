"""With limited visibility every query has the model's answer, and no answer contains a hidden name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import cycle, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import QueryError, UnknownDataset, UnknownRun
from headwater.model.plain import plain
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.oracles.answers import (
    DIRECTIONS,
    check_catalog,
    check_closure,
    check_impact,
    check_runs,
    check_unknown,
    endpoint,
    nodes,
)
from tests.oracles.events import GRAPH, World, histories, show
from tests.oracles.profiles import LONG, QUICK
from tests.oracles.scratch_stores import ScratchStore
from tests.oracles.visible_model import VisibleModel

NAMESPACES = ("open", "opal", "vault", "crypt")
"""Of datasets and of jobs alike: what is hidden is hidden on both sides."""
PATTERNS = (*NAMESPACES, "op*", "v*")

MIXED = replace(
    GRAPH,
    datasets=tuple((namespace, f"{namespace}-{name}") for namespace in NAMESPACES for name in "ab"),
    jobs=(("open", "open-job"), ("opal", "opal-job"), ("vault", "vault-job")),
    runs=tuple(f"run-{number}" for number in range(12)),
    facets={"symlinks": 0, "schema": 2, "ownership": 2, "tags": 1, "version": 1},
    declared=5,
    stated=3,
)
RENAMED = replace(MIXED, facets={**(MIXED.facets or {}), "symlinks": 1})
GRAINS = ("dataset", "column", "partition")


@dataclass(frozen=True)
class Case:
    events: list[dict[str, Any]]
    patterns: list[str]

    def __repr__(self) -> str:
        return f"\n{show(self.events)}\nseen: {self.patterns}"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def cases(draw: st.DrawFn, world: World, most: int) -> Case:
    patterns = draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True))
    return Case(draw(histories(world, most)), patterns)


def check(lab: ScratchStore, case: Case, everything: bool = False) -> None:
    visibility = Visibility.of(case.patterns)
    store = lab.fresh()
    store.ingest_many(case.events)
    seen, model = store.visible_to(visibility), VisibleModel(case.events, visibility.sees, lab.most_edges)
    check_catalog(seen, model)
    check_runs(seen, model)
    moments = [None, *sorted({said.time for said in model.events})]
    depths = cycle((None, 1, 2))
    for node, moment in zip(nodes(model, GRAINS), cycle(moments), strict=False):
        for as_of in moments if everything else {None, moment}:
            question = replace(node, depth=next(depths), as_of=as_of)
            for direction in DIRECTIONS:
                check_closure(seen, model, question, direction)
            if question.partition is None:
                check_impact(seen, model, question)
    check_unknown(seen, model, ["nowhere", *GRAPH.columns], ["nowhere", *GRAPH.partitions])
    check_hidden(seen, model)
    for told in all_answers(seen, model):
        for namespace in NAMESPACES:
            assert visibility.sees(namespace) or namespace not in told, told


def check_hidden(seen: Store, model: VisibleModel) -> None:
    """Hidden names are unknown under their own name, and no suggestion contains them."""
    for name in model.full.names - model.names:
        with pytest.raises(UnknownDataset) as unknown:
            seen.dataset(endpoint(name))
        assert str(endpoint(name)) not in unknown.value.closest
    for run_id in model.full.runs.keys() - model.runs.keys():
        with pytest.raises(UnknownRun) as refused:
            seen.run(run_id)
        assert run_id not in refused.value.closest


def all_answers(seen: Store, model: VisibleModel, *, log: bool = True) -> Iterator[str]:
    """All answers that can be obtained without naming anything hidden; ``log``: also those of the log and of fully
    visible runs."""
    answers: list[Any] = [seen.datasets(limit=1000), seen.datasets("a"), seen.runs(limit=1000)]
    answers += [seen.audit(limit=1000), seen.certificates(), seen.output_facets("schema", limit=1000)] if log else []
    for name in model.names:
        named = endpoint(name)
        answers += [seen.dataset(named), seen.upstream(named), seen.downstream(named), seen.impact(named)]
        answers += [seen.runs(dataset=named, limit=1000), seen.provenance(named, limit=1000)]
        answers += [
            seen.pages.neighbourhood(named, upstream=3, downstream=3, limit=2, columns=True),
            seen.pages.column_links(named),
        ]
    answers += [seen.pages.map(), seen.pages.overview(), seen.pages.map(namespace="open")]
    answers += [seen.pages.find(text, kind="any", limit=1000) for text in ("a", "c1", "run-")]
    runs = list(model.runs)
    answers += [seen.run(run_id) for run_id in runs]
    answers += [seen.diff(one, other) for one, other in pairwise(runs)]
    yield from (json.dumps(plain(answer)) for answer in answers)
    for question in ("open", "vault", "a", ""):
        try:
            seen.upstream(question)
        except QueryError as refused:
            yield json.dumps(str(refused).replace(f"'{question}'", ""))


@QUICK(4)
@given(case=cases(MIXED, 10))
def test_random_graphs(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(3)
@given(case=cases(RENAMED, 8))
def test_aliases_across_the_visibility(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(2)
@given(case=cases(RENAMED, 8))
def test_random_graphs_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(4)
@given(case=cases(replace(MIXED, least_datasets=1, most_datasets=3), 8))
def test_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


# -- a store that was only given what is seen -------------------------------------------------------------------------


def comparable(case: Case, sees: Any) -> list[dict[str, Any]]:
    """The history without what makes the two differ (docs/access.md): moments and runs that two events share across
    visibility, and sources stated by an event of which a part is hidden."""
    events = []
    for number, event in enumerate(deepcopy(case.events)):
        event["eventTime"] = f"2026-11-15T10:00:00.{number:06}Z"
        for facets in _facets_of(event) if visible_part(event, sees) != [event] else ():
            facets.pop("lineage", None)
            facets.pop("columnLineage", None)
        if "run" in event:
            event["run"]["runId"] += event["job"]["namespace"]
            parent = event["run"].get("facets", {}).get("parent")
            if parent is not None:
                parent["run"]["runId"] += parent["job"]["namespace"]
        events.append(event)
    return events


def _facets_of(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    owners = [event.get("job", {}), event.get("dataset", {}), *event.get("inputs", []), *event.get("outputs", [])]
    yield from (owner["facets"] for owner in owners if "facets" in owner)


def visible_part(event: dict[str, Any], sees: Any) -> list[dict[str, Any]]:
    """The part of an event that concerns a reader with this visibility, as events with nothing else."""
    left = VisibleModel([], sees)._redacted(event)
    uses = [use for key in ("inputs", "outputs") for use in event.get(key, []) if sees(use["namespace"])]
    if "dataset" in event or left:
        return [left] if "job" in left or "dataset" in left else []
    said: dict[str, Any] = {}
    for use in uses:  # of a hidden job, only what it says of the datasets themselves
        said.setdefault(use["namespace"] + use["name"], []).append(use)
    return [
        {
            **{key: event[key] for key in ("eventTime", "producer", "schemaURL")},
            "dataset": {
                **{key: same[0][key] for key in ("namespace", "name")},
                "facets": {
                    name: facet
                    for use in same
                    for name, facet in VisibleModel([], sees)._redacted(use.get("facets", {})).items()
                    if name not in ("columnLineage", "lineage")
                },
            },
        }
        for same in said.values()
    ]


@QUICK(3)
@given(case=cases(MIXED, 10))
def test_as_if_the_store_had_received_only_the_visible_part(memory_lab: ScratchStore, case: Case) -> None:
    visibility = Visibility.of(case.patterns)
    events = comparable(case, visibility.sees)
    store = memory_lab.fresh()
    store.ingest_many(events)
    model = VisibleModel(events, visibility.sees)
    with_everything = without_problems(all_answers(store.visible_to(visibility), model, log=False))
    store = memory_lab.fresh()
    store.ingest_many(part for event in events for part in visible_part(event, visibility.sees))
    assert without_problems(all_answers(store.visible_to(visibility), model, log=False)) == with_everything


def without_problems(answers: Iterator[str]) -> list[Any]:
    """Problems of events are not shown for a partly visible run: their positions would reveal the hidden part."""
    told = [json.loads(answer) for answer in answers]
    return [{k: v for k, v in one.items() if k != "problems"} if isinstance(one, dict) else one for one in told]


@pytest.mark.long
@LONG(200)
@given(case=cases(RENAMED, 16))
def test_every_query_with_limited_visibility(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case, everything=True)
