"""The rows of the entities that events name, as the fold holds them in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from headwater.formats.openlineage.accumulate import is_deleted
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.facets import facet_text
from headwater.model.lineage import Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import Facets, RunState
from headwater.store.schema.stored_rows import FacetDocument

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
    id: int
    key: bytes
    run_id: str
    job_id: int
    state: str
    started_at: int | None
    ended_at: int | None
    first_event_at: int
    last_event_at: int
    nominal_start: int | None
    nominal_end: int | None
    parent_run_id: str | None
    parent_key: bytes | None
    stamps: Stamps
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
