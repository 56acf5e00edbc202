"""`headwater checkpoint`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.keys import KeyFileOption, key_ring
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show

AnchorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--anchor",
        metavar="PLACE",
        help="Anchor outside the store: a folder, an object store (s3://…) or a git repository (git:PATH). Repeatable.",
    ),
]


def checkpoint(
    anchor: AnchorOption = None,
    key_file: KeyFileOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Sign the current state of the log, and optionally publish the signed checkpoint to an anchor."""
    from headwater.assurance.anchors import open_anchor
    from headwater.cli.render.log import checkpoint_text

    anchors = [open_anchor(where) for where in anchor or ()]
    with open_store(store) as lineage:
        newest = [checkpoint for target in anchors for checkpoint in target.checkpoints()[-1:]]
        signed = lineage.checkpoint(key=key_ring(key_file), anchored=newest)
    for target in anchors:
        target.publish(signed.note)
    show(signed, as_json, checkpoint_text)
