"""The data flows that a run or a declaration states, in the names that it uses.

For each output the strongest statement counts: its `lineage` entries, else its `columnLineage`, else all inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracles.event_facts import Json, Name, Use, dataset_name, job_name

BASES = ("lineage", "columnLineage", "inputs")
"""What an edge may rest on, strongest first."""


class ColumnFact(NamedTuple):
    upstream: Name
    upstream_column: str | None
    downstream: Name
    downstream_column: str | None
    dependency: str
    subtype: str | None
    masking: bool
    logic: str | None


@dataclass
class Flow:
    """What one writer put into one output, in the names it used."""

    target: Name
    upstreams: dict[Name, str] = field(default_factory=dict)
    """Each with its basis."""
    columns: set[ColumnFact] = field(default_factory=set)
    shared: frozenset[Name] = frozenset()
    """Inputs that flow into it through a hub, which it shares with the other targets of its kind."""


def flows_of(
    job: Name | None, inputs: Mapping[Name, Use], outputs: Mapping[Name, Use], entries: list[Json], most_edges: int
) -> list[Flow]:
    """``most_edges``: above this many unstated pairs of inputs and outputs, the inputs flow through a hub."""
    explicit: dict[Name, Flow] = {}
    for entry in entries:
        target = _entity(entry, job)
        take_lineage(explicit.setdefault(target, Flow(target)), entry, job)
    implicit = {name: Flow(name) for name in outputs if name not in explicit}
    for name, flow in implicit.items():
        take_column_lineage(flow, outputs[name].facets.get("columnLineage", {}))
    mentioned = {upstream for flow in [*explicit.values(), *implicit.values()] for upstream in flow.upstreams}
    without_any = [flow for flow in implicit.values() if not flow.upstreams]
    with_some = [flow for flow in implicit.values() if flow.upstreams]
    for flows, rest in ((without_any, [*inputs]), (with_some, [name for name in inputs if name not in mentioned])):
        read = sum(len(inputs[name].partitions) or 1 for name in rest)
        written = sum(len(outputs[flow.target].partitions) or 1 for flow in flows)
        for flow in flows:
            if read * written > most_edges:
                flow.shared = frozenset(rest)
            else:
                flow.upstreams |= dict.fromkeys(rest, "inputs")
    return [*explicit.values(), *implicit.values()]


def _entity(item: Json, own_job: Name | None) -> Name:
    if item["type"] == "DATASET":
        return dataset_name(item)
    if "name" in item:
        return job_name(item)
    assert own_job is not None
    return own_job


def take_lineage(flow: Flow, entry: Json, own_job: Name | None) -> None:
    for item in entry.get("inputs") or []:
        upstream = _entity(item, own_job)
        if upstream != own_job:
            flow.upstreams[upstream] = "lineage"
            if "field" in item:
                flow.columns |= _column_facts(upstream, item["field"], flow.target, None, item, "INDIRECT")
    for column, spec in (entry.get("fields") or {}).items():
        for item in spec["inputs"]:
            upstream = _entity(item, own_job)
            if upstream != own_job:
                flow.upstreams[upstream] = "lineage"
                flow.columns |= _column_facts(upstream, item.get("field"), flow.target, column, item, "DIRECT")


def take_column_lineage(flow: Flow, facet: Json) -> None:
    for column, spec in facet.get("fields", {}).items():
        for item in spec["inputFields"]:
            upstream = dataset_name(item)
            flow.upstreams[upstream] = "columnLineage"
            flow.columns |= _column_facts(upstream, item["field"], flow.target, column, item, "DIRECT")
    for item in facet.get("dataset", []):
        upstream = dataset_name(item)
        flow.upstreams[upstream] = "columnLineage"
        flow.columns |= _column_facts(upstream, item["field"], flow.target, None, item, "INDIRECT")


def _column_facts(
    upstream: Name, upstream_column: str | None, target: Name, column: str | None, item: Json, default: str
) -> set[ColumnFact]:
    stated = item.get("transformations")
    if not stated:
        return {ColumnFact(upstream, upstream_column, target, column, default, None, False, None)}
    return {
        ColumnFact(
            upstream,
            upstream_column,
            target,
            column,
            how["type"],
            how.get("subtype"),
            how.get("masking", False),
            how.get("description"),
        )
        for how in stated
    }


def summary(columns: Iterable[ColumnFact]) -> tuple[str, str | None]:
    """The type of an edge and its transformations, from its column edges."""
    stated = [fact.subtype for fact in columns if fact.dependency != "UNKNOWN"]
    subtypes = {subtype for subtype in stated if subtype}
    text = ", ".join(sorted(subtypes)) or None
    if subtypes & {"AGGREGATION", "GROUP_BY"}:
        return "aggregated_from", text
    if "JOIN" in subtypes:
        return "joined_with", text
    if "FILTER" in subtypes:
        return "filtered_from", text
    return ("projected_from" if stated and set(stated) == {"IDENTITY"} else "derived_from"), text
