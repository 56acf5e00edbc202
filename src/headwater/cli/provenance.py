"""`headwater provenance`: who created, modified, accessed or deleted a dataset, and what for."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

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
    help="Show and record who created, modified, accessed or deleted a dataset.", no_args_is_help=False
)


@provenance.callback()
def _group() -> None:
    """Show and record who created, modified, accessed or deleted a dataset."""


@provenance.command("show")
def show_(
    dataset: DatasetArgument,
    event: Annotated[
        str | None,
        typer.Option("--event", metavar="EVENT", help="Only this event: created, modified, accessed or deleted."),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option("--since", parser=parse_moment, metavar="TIME", help="Only events at or after this time."),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option("--until", parser=parse_moment, metavar="TIME", help="Only events before this time."),
    ] = None,
    limit: LimitOption = 100,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show who created, modified, accessed or deleted a dataset, newest first."""
    from headwater.cli.render.provenance import provenance_list

    with open_store(store) as lineage:
        result = lineage.provenance(dataset, event=event, since=since, until=until, limit=limit)
    filtered = any(value is not None for value in (event, since, until))
    show(result, as_json, lambda answer: provenance_list(answer, limit, filtered))


EventOption = Annotated[
    str, typer.Option("--event", metavar="EVENT", help="Event: created, modified, accessed or deleted.")
]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="TYPE:ID", help="Agent: `user:ID`, `service:ID` or `job:ID`.", show_default="you"),
]
AgentNameOption = Annotated[str | None, typer.Option("--agent-name", metavar="NAME", help="Display name of the agent.")]
OperationOption = Annotated[
    str | None, typer.Option("--operation", metavar="TYPE", help="Operation: read, write, transform or export.")
]
MethodOption = Annotated[
    str | None, typer.Option("--method", metavar="TEXT", help="Method of the operation, like `csv`.")
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option("--parameter", metavar="NAME=VALUE", help="Parameter of the operation. Repeatable."),
]
PurposeOption = Annotated[str | None, typer.Option("--purpose", metavar="TEXT", help="Purpose of the operation.")]
LegalBasisOption = Annotated[
    str | None, typer.Option("--legal-basis", metavar="TEXT", help="Legal basis, as the GDPR requires.")
]
RetentionPeriodOption = Annotated[
    str | None, typer.Option("--retention-period", metavar="TEXT", help="Retention period of the data, like `P1Y`.")
]
SensitivityOption = Annotated[
    str | None,
    typer.Option("--sensitivity", metavar="LEVEL", help="Sensitivity: public, internal, confidential or restricted."),
]
AtOption = Annotated[
    datetime | None,
    typer.Option("--at", parser=parse_moment, metavar="TIME", help="Time of the event.", show_default="now"),
]


@provenance.command()
def state(
    dataset: DatasetArgument,
    event: EventOption,
    agent: AgentOption = None,
    agent_name: AgentNameOption = None,
    operation: OperationOption = None,
    method: MethodOption = None,
    parameter: ParameterOption = None,
    purpose: PurposeOption = None,
    legal_basis: LegalBasisOption = None,
    retention_period: RetentionPeriodOption = None,
    sensitivity: SensitivityOption = None,
    at: AtOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Record an action that no run reports: who created, modified, accessed or deleted a dataset, and why."""
    from headwater.cli.render.provenance import provenance_recorded_text

    agent_members = _agent(agent, agent_name)
    operation_members: dict[str, object] = {"type": operation, "method": method}
    if parameter:
        operation_members["parameters"] = dict(map(_parameter, parameter))
    with open_store(store) as lineage:
        receipt = lineage.state_provenance(
            dataset,
            event,
            agent=agent_members,
            operation=operation_members,
            purpose=purpose,
            legal_basis=legal_basis,
            retention_period=retention_period,
            sensitivity=sensitivity,
            at=at,
        )
    show(receipt, as_json, provenance_recorded_text)


def _agent(text: str | None, name: str | None) -> dict[str, str | None] | None:
    if text is None:
        if name is not None:
            raise typer.BadParameter("--agent-name needs --agent TYPE:ID.", param_hint="--agent-name")
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
