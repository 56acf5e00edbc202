"""Renders matching records, dead letters, and the status of the ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import at_limit, data, join, note, properties
from headwater.cli.text import count_of, elide, moment
from headwater.model.records import DeadLetter, FoundRecord
from headwater.records.ledger import LedgerStatus


def record_table(matches: Sequence[FoundRecord], limit: int) -> RenderableType:
    if not matches:
        return Text("No matching records.")
    rows = ResponsiveTable("Node", "Root", "Parents", "Action", "When (UTC)", "Location", "State", lead=0)
    for match in matches:
        record = match.record
        rows.add(
            data(record.node_id, "cyan"),
            data(record.root_id),
            join([data(parent) for parent in record.parent_ids]),
            data(record.action_taken),
            Text(moment(record.recorded_at)),
            data(record.storage_location),
            note(f"{'archived' if match.archived else 'hot'}{', conflict' if match.conflict else ''}"),
        )
    return Group(rows, *at_limit(matches, limit))


def dead_letter_table(letters: Sequence[DeadLetter], limit: int) -> RenderableType:
    if not letters:
        return Text("There are no dead letters.")
    rows = ResponsiveTable("Number", "Kind", "Failed (UTC)", "Tries", "Reason", "Message", lead=0)
    for letter in letters:
        rows.add(
            Text(str(letter.id)),
            Text(letter.kind),
            Text(moment(letter.failed_at)),
            Text(str(letter.tries)),
            data(letter.reason),
            data(elide(json.dumps(letter.body, ensure_ascii=False), 120)),
        )
    return Group(rows, *at_limit(letters, limit))


def status_table(status: LedgerStatus) -> RenderableType:
    waiting = f"{count_of(status.load_waiting, 'record')} waiting, {status.load_taken:,} with workers"
    traces = f"{count_of(status.trace_waiting, 'root')} waiting, {status.trace_taken:,} with workers"
    archived = f"{count_of(status.archived, 'record')} in {count_of(status.files, 'file')}"
    at = status.last_compaction
    return properties(
        [
            ("To load", Text(waiting)),
            ("To trace", Text(traces)),
            ("Dead letters", Text(f"{status.dead_letters:,}")),
            ("Hot", Text(count_of(status.hot, "record"))),
            ("Archived", Text(archived)),
            ("Archive", data(status.archive) if status.archive is not None else Text("not configured")),
            ("Last commit", Text(f"{moment(at)} UTC") if at is not None else Text("none yet")),
        ]
    )
