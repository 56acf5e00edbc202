"""`headwater run`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text, show

if TYPE_CHECKING:
    from headwater.model.answers import RunDetail
    from headwater.pipeline.items.stored_records import StoredItems

_DEFAULT_ITEMS = 20


def run(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="Id of a run, as `headwater runs` lists it.")],
    items: Annotated[bool, typer.Option("--items", help="Show the outcomes of the items of a pipeline run.")] = False,
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="REASON", help="Only items that ended for this reason, like DeadLettered."),
    ] = None,
    node: Annotated[
        str | None, typer.Option("--node", metavar="NAME", help="Only items that ended at this node.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only items of this source.")] = None,
    item: Annotated[
        str | None, typer.Option("--item", metavar="ID", help="Show one item with all its hops, by correlation id.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, metavar="N", help="Maximum number of items.", show_default=str(_DEFAULT_ITEMS)
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one run: inputs, outputs, lineage, error, children. With --items, the items of a pipeline run."""
    from headwater.cli.render.runs import run_detail

    with open_store(store) as lineage:
        detail = lineage.run(run_id)
    if item is not None:
        _print_item(detail, item, as_json)
    elif items or any(option is not None for option in (reason, node, source, limit)):
        _print_items(detail, limit or _DEFAULT_ITEMS, as_json, reason=reason, node=node, source=source)
    else:
        show(detail, as_json, run_detail)


def _print_items(detail: RunDetail, limit: int, as_json: bool, **filters: str | None) -> None:
    from headwater.cli.render.items import item_list

    with _items(detail) as items:
        counts = items.counts(**filters)
        records = items.records(**filters, limit=limit)
    if as_json:
        document: dict[str, object] = {"run_id": detail.run.run_id, "counts": counts}
        print_json(document | {"items": [record.to_dict() for record in records]})
    else:
        print_text(item_list(counts, records, limit))


def _print_item(detail: RunDetail, item: str, as_json: bool) -> None:
    from headwater.cli.render.items import item_tree

    with _items(detail) as items:
        record = items.record(item)
    if record is None:
        raise CliError(f"Run {detail.run.run_id} has no record of item {item}.")
    if as_json:
        print_json(record.to_dict())
    else:
        print_text(item_tree(record))


def _items(detail: RunDetail) -> StoredItems:
    from headwater.formats.openlineage.facet_names import PIPELINE_FACET
    from headwater.pipeline.items.stored_records import StoredItems

    facet = detail.run_facets.get(PIPELINE_FACET)
    if facet is None:
        raise CliError(f"Run {detail.run.run_id} is not a pipeline run, so it has no items.")
    if "items" not in facet:
        raise CliError(
            f"Run {detail.run.run_id} has no item records: its lineage options disabled them, or it ended early."
        )
    return StoredItems(facet["items"]["location"])
