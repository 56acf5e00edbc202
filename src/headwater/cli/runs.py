"""`headwater runs`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, SinceOption, StoreOption, UntilOption
from headwater.cli.output import open_store, show


def runs(
    job: Annotated[str | None, typer.Option("--job", metavar="NAME", help="Only runs of jobs with this name.")] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="NAME", help="Only runs of jobs in this namespace.")
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Only runs in this state: START, RUNNING, COMPLETE, FAIL, ABORT or UNKNOWN.",
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="DATASET", help="Only runs that read or wrote this dataset.")
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 100,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    from headwater.cli.render.runs import run_list

    with open_store(store) as lineage:
        result = lineage.runs(
            job=job, namespace=namespace, state=state, dataset=dataset, since=since, until=until, limit=limit
        )
    filtered = any(value is not None for value in (job, namespace, state, dataset, since, until))
    show(result, as_json, lambda answer: run_list(answer, limit, filtered))
