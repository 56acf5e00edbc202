"""`headwater diff`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def diff(
    run_a: Annotated[str, typer.Argument(metavar="RUN_A", help="Id of the baseline run.")],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="Id of the run to compare with it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show how RUN_B differs from RUN_A: inputs, outputs, schemas, column lineage."""
    from headwater.cli.render.diff import run_diff

    with open_store(store) as lineage:
        result = lineage.diff(run_a, run_b)
    show(result, as_json, run_diff)
