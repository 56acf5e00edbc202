"""`headwater run`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def run(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="As `headwater runs` lists it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one run whole: what it read and wrote, its lineage, its error, its children."""
    from headwater.cli.render.runs import run_detail

    with open_store(store) as lineage:
        found = lineage.run(run_id)
    show(found, as_json, run_detail)
