"""Decoded JSON equals the original; JSON of another shape is refused by its field."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any, get_type_hints

import pytest

from headwater.model import (
    answers,
    audit,
    certificates,
    lineage,
    log,
    overview,
    pages,
    picture,
    provenance,
    quality,
    runs,
    tasks,
    versions,
)
from headwater.model.names import Dataset, Job
from headwater.model.plain import plain
from headwater.remote.decoding import ShapeError, decode, decode_closure, decode_page, decoder

RUN: dict[str, Any] = {
    "run_id": "r",
    "job": {"type": "job", "namespace": "n", "name": "j"},
    "state": "COMPLETE",
    "started_at": None,
    "ended_at": "2026-11-15T06:00:00.000001Z",
    "last_event_at": "2026-11-15T07:00:00+01:00",
    "nominal_start": None,
    "nominal_end": None,
    "parent_run_id": None,
}
NODE: dict[str, Any] = {
    "endpoint": {"namespace": "n", "name": "a"},
    "part": None,
    "depth": 1,
    "dependency": None,
    "via": {
        **dict.fromkeys(("job", "run_id", "basis", "type", "transformation", "dependency", "masking", "logic")),
        "origin": "run",
        "via_job": False,
    },
    "path": ["n/a"],
    "parent": None,
}
HEAD: dict[str, Any] = {
    "endpoint": {"namespace": "n", "name": "z"},
    "part": None,
    "grain": "dataset",
    "direction": "upstream",
    "max_depth": 100,
    "as_of": None,
    "truncated": False,
    "in_cycle": False,
}


def test_a_run_is_restored() -> None:
    run = decode(runs.Run, RUN)
    assert run.job == Job("n", "j")
    assert run.state is runs.RunState.COMPLETE
    assert run.ended_at is not None
    assert run.ended_at.isoformat() == "2026-11-15T06:00:00.000001+00:00"
    assert decode(runs.Run, json.loads(json.dumps(plain(run)))) == run


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"state": "ASLEEP"}, "$.state"),
        ({"state": None}, "$.state"),
        ({"run_id": 7}, "$.run_id"),
        ({"job": {"namespace": "n", "name": "j"}}, "$.job.type"),
        ({"job": {"type": "dataset", "namespace": "n", "name": "j"}}, "$.job.type"),
        ({"job": {"type": "job", "namespace": "n", "name": "j", "owner": "o"}}, "$.job.owner"),
        ({"started_at": "yesterday"}, "$.started_at"),
        ({"started_at": "2026-11-15T06:00:00"}, "$.started_at"),
        ({"started_at": 7}, "$.started_at"),
        ({"mood": "good"}, "$.mood"),
    ],
)
def test_another_shape_is_refused_by_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ShapeError) as refused:
        decode(runs.Run, RUN | change)
    assert refused.value.field == field


def test_a_missing_member_is_refused_though_it_could_be_none() -> None:
    for name in RUN:
        with pytest.raises(ShapeError, match=rf"\$\.{name}: it is missing"):
            decode(runs.Run, {key: value for key, value in RUN.items() if key != name})


@pytest.mark.parametrize("page", [[], None, {"items": []}, {"items": {}, "next": None}, {"items": [], "next": 1}])
def test_a_page_of_another_shape_is_refused(page: Any) -> None:
    with pytest.raises(ShapeError):
        decode_page(runs.Run, page)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, True),
        (int, 1.0),
        (float, "1"),
        (float, True),
        (bool, 1),
        (str, None),
        (tuple[int, int], [1]),
        (list[int], {}),
    ],
)
def test_scalars_keep_their_types(kind: Any, value: Any) -> None:
    with pytest.raises(ShapeError):
        decoder(kind)(value, "$")


def test_a_node_has_its_parent() -> None:
    behind = {**NODE, "depth": 2, "endpoint": {"namespace": "n", "name": "b"}}
    near = {"endpoint": NODE["endpoint"], "part": None}
    first, second = decode_closure(HEAD, [NODE, {**behind, "parent": near}]).nodes
    assert second.parent is first
    assert (first.parent, first.endpoint) == (None, Dataset("n", "a"))
    for parent in ({**near, "part": "x"}, {**near, "part": 7}, {"endpoint": near["endpoint"]}, "n/a"):
        with pytest.raises(ShapeError, match=r"nodes\[1\]\.parent"):
            decode_closure(HEAD, [NODE, {**behind, "parent": parent}])
    with pytest.raises(ShapeError, match=r"nodes\[0\]\.parent: it is missing"):
        decode_closure(HEAD, [{name: value for name, value in NODE.items() if name != "parent"}])


def test_every_class_of_answers_can_be_decoded() -> None:
    """Its annotations are supported: a field of a new kind fails this test."""
    modules = (answers, audit, certificates, lineage, log, overview, pages, picture, provenance, quality, runs, tasks)
    kinds = {
        kind
        for module in (*modules, versions)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__.startswith("headwater.model") and is_dataclass(kind)
    } - {answers.Node, answers.Closure, pages.Page, quality.Rule}
    assert len(kinds) > 40
    for kind in kinds:
        with pytest.raises(ShapeError):
            decoder(kind)({}, "$")
        for hint in get_type_hints(kind).values():
            assert callable(decoder(hint)), kind
