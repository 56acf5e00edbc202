"""`headwater records trace`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.records.options import ArchiveOption


def trace(
    root: Annotated[str, typer.Argument(metavar="ROOT", help="The root_id of the records.")],
    action: Annotated[
        str | None, typer.Option("--action", metavar="NAME", help="Only traces with this action.")
    ] = None,
    enqueue: Annotated[
        bool, typer.Option("--enqueue", help="Have a worker trace and archive the root at once.")
    ] = False,
    archive: ArchiveOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show the lineage of every record of a root, with its orphans, cycles and conflicts."""
    if enqueue and action is not None:
        raise CliError("--action filters what is shown, and --enqueue shows nothing. Use one of them.")
    with open_store(store) as lineage:
        records = lineage.records.at(archive)
        if enqueue:
            records.enqueue_trace(root)
        else:
            answer = records.trace(root)
    if enqueue:
        from rich.text import Text

        from headwater.cli.text import printable

        if as_json:
            print_json({"root_id": root, "enqueued": True})
        else:
            print_text(Text(f"{printable(root)} is on the trace queue. `headwater records work` archives it."))
        return
    if action is not None:
        answer = answer.only(action)
    if as_json:
        print_json(answer.document())
    else:
        from headwater.cli.render.records.tracing import root_tree

        print_text(root_tree(answer))
