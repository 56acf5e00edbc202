"""The rows of the entities that events name, as the fold holds them in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from headwater.formats.openlineage.accumulate import is_deleted, nominal_times, parent_run_id, progress, run_state
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.facets import facet_text
from headwater.model.lineage import Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import Facets, RunState
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import FacetDocument
from headwater.store.schema.tables import to_micros

Stamp = tuple[int, str]
Stamps = dict[str, list[int | str]]
"""Of what a run has one value of: the stamp that its value came with, as a list of JSON."""


@dataclass
class _WithFacets:
    facets: FacetDocument

    def set_facets(self, facets: Facets, stamp: Stamp) -> set[str]:
        """Set the facets that are at least as new as the current ones; returns their names."""
        document = self.facets
        taken = {name for name in facets if name not in document or tuple(document[name][:2]) <= stamp}
        for name in taken:
            document[name] = [*stamp, facets[name]]
        return taken

    def facets_text(self) -> str:
        """As JSON. Facets are long and mostly the same in every event, so they are not put into words again."""
        stated = (
            f'{json.dumps(name)}:[{micros},"{digest}",{facet_text(body)}]'
            for name, (micros, digest, body) in self.facets.items()
        )
        return f"{{{','.join(stated)}}}"


@dataclass
class DatasetRow(_WithFacets):
    id: int
    key: bytes
    namespace: str
    name: str
    is_job: int
    canonical_id: int
    kind: str
    owner: str | None
    tags: list[str]
    contested: int
    first_seen: int | None
    last_seen: int | None

    @property
    def endpoint(self) -> Endpoint:
        return (Job if self.is_job else Dataset)(self.namespace, self.name)


@dataclass
class JobRow(_WithFacets):
    id: int
    key: bytes
    namespace: str
    name: str
    owner: str | None
    last_seen: int


@dataclass
class RunRow:
    """A run: a column of the table of runs is a field here, and is set from an event here."""

    id: int
    key: bytes
    run_id: str
    first_event_at: int
    last_event_at: int
    job_id: int = 0
    state: str = RunState.UNKNOWN
    started_at: int | None = None
    ended_at: int | None = None
    nominal_start: int | None = None
    nominal_end: int | None = None
    parent_run_id: str | None = None
    parent_key: bytes | None = None
    stamps: Stamps = field(default_factory=dict)
    stored: bool = True
    was_complete: bool = False
    """When it was read: whether there may be versions of it."""
    events: list[Event] | None = None
    """All of them, where they are at hand."""
    uses: set[tuple[int, str]] = field(default_factory=set)
    """Datasets and whether they are inputs or outputs, as far as events at hand say so."""
    stored_uses: set[tuple[int, str]] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        return self.state == RunState.COMPLETE

    def set_times_and_state(self, event: Event, micros: int, stamp: Stamp) -> None:
        state = run_state(event.event_type)
        self.first_event_at = min(self.first_event_at, micros)
        self.last_event_at = max(self.last_event_at, micros)
        if event.event_type == "START":
            self.started_at = micros if self.started_at is None else min(self.started_at, micros)
        if state.terminal:
            if self.is_newest("end", stamp):
                self.state, self.ended_at = state, micros
        elif "end" not in self.stamps:
            known_type = None if self.state == RunState.UNKNOWN else self.state
            self.state = progress([known_type, event.event_type])

    def set_facets(self, facets: Facets, stamp: Stamp) -> None:
        """The columns that come from facets of the run."""
        if "parent" in facets and self.is_newest("parent", stamp):
            self.parent_run_id = parent_run_id(facets)
            self.parent_key = key_of(self.parent_run_id) if self.parent_run_id is not None else None
        if "nominalTime" in facets and self.is_newest("nominalTime", stamp):
            start, end = nominal_times(facets)
            self.nominal_start = to_micros(start) if start else None
            self.nominal_end = to_micros(end) if end else None

    def is_newest(self, what: str, stamp: Stamp) -> bool:
        """Whether no later event has said this; if so, the stamp is noted."""
        if what in self.stamps and tuple(self.stamps[what]) > stamp:
            return False
        self.stamps[what] = list(stamp)
        return True


@dataclass(frozen=True)
class Group:
    """All versions of one dataset by one writer; what edges are folded from."""

    origin: Origin
    job_id: int | None
    dataset_id: int


class Newest(NamedTuple):
    """What has to be known of the last version before a new one."""

    id: int
    partition_id: int | None
    written_at: int
    tiebreak: bytes
    upstream_digest: bytes
    column_digest: bytes
    schema_digest: bytes | None

    @property
    def stamp(self) -> tuple[int, bytes]:
        return self.written_at, self.tiebreak


def live_facets(document: FacetDocument) -> Facets:
    return {name: body for name, (_, _, body) in document.items() if not is_deleted(body)}
