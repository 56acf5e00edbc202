"""The access keys of the HTTP server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import moment
from headwater.model.access import AccessKey, NewAccessKey


def key_created_text(created: NewAccessKey) -> RenderableType:
    key = created.key
    until = "" if key.expires_at is None else f" until {moment(key.expires_at)} UTC"
    return Group(
        Text(created.secret),
        join(["Key ", data(key.key_id), " (", data(key.name), f") may {', '.join(key.scopes)}{until} in "], "")
        + join([data(namespace) for namespace in key.namespaces], ", ")
        + Text("."),
        note("The key is shown only once. Send it as `Authorization: Bearer …`."),
    )


def key_table(keys: Sequence[AccessKey]) -> RenderableType:
    if not keys:
        return Text("The store has no access keys. Local clients need none.")
    rows = ResponsiveTable("Key", "Name", "Scopes", "Namespaces", "State", "Last used (UTC)")
    for key in keys:
        rows.add(
            data(key.key_id),
            data(key.name),
            Text(", ".join(key.scopes)),
            join([data(namespace) for namespace in key.namespaces], ", "),
            _state(key),
            Text("" if key.last_used is None else moment(key.last_used)),
        )
    return rows


def key_revoked_text(key: AccessKey) -> RenderableType:
    return join(["Key ", data(key.key_id), " (", data(key.name), ") is revoked."], "")


def _state(key: AccessKey) -> Text:
    if key.revoked_at is not None:
        return Text(f"revoked {moment(key.revoked_at)}", style="red")
    if key.expires_at is None:
        return Text("active", style="green")
    if key.expires_at <= datetime.now(UTC):
        return Text(f"expired {moment(key.expires_at)}", style="red")
    return Text(f"active until {moment(key.expires_at)}", style="green")
