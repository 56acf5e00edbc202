"""The provenance of a dataset."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import at_limit, data, join
from headwater.cli.text import moment
from headwater.model.answers import Receipt
from headwater.model.provenance import Context, Operation, Provenance, ProvenanceEvent

_STYLES = {
    ProvenanceEvent.CREATED: "green",
    ProvenanceEvent.MODIFIED: "yellow",
    ProvenanceEvent.ACCESSED: "cyan",
    ProvenanceEvent.DELETED: "bold red",
}


def provenance_list(events: Sequence[Provenance], limit: int, filtered: bool) -> RenderableType:
    if not events:
        return Text("No matching events." if filtered else "No provenance is recorded.")
    rows = ResponsiveTable("When (UTC)", "Event", "By", "Operation", "Purpose", "Run")
    for event in events:
        rows.add(
            Text(moment(event.at) if event.at is not None else "unknown", no_wrap=True),
            Text(event.event, style=_STYLES[event.event]) if event.event is not None else Text("unknown"),
            _agent(event),
            _operation(event.operation),
            _context(event.context),
            data(event.run_id) if event.run_id is not None else Text("stated"),
        )
    return Group(rows, *at_limit(events, limit))


def provenance_recorded_text(receipt: Receipt) -> RenderableType:
    status = "Already recorded." if receipt.duplicate else "Recorded."
    return join([status, " Event ", data(receipt.digest), "."], "")


def _agent(event: Provenance) -> Text:
    agent = event.agent
    # The name of a job is a part of its id.
    name = [data(f"({agent.name})")] if agent.name and agent.type != "job" else []
    words = [data(word) for word in (agent.type, agent.id) if word]
    return join([*words, *name], " ") if words or name else Text("unknown")


def _operation(operation: Operation) -> Text:
    return join([data(word) for word in (operation.type, operation.method) if word], " ")


def _context(context: Context) -> Text:
    kept = f"kept {context.retention_period}" if context.retention_period else None
    words = (context.purpose, context.legal_basis, kept, context.sensitivity_level)
    return join([data(word) for word in words if word], ", ")
