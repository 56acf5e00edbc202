"""`headwater prove`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def prove(
    seq: Annotated[
        int | None,
        typer.Argument(metavar="SEQ", min=1, help="Sequence number of an entry, as `headwater audit` lists it."),
    ] = None,
    since: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="N",
            min=0,
            help="Prove instead that entries were only appended since the log had N entries.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            metavar="N",
            min=1,
            help="Size of the log to prove against, as a checkpoint states it.",
            show_default="the whole log",
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Prove that the log contains an entry, or that it is append-only, by the hashes up to the root."""
    from headwater.cli.render.log import consistency_proof, inclusion_proof

    if (seq is None) == (since is None):
        raise CliError("Give SEQ, the entry to prove, or --from N, the earlier size of the log.")
    with open_store(store) as lineage:
        if seq is not None:
            show(lineage.inclusion(seq, size), as_json, inclusion_proof)
        elif since is not None:
            show(lineage.consistency(since, size), as_json, consistency_proof)
