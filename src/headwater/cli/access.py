"""`headwater access`: the keys with which others come in over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption, parse_moment
from headwater.cli.output import open_store, show

access = typer.Typer(help="Look after the keys that open the HTTP server.", no_args_is_help=False)

ScopeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", "-s", metavar="SCOPE", help="`read`, `write`, `admin`; again for more. `read` unless told."
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace", "-n", metavar="NAME", help="Only this namespace, or `prefix*`; again for more. All unless told."
    ),
]
ExpiresOption = Annotated[
    datetime | None,
    typer.Option(
        "--expires", parser=parse_moment, metavar="TIME", help="Not good from then on: a date (00:00 UTC) or a time."
    ),
]


@access.callback()
def _group() -> None:
    """Look after the keys that open the HTTP server."""


@access.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whom or what it is for; the audit log names it.")],
    scope: ScopeOption = None,
    namespace: NamespaceOption = None,
    expires: ExpiresOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Make a key. It is shown this once."""
    from headwater.cli.render.access import key_added

    with open_store(store, create=True) as lineage:
        made = lineage.access.add(name, scopes=scope or ["read"], namespaces=namespace or ["*"], expires_at=expires)
    show(made, as_json, key_added)


@access.command("list")
def list_(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the keys, the oldest first. Their secrets are not kept, so they cannot be shown."""
    from headwater.cli.render.access import key_table

    with open_store(store) as lineage:
        found = lineage.access.keys()
    show(found, as_json, key_table)


@access.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id, or its name if only one key has it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key, and the sessions that were opened with it. For good."""
    from headwater.cli.render.access import key_revoked
    from headwater.store.access.keys import can_manage_keys

    with open_store(store) as lineage:
        could = any(map(can_manage_keys, lineage.access.keys()))
        revoked = lineage.access.revoke(key)
        can = any(map(can_manage_keys, lineage.access.keys()))
    show(revoked, as_json, key_revoked)
    if could and not can:
        typer.echo(
            "Warning: no key is left that can manage keys over HTTP. "
            "Make one with `headwater access add NAME --scope admin`.",
            err=True,
        )
