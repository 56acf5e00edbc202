"""`headwater access`: manages the access keys of the HTTP server."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption, parse_moment
from headwater.cli.output import open_store, show

access = typer.Typer(help="Manage the access keys of the HTTP server.", no_args_is_help=False)

ScopeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", "-s", metavar="SCOPE", help="Scope: read, write or admin. Repeatable.", show_default="read"
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="A namespace that the key may see, or `prefix*`. Repeatable.",
        show_default="all namespaces",
    ),
]
ExpiresOption = Annotated[
    datetime | None,
    typer.Option(
        "--expires",
        parser=parse_moment,
        metavar="TIME",
        help="When the key expires: a date (00:00 UTC) or a time.",
        show_default="never",
    ),
]


@access.callback()
def _group() -> None:
    """Manage the access keys of the HTTP server."""


@access.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the holder; the audit log records it.")],
    scope: ScopeOption = None,
    namespace: NamespaceOption = None,
    expires: ExpiresOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Create an access key. It is shown only once."""
    from headwater.cli.render.access import key_created_text

    with open_store(store, create=True) as lineage:
        created = lineage.access.add(name, scopes=scope or ["read"], namespaces=namespace or ["*"], expires_at=expires)
    show(created, as_json, key_created_text)


@access.command("list")
def list_(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the access keys, oldest first. The secrets are not stored and cannot be shown."""
    from headwater.cli.render.access import key_table

    with open_store(store) as lineage:
        result = lineage.access.keys()
    show(result, as_json, key_table)


@access.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key, or its name if the name is unique.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Revoke an access key and its sessions. This cannot be undone."""
    from headwater.cli.render.access import key_revoked_text
    from headwater.store.access.keys import can_manage_keys

    with open_store(store) as lineage:
        was_manageable = any(map(can_manage_keys, lineage.access.keys()))
        revoked = lineage.access.revoke(key)
        is_manageable = any(map(can_manage_keys, lineage.access.keys()))
    show(revoked, as_json, key_revoked_text)
    if was_manageable and not is_manageable:
        typer.echo(
            "Warning: no remaining key can manage keys over HTTP. "
            "Create one with `headwater access add NAME --scope admin`.",
            err=True,
        )
