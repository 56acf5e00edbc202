"""The provenance of every dataset equals a loop over all runs and events, complete, in parts and in pages."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.plain import plain
from headwater.model.provenance import Provenance, ProvenanceEvent
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.oracles.answers import endpoint, moment
from tests.oracles.event_facts import EventFacts, micros
from tests.oracles.events import ALIASES, COLLISIONS, LIVES, World, histories
from tests.oracles.model import Model
from tests.oracles.profiles import LONG, QUICK
from tests.oracles.provenance import FACET, LIFECYCLE, Action, actions
from tests.oracles.scratch_stores import ScratchStore
from tests.oracles.test_visibility import MIXED, NAMESPACES, RENAMED, Case, cases
from tests.oracles.visible_model import VisibleModel

CHANGES = ("CREATE", "OVERWRITE", "DROP", "ALTER", "TRUNCATE", "RENAME")
CONTEXTS: tuple[Any, ...] = (
    {"context": {"purpose": "audit"}},
    {"agent": {"type": "user", "id": "ann"}, "context": {"purpose": "billing", "sensitivity_level": "internal"}},
    {"_deleted": True},
)
STATEMENTS: tuple[Any, ...] = (
    {"event_type": "accessed", "agent": {"type": "user", "id": "ann"}, "operation": {"type": "export"}},
    {"event_type": "created", "agent": {"type": "service", "id": "loader"}},
    {"event_type": "deleted", "context": {"purpose": "erasure"}},
    {"_deleted": True},
)


@st.composite
def with_provenance(draw: st.DrawFn, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same events, some of which also state an operation, a purpose and an agent."""
    events = deepcopy(events)
    for event in events:
        for use in [*event.get("outputs", []), *([event["dataset"]] if "dataset" in event else [])]:
            if draw(st.integers(0, 2)) == 2:
                change: Any = {LIFECYCLE: draw(st.sampled_from(CHANGES))}
                use.setdefault("facets", {})[LIFECYCLE] = {"_deleted": True} if draw(st.integers(0, 9)) > 8 else change
        if "run" in event and draw(st.integers(0, 2)) == 2:
            event["run"].setdefault("facets", {})[FACET] = draw(st.sampled_from(CONTEXTS))
        if "dataset" in event and draw(st.booleans()):
            event["dataset"].setdefault("facets", {})[FACET] = draw(st.sampled_from(STATEMENTS))
    return events


def stories(world: World, most: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    return histories(world, most).flatmap(with_provenance)


def check(lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    store = lab.fresh()
    store.ingest_many(events)
    model = Model(events)
    for name in {model.resolve(name) for name in model.names if name[0] == "dataset"}:
        right = actions(model, name)
        named = endpoint(name)
        assert [as_action(one, deed) for one, deed in both(store.provenance(named), right)] == right, name
        for event in ProvenanceEvent:
            wanted = [deed for deed in right if deed.event == event]
            assert len(store.provenance(named, event=event)) == len(wanted)
            assert [one.run_id for one in paged(store, name, event)] == [deed.run_id for deed in wanted]
        assert paged(store, name) == store.provenance(named)
        for at in sorted({deed.at for deed in right})[:2]:
            since = store.provenance(named, since=moment(at))
            assert [one.run_id for one in since] == [deed.run_id for deed in right if deed.at >= at]
            until = store.provenance(named, until=moment(at))
            assert [one.run_id for one in until] == [deed.run_id for deed in right if deed.at < at]
        ids = [one.provenance_id for one in store.provenance(named)]
        assert len(set(ids)) == len(ids)
        for alias in model.aliases(name):
            assert store.provenance(endpoint(alias)) == store.provenance(named)


def both(found: list[Provenance], right: list[Action]) -> list[tuple[Provenance, Action]]:
    assert len(found) == len(right), (found, right)
    return list(zip(found, right, strict=True))


def as_action(one: Provenance, like: Action) -> Action:
    """The store's answer in the model's types; fields that only order the list are omitted."""
    assert one.event is not None
    assert one.at is not None
    assert (one.run_id is None, one.job is None) == (one.stated, one.stated)
    words = (one.operation.type, one.operation.method, one.agent.id, one.context.purpose)
    return Action(micros(one.at), like.key, like.rank, str(one.event), one.run_id, *words)


def paged(store: Store, name: Any, event: ProvenanceEvent | None = None) -> list[Provenance]:
    found: list[Provenance] = []
    cursor = None
    while True:
        page = store.pages.provenance(endpoint(name), event=event, cursor=cursor, limit=2)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


@QUICK(10)
@given(events=stories(COLLISIONS, 12))
def test_random_histories(memory_lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    check(memory_lab, events)


@QUICK(6)
@given(events=stories(ALIASES, 10))
def test_moving_names(memory_lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    check(memory_lab, events)


@QUICK(6)
@given(events=stories(LIVES, 14))
def test_repeated_final_events(memory_lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    check(memory_lab, events)


@QUICK(2)
@given(events=stories(ALIASES, 10))
def test_on_postgresql(postgres_lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    check(postgres_lab, events)


# -- with limited visibility ------------------------------------------------------------------------------------------


def check_visibility(lab: ScratchStore, case: Case) -> None:
    visibility = Visibility.of(case.patterns)
    store = lab.fresh()
    store.ingest_many(case.events)
    seen, model = store.visible_to(visibility), VisibleModel(case.events, visibility.sees)
    model.events = [
        without_free_text(said, model)
        for said in model.events
        if said.dataset is None or visibility.sees(said.dataset.name[1])
    ]
    for name in {model.resolve(name) for name in model.names if name[0] == "dataset"}:
        found = seen.provenance(endpoint(name))
        # What a run says of itself in facets of free text is only told of one that is seen whole.
        assert [without_words(as_action(one, deed)) for one, deed in both(found, actions(model, name))] == [
            without_words(deed) for deed in actions(model, name)
        ]
        text = json.dumps(plain(found))
        assert not [namespace for namespace in NAMESPACES if not visibility.sees(namespace) and namespace in text]


def without_free_text(said: EventFacts, model: VisibleModel) -> EventFacts:
    """A dataset's own event that is partly hidden shows facets that name things as objects, and no free text."""
    if said.dataset is None or model._redacted(said.body) == said.body:
        return said
    body = deepcopy(said.body)
    body["dataset"].get("facets", {}).pop(FACET, None)
    left = EventFacts(body)
    left.__dict__["digest"] = said.digest  # by which events of one moment are ordered
    return left


def without_words(deed: Action) -> Action:
    return replace(deed, agent=None, purpose=None) if deed.run_id is not None else deed


@st.composite
def limited(draw: st.DrawFn, world: World, most: int) -> Case:
    case = draw(cases(world, most))
    return Case(draw(with_provenance(case.events)), case.patterns)


@QUICK(8)
@given(case=limited(MIXED, 10))
def test_with_limited_visibility(memory_lab: ScratchStore, case: Case) -> None:
    check_visibility(memory_lab, case)


@QUICK(4)
@given(case=limited(RENAMED, 8))
def test_aliases_across_the_visibility(memory_lab: ScratchStore, case: Case) -> None:
    check_visibility(memory_lab, case)


@pytest.mark.long
@LONG(100)
@given(events=stories(ALIASES, 16))
def test_long_histories(memory_lab: ScratchStore, events: list[dict[str, Any]]) -> None:
    check(memory_lab, events)
