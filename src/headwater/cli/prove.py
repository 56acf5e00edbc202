"""`headwater prove`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.failures import Mistake
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def prove(
    seq: Annotated[
        int | None, typer.Argument(metavar="SEQ", min=1, help="The number of an entry, as `headwater audit` has it.")
    ] = None,
    since: Annotated[
        int | None,
        typer.Option("--from", metavar="N", min=0, help="Instead: that the log only grew since it had N entries."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", metavar="N", min=1, help="In the log of so many entries, as of a checkpoint; else all."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Prove that an entry is in the log, or that the log only grew: the hashes that lead to the root."""
    from headwater.cli.render.log import consistency_proof, inclusion_proof

    if (seq is None) == (since is None):
        raise Mistake("Name an entry to prove, or --from how many entries on the log only grew.")
    with open_store(store) as lineage:
        if seq is not None:
            show(lineage.inclusion(seq, size), as_json, inclusion_proof)
        elif since is not None:
            show(lineage.consistency(since, size), as_json, consistency_proof)
