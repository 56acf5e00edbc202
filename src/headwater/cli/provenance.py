"""`headwater provenance`: who created, modified, accessed or deleted a dataset, and what for."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from headwater.cli.options import (
    DEFAULT_STORE,
    DatasetArgument,
    JsonOption,
    LimitOption,
    StoreOption,
    parse_moment,
)
from headwater.cli.output import open_store, show

provenance = typer.Typer(
    help="Show and state who created, modified, accessed or deleted a dataset.", no_args_is_help=False
)


@provenance.callback()
def _group() -> None:
    """Show and state who created, modified, accessed or deleted a dataset."""


@provenance.command("show")
def show_(
    dataset: DatasetArgument,
    event: Annotated[
        str | None, typer.Option("--event", metavar="EVENT", help="Only created, modified, accessed or deleted.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option("--since", parser=parse_moment, metavar="TIME", help="Only at or after this time."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--until", parser=parse_moment, metavar="TIME", help="Only before this time.")
    ] = None,
    limit: LimitOption = 100,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show who created, modified, accessed or deleted a dataset, the newest first."""
    from headwater.cli.render.provenance import provenance_list

    with open_store(store) as lineage:
        found = lineage.provenance(dataset, event=event, since=since, until=until, limit=limit)
    filtered = any(value is not None for value in (event, since, until))
    show(found, as_json, lambda answer: provenance_list(answer, limit, filtered))


@provenance.command()
def state(
    dataset: DatasetArgument,
    event: Annotated[
        str, typer.Option("--event", metavar="EVENT", help="What happened: created, modified, accessed or deleted.")
    ],
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="TYPE:ID", help="Who: `user:ID`, `service:ID` or `job:ID`; you unless told."),
    ] = None,
    agent_name: Annotated[
        str | None, typer.Option("--agent-name", metavar="NAME", help="What the agent is called.")
    ] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", metavar="TYPE", help="read, write, transform or export.")
    ] = None,
    method: Annotated[str | None, typer.Option("--method", metavar="TEXT", help="How it was done, like `csv`.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", metavar="NAME=VALUE", help="With what; again for more.")
    ] = None,
    purpose: Annotated[str | None, typer.Option("--purpose", metavar="TEXT", help="What it was done for.")] = None,
    legal_basis: Annotated[
        str | None, typer.Option("--legal-basis", metavar="TEXT", help="By what right, as the GDPR asks.")
    ] = None,
    retention_period: Annotated[
        str | None, typer.Option("--retention-period", metavar="TEXT", help="How long it is kept, like `P1Y`.")
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option("--sensitivity", metavar="LEVEL", help="public, internal, confidential or restricted."),
    ] = None,
    at: Annotated[
        datetime | None, typer.Option("--at", parser=parse_moment, metavar="TIME", help="When; now unless told.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """State what no run tells: that somebody accessed, created, modified or deleted a dataset, and what for."""
    from headwater.cli.render.provenance import provenance_stated

    who = _agent(agent, agent_name)
    done: dict[str, Any] = {"type": operation, "method": method}
    if parameter:
        done["parameters"] = dict(map(_parameter, parameter))
    with open_store(store) as lineage:
        receipt = lineage.state_provenance(
            dataset,
            event,
            agent=who,
            operation=done,
            purpose=purpose,
            legal_basis=legal_basis,
            retention_period=retention_period,
            sensitivity=sensitivity,
            at=at,
        )
    show(receipt, as_json, provenance_stated)


def _agent(text: str | None, name: str | None) -> dict[str, Any] | None:
    if text is None:
        if name is not None:
            raise typer.BadParameter("a name is somebody's: say who with --agent TYPE:ID.", param_hint="--agent-name")
        return None
    kind, colon, own_id = text.partition(":")
    if not colon or not own_id:
        raise typer.BadParameter(f"'{text}' is not TYPE:ID, like `user:ann`.", param_hint="--agent")
    return {"type": kind, "id": own_id, "name": name}


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"'{text}' is not NAME=VALUE.", param_hint="--parameter")
    return name, value
