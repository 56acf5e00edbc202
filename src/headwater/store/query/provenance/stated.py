"""Stated provenance: events of a dataset itself, and imported documents."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select

from headwater.formats.openlineage.event import EventKind, as_utc, parse_time
from headwater.formats.openlineage.facet_names import PROVENANCE_FACET, WIA_FACET
from headwater.formats.openlineage.visibility import visible_event, without_hidden
from headwater.formats.provenance import (
    LIFECYCLE,
    agent_from,
    context_from,
    operation_from,
    read_lifecycle,
    read_provenance,
    write_provenance,
)
from headwater.formats.wia.checks import element_faults
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.events import HEADWATER_KEY, read_wia_facet
from headwater.formats.wia.ids import StableIds
from headwater.model.names import Dataset
from headwater.model.provenance import Provenance, ProvenanceEvent
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_document
from headwater.store.query.json_members import object_at
from headwater.store.query.provenance.uses import holds
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import FacetDocument, StoredName
from headwater.store.schema.tables import from_micros, to_micros

NEVER = -(2**62)
"""The place in the order of what has no time: after everything else."""
_OPERATIONS = {ProvenanceEvent.ACCESSED: "read"}


@dataclass(frozen=True)
class PositionedProvenance:
    """``position``: its place in the order of a list."""

    position: tuple[int, str, str]
    provenance: Provenance
    document: Document | None = None
    """As it was imported."""


def default_operation(kind: ProvenanceEvent | None) -> str:
    """The operation if none is stated."""
    return _OPERATIONS.get(kind, "write") if kind is not None else "write"


def stated_provenance(
    view: View, owners: Sequence[StoredName], mint: StableIds, *, imported: bool = True
) -> dict[int, list[PositionedProvenance]]:
    """By dataset, the newest first. ``owners`` are seen; ``imported``: also what imports brought."""
    named = {row.id: Dataset(row.namespace, row.name) for row in owners}
    found: dict[int, list[PositionedProvenance]] = {owner: [] for owner in named}
    for owner, one in (*_events(view, named, mint), *(_imported(view, named) if imported else ())):
        found[owner].append(one)
    for each in found.values():
        each.sort(key=lambda one: (-one.position[0], one.position[1]))
    return found


def _events(view: View, named: Mapping[int, Dataset], mint: StableIds) -> Iterator[tuple[int, PositionedProvenance]]:
    dataset, event = view.tables.dataset, view.tables.event
    query = (
        select(dataset.c.canonical_id, event.c.body, event.c.digest, event.c.event_time)
        .join(dataset, dataset.c.id == event.c.dataset_id)
        .where(
            view.one_of(dataset.c.canonical_id, named),
            event.c.kind == EventKind.DATASET,
            or_(holds(view, event, PROVENANCE_FACET), holds(view, event, LIFECYCLE)),
        )
    )
    for row in view.execute(query):
        said = json.loads(row.body)
        shown = said if view.is_everything else visible_event(said, view.sees, whole=True)
        document = _document(shown) if shown is not None else None
        if document is None:
            continue
        of, digest = named[row.canonical_id], row.digest.hex()
        own_id = mint.id("provenance", of.namespace, of.name, digest)
        provenance = _provenance(own_id, of, document, row.event_time)
        yield row.canonical_id, PositionedProvenance((row.event_time, digest, "stated"), provenance)


def _document(said: Mapping[str, object]) -> Document | None:
    facets = object_at(said, "dataset", "facets")
    document = read_provenance(facets)
    if document is not None and "event_type" in document:
        return document
    change = read_lifecycle(facets)
    if change is None:
        return None
    kind = write_provenance(change, first=False)
    # A dataset's own event says who tells of it, and nobody else.
    agent = {"type": "service", "id": said["producer"]}
    return {"event_type": str(kind), "agent": agent, "operation": {"type": "write", "method": change}}


def _provenance(own_id: str, of: Dataset, document: Document, micros: int | None) -> Provenance:
    kind = document.get("event_type")
    return Provenance(
        provenance_id=own_id,
        dataset=of,
        event=ProvenanceEvent(kind) if kind is not None else None,
        at=from_micros(micros) if micros is not None else None,
        agent=agent_from(document),
        operation=operation_from(document),
        context=context_from(document),
        stated=True,
        job=None,
        run_id=None,
    )


# -- imports --------------------------------------------------------------------------------------


def _imported(view: View, named: Mapping[int, Dataset]) -> Iterator[tuple[int, PositionedProvenance]]:
    dataset = view.tables.dataset_name
    facets: dict[int, list[FacetDocument]] = {}
    query = select(dataset.c.canonical_id, dataset.c.facets).where(view.one_of(dataset.c.canonical_id, named))
    names = (dataset.c.id != dataset.c.canonical_id, dataset.c.namespace, dataset.c.name)
    for row in view.execute(query.order_by(*names)):
        facets.setdefault(row.canonical_id, []).append(row.facets)
    documents = [
        (owner, document)
        for owner, each in facets.items()
        if any(WIA_FACET in one for one in each)
        for document in _visible(view, read_wia_facet(merged_document(each)).provenance)
        if not element_faults(ElementKind.PROVENANCE, document)
    ]
    here = _runs_here(view, {(owner, run_id) for owner, one in documents if (run_id := _run_id(one)) is not None})
    for owner, document in documents:
        if (owner, _run_id(document)) in here:
            continue  # what was exported from here: the run says so itself
        time = parse_time(document.get("event_time"))
        micros = to_micros(as_utc(time)) if time is not None else None
        given: str = document["provenance_id"]
        position = (NEVER if micros is None else micros, key_of(given).hex(), "stated")
        yield owner, PositionedProvenance(position, _provenance(given, named[owner], document, micros), document)


def _visible(view: View, documents: Sequence[Document]) -> Iterator[Document]:
    """An exported document about a run names the job, and is not shown if that job is hidden."""
    for document in documents:
        if view.is_everything or without_hidden(document, view.sees) is document:
            yield document


def _run_id(document: Document) -> str | None:
    own = document.get(HEADWATER_KEY)
    run_id = own.get("run_id") if isinstance(own, Mapping) else None
    return run_id if isinstance(run_id, str) else None


def _runs_here(view: View, wanted: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
    """Of datasets and runs: those that this store knows to have to do with each other."""
    dataset, run, run_dataset = view.tables.dataset, view.tables.run, view.tables.run_dataset
    if not wanted:
        return set()
    by_key = {key_of(run_id): run_id for _, run_id in wanted}
    query = (
        select(dataset.c.canonical_id, run.c.key)
        .join(run_dataset, run_dataset.c.run_id == run.c.id)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(view.one_of(dataset.c.canonical_id, {owner for owner, _ in wanted}))
    )
    keys, known = list(by_key), set()
    for start in range(0, len(keys), 500):
        for row in view.execute(query.where(run.c.key.in_(keys[start : start + 500]))):
            known.add((row.canonical_id, by_key[bytes(row.key)]))
    return known
