"""`headwater audit`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, StoreOption
from headwater.cli.output import open_store, show


def audit(
    event_type: Annotated[
        str | None,
        typer.Option("--event-type", metavar="TYPE", help="Only entries of this type, like `event.ingested`."),
    ] = None,
    actor: Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Only entries by this actor.")] = None,
    resource: Annotated[
        str | None, typer.Option("--resource", metavar="ID", help="Only entries about this run id, job or dataset.")
    ] = None,
    correlation_id: Annotated[
        str | None, typer.Option("--correlation-id", metavar="ID", help="Only entries of this request.")
    ] = None,
    before: Annotated[
        int | None,
        typer.Option("--before", min=1, max=2**63 - 1, metavar="N", help="Only entries before this sequence number."),
    ] = None,
    limit: LimitOption = 100,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List the entries of the audit log, newest first."""
    from headwater.cli.render.audit import audit_list

    with open_store(store) as lineage:
        result = lineage.audit(
            event_type=event_type,
            actor=actor,
            resource=resource,
            correlation_id=correlation_id,
            before=before,
            limit=limit,
        )
    filtered = any(value is not None for value in (event_type, actor, resource, correlation_id, before))
    show(result, as_json, lambda answer: audit_list(answer, limit, filtered))
