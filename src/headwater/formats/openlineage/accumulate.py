"""What the events of one run state together.

Events of a run accumulate: datasets add up, a facet replaces an earlier one of its name, the last terminal event
decides the state. The result depends on the set of events alone, not on the order or number of their arrivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from headwater.formats.openlineage.event import Event, as_utc, parse_time
from headwater.formats.openlineage.text import is_storable
from headwater.model.names import Dataset, Job
from headwater.model.runs import DatasetUse, Facets, Problem, RunState


@dataclass(frozen=True)
class RunAccount:
    run_id: str
    job: Job
    state: RunState
    started_at: datetime | None
    ended_at: datetime | None
    last_event_at: datetime
    run_facets: Facets
    job_facets: Facets
    lineage_entries: tuple[object, ...]
    """Every entry of every `lineage` job facet: on run events these add up instead of replacing each other."""
    inputs: tuple[DatasetUse, ...]
    outputs: tuple[DatasetUse, ...]
    problems: tuple[Problem, ...]
    event_count: int


def accumulate(events: Iterable[Event]) -> RunAccount:
    """Fold the events of one run; there must be at least one."""
    ordered = sorted(events, key=lambda event: event.stamp)
    last = ordered[-1]
    assert last.run_id is not None
    assert last.job is not None
    end = max((e for e in ordered if run_state(e.event_type).terminal), key=lambda e: e.stamp, default=None)
    return RunAccount(
        run_id=last.run_id,
        job=last.job,
        state=run_state(end.event_type) if end else progress(e.event_type for e in ordered),
        started_at=min((e.time for e in ordered if e.event_type == "START"), default=None),
        ended_at=end.time if end else None,
        last_event_at=last.time,
        run_facets=merge_facets(e.run_facets or {} for e in ordered),
        job_facets=merge_facets(e.job_facets or {} for e in ordered),
        lineage_entries=tuple(entry for e in ordered for entry in lineage_entries(e.job_facets or {})),
        inputs=merge_uses(use for e in ordered for use in e.inputs),
        outputs=merge_uses(use for e in ordered for use in e.outputs),
        problems=tuple(problem for e in ordered for problem in e.problems),
        event_count=len(ordered),
    )


def run_state(event_type: str | None) -> RunState:
    return RunState.UNKNOWN if event_type in (None, "OTHER") else RunState(event_type)


def progress(event_types: Iterable[str | None]) -> RunState:
    """The state of a run that has not ended."""
    reached = {run_state(event_type) for event_type in event_types}
    for state in (RunState.RUNNING, RunState.START):
        if state in reached:
            return state
    return RunState.UNKNOWN


def merge_facets(layers: Iterable[Facets]) -> Facets:
    """Later layers replace whole facets of earlier ones; a facet marked `_deleted` removes its name."""
    merged: dict[str, object] = {}
    for layer in layers:
        merged.update(layer)
    return {name: facet for name, facet in merged.items() if not is_deleted(facet)}


def is_deleted(facet: object) -> bool:
    return isinstance(facet, Mapping) and facet.get("_deleted") is True


def lineage_entries(job_facets: Facets) -> list[object]:
    facet = job_facets.get("lineage")
    entries = facet.get("entries") if isinstance(facet, Mapping) and not is_deleted(facet) else None
    return entries if isinstance(entries, list) else []


def parent_run_id(run_facets: Facets) -> str | None:
    parent = run_facets.get("parent")
    run = parent.get("run") if isinstance(parent, Mapping) else None
    run_id = run.get("runId") if isinstance(run, Mapping) else None
    return run_id if isinstance(run_id, str) and is_storable(run_id) else None


def nominal_times(run_facets: Facets) -> tuple[datetime | None, datetime | None]:
    facet = run_facets.get("nominalTime")
    if not isinstance(facet, Mapping):
        return None, None
    start, end = parse_time(facet.get("nominalStartTime")), parse_time(facet.get("nominalEndTime"))
    return (as_utc(start) if start else None), (as_utc(end) if end else None)


def merge_uses(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Each dataset once, with everything that was stated about it; later uses take precedence."""
    by_dataset: dict[Dataset, list[DatasetUse]] = {}
    for use in uses:
        by_dataset.setdefault(use.dataset, []).append(use)
    return tuple(_merge_use(dataset, same) for dataset, same in sorted(by_dataset.items()))


def _merge_use(dataset: Dataset, uses: list[DatasetUse]) -> DatasetUse:
    return DatasetUse(
        dataset,
        merge_facets(use.facets for use in uses),
        merge_facets(use.io_facets for use in uses),
        tuple(sorted({name for use in uses for name in use.partitions})),
    )
