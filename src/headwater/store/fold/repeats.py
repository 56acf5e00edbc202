"""A job that says what it said last time.

From one day to the next a job mostly reads and writes the same, column by column. What its run comes to is then what
the last one came to, by another writer, if the names still stand for the same datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.formats.openlineage.event import Event
from headwater.model.names import Endpoint
from headwater.model.runs import DatasetUse

if TYPE_CHECKING:
    from headwater.store.fold.writes import Draft

StatementKey = tuple[object, ...]


@dataclass(frozen=True)
class RunOutcome:
    """What a run came to, and the events it came from: while these are kept, no other facet is at their address."""

    said: StatementKey
    events: Sequence[Event]
    names: Mapping[Endpoint, int]
    """All that are spoken of, with the dataset that each stood for."""
    drafts: Sequence[Draft]


def said_by(events: Iterable[Event]) -> StatementKey:
    """All that lineage is made of in the events of a run, in their order.

    Facets go by their identity: :mod:`~headwater.formats.openlineage.facet_cache` has equal ones be the same.
    """
    return tuple(
        (event.job, _uses(event.inputs), _uses(event.outputs), id((event.job_facets or {}).get("lineage")))
        for event in events
    )


def _uses(uses: Iterable[DatasetUse]) -> StatementKey:
    return tuple((use.dataset, use.partitions, tuple(use.facets), tuple(map(id, use.facets.values()))) for use in uses)
