"""`headwater records find`"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, StoreOption, parse_moment
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.records.options import ArchiveOption


def find(
    root: Annotated[str | None, typer.Option("--root", metavar="ID", help="Only records of this root.")] = None,
    node: Annotated[str | None, typer.Option("--node", metavar="ID", help="Only this node.")] = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="NAME", help="Only records with this action.")
    ] = None,
    location: Annotated[
        str | None,
        typer.Option("--location", metavar="TEXT", help="Only records whose storage location begins with this."),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option("--since", parser=parse_moment, metavar="TIME", help="Only records from this time on."),
    ] = None,
    limit: LimitOption = 100,
    archive: ArchiveOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Find records, hot and archived, the newest first."""
    with open_store(store) as lineage:
        matches = lineage.records.at(archive).find(
            root=root, node=node, action=action, location=location, since=since, limit=limit
        )
    if as_json:
        print_json([match.document() for match in matches])
    else:
        from headwater.cli.render.records.listing import record_table

        print_text(record_table(matches, limit))
