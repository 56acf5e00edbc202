"""The entries of the audit log."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import at_limit, data, join
from headwater.cli.text import moment
from headwater.model.audit import AuditEntry

_HASH_LENGTH = 12


def audit_list(entries: Sequence[AuditEntry], limit: int, filtered: bool) -> RenderableType:
    if not entries:
        return Text("No matching entries." if filtered else "The audit log is empty.")
    rows = ResponsiveTable("#", "When (UTC)", "Who", "What", "About", "Hash")
    for entry in entries:
        about = join([data(word) for word in (entry.resource_type, entry.resource_id) if word is not None], " ")
        who = data(entry.actor_id)
        what = data(" ".join(str(w) for w in (entry.event_type, entry.details.get("event_type")) if w is not None))
        when = Text(moment(entry.recorded_at))
        rows.add(Text(str(entry.seq)), when, who, what, about, Text(entry.hash[:_HASH_LENGTH]))
    return Group(rows, *at_limit(entries, limit))
