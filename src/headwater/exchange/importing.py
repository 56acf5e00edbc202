"""Imports a lineage file: validated completely before the first event, and stored in transactions of limited size."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from headwater.exchange.opening import DetectedFormat, LineageFile
from headwater.exchange.validating import EVENTS, checked_events, element_counts
from headwater.formats.openlineage.event import RawEvent, read_event
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.events import node_event
from headwater.formats.wia.flat import time_text
from headwater.formats.wia.graph_check import GraphCheck
from headwater.model.audit import Actor
from headwater.model.exchange import ImportResult
from headwater.store.exchange.staging import Staging
from headwater.store.store import Store

_MAX_EVENTS = 500
_MAX_BYTES = 8 * 2**20


def import_file(store: Store, path: str | Path, *, actor: Actor | None = None) -> ImportResult:
    opened = LineageFile(Path(path))
    if opened.format is DetectedFormat.OPENLINEAGE:
        number = sum(1 for _ in checked_events(opened))
        new, duplicates = store.take_stream(_portions(line for _, line in opened.events()), actor=actor)
        return ImportResult(opened.name, opened.format, {EVENTS: number}, new + duplicates, duplicates)
    check = GraphCheck()
    with Staging() as staging:
        head = stage_graph(opened, check, staging)
        for event in events_of(staging, head["generated_at"]):
            read_event(event)  # refused before the first is stored
        new, duplicates = store.take_stream(_portions(events_of(staging, head["generated_at"])), actor=actor)
    return ImportResult(opened.name, opened.format, element_counts(check), new + duplicates, duplicates)


def stage_graph(opened: LineageFile, check: GraphCheck, staging: Staging) -> Document:
    """Stage the graph of a file if it is valid, and return its head, which has the time of its creation."""
    head: Document = {}
    newest = ""
    for kind, document in opened.elements():
        for error in check.check(kind, document):
            raise error
        staging.add(kind, document)
        if kind is ElementKind.GRAPH:
            head |= {name: value for name, value in document.items() if value is not None}
        else:
            newest = max(newest, document.get("updated_at") or "", document.get("created_at") or "")
    for error in check.finish():
        raise error
    # A file without a time is as old as its newest element, so that importing it again gives the same events.
    return {"generated_at": newest or time_text(datetime.now(UTC))} | head


def events_of(staging: Staging, at: str) -> Iterator[str]:
    """Yield one event for each node, with all its documents."""
    return (node_event(group, at) for group in staging.groups())


def _portions(events: Iterator[str]) -> Iterator[list[RawEvent]]:
    """Yield events in portions of limited size, each a transaction of the store."""
    while portion := _portion(events):
        yield portion


def _portion(events: Iterator[str]) -> list[RawEvent]:
    portion: list[RawEvent] = []
    size = 0
    for event in islice(events, _MAX_EVENTS):
        portion.append(event)
        size += len(event)
        if size > _MAX_BYTES:
            break
    return portion
