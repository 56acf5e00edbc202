"""Ingests events in batches: fast, and so that a refused event does not affect the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from headwater.cli.events import FileEvent, UnreadableFile
from headwater.errors import EventRefused
from headwater.formats.openlineage.event import read_event
from headwater.model.answers import Receipt
from headwater.model.runs import Problem
from headwater.store.store import Store

_MAX_BATCH_EVENTS = 200
_MAX_BATCH_BYTES = 8_000_000
"""Maximum size of a batch in memory; an event may have many megabytes."""


@dataclass
class IngestCounts:
    taken: int = 0
    duplicates: int = 0
    flagged: int = 0
    refused: int = 0


class IngestReport(Protocol):
    """Receives every result at once, so that nothing has to be kept in memory."""

    def progress(self, size: int) -> None: ...
    def flagged(self, event: FileEvent, problems: Iterable[Problem]) -> None: ...
    def refused(self, event: FileEvent | UnreadableFile, path: str, reason: str) -> None: ...


class FileIngest:
    def __init__(self, store: Store, report: IngestReport, *, strict: bool) -> None:
        self.counts = IngestCounts()
        self._store = store
        self._report = report
        self._strict = strict

    def ingest(self, result: Iterable[FileEvent | UnreadableFile]) -> None:
        try:
            self._ingest_all(result)
        except _StrictStop:
            return

    def _ingest_all(self, result: Iterable[FileEvent | UnreadableFile]) -> None:
        batch: list[FileEvent] = []
        size = 0
        for item in result:
            if isinstance(item, UnreadableFile):
                self._ingest_batch(batch)
                batch, size = [], 0
                self._refuse(item, "$", item.reason)
                continue
            batch.append(item)
            size += item.size
            if len(batch) >= _MAX_BATCH_EVENTS or size >= _MAX_BATCH_BYTES:
                self._ingest_batch(batch)
                batch, size = [], 0
        self._ingest_batch(batch)

    def _ingest_batch(self, batch: list[FileEvent]) -> None:
        try:
            self._ingest_together(batch)
        except EventRefused:  # then none of them was stored
            self._ingest_together(self._valid_events(batch))

    def _ingest_together(self, batch: list[FileEvent]) -> None:
        receipts = self._store.ingest_many(event.raw for event in batch)
        for event, receipt in zip(batch, receipts, strict=True):
            self._count(event, receipt)

    def _valid_events(self, batch: list[FileEvent]) -> list[FileEvent]:
        """Return the valid events and report the others."""
        acceptable: list[FileEvent] = []
        for event in batch:
            try:
                read_event(event.raw)
            except EventRefused as refusal:
                if self._strict:
                    self._ingest_together(acceptable)
                self._refuse(event, refusal.path, refusal.reason)
            else:
                acceptable.append(event)
        return acceptable

    def _count(self, event: FileEvent, receipt: Receipt) -> None:
        if receipt.duplicate:
            self.counts.duplicates += 1
        else:
            self.counts.taken += 1
        if receipt.problems:
            self.counts.flagged += 1
            self._report.flagged(event, receipt.problems)
        self._report.progress(event.size)

    def _refuse(self, event: FileEvent | UnreadableFile, path: str, reason: str) -> None:
        self.counts.refused += 1
        self._report.refused(event, path, reason)
        if isinstance(event, FileEvent):
            self._report.progress(event.size)
        if self._strict:
            raise _StrictStop


class _StrictStop(Exception):
    """An event was refused in strict mode."""
