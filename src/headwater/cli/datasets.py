"""`headwater datasets`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, StoreOption
from headwater.cli.output import open_store, show


def datasets(
    search: Annotated[
        str | None, typer.Argument(metavar="SEARCH", help="Part of a name or alias; case is ignored.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="NAME", help="Only datasets in this namespace.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Only this kind: table, view, report, model, file or stream."),
    ] = None,
    owner: Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Only datasets of this owner.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Only datasets with this tag.")] = None,
    limit: LimitOption = 100,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List datasets."""
    from headwater.cli.render.datasets import dataset_list

    with open_store(store) as lineage:
        result = lineage.datasets(search, namespace=namespace, kind=kind, owner=owner, tag=tag, limit=limit)
    filtered = any(value is not None for value in (search, namespace, kind, owner, tag))
    show(result, as_json, lambda answer: dataset_list(answer, limit, filtered))
