"""`headwater bundle`"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show

RunArgument = Annotated[str, typer.Argument(metavar="RUN_ID", help="Id of a run, as `headwater runs` lists it.")]


def bundle(
    run_id: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Output file.", show_default="RUN_ID.bundle.json"),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the evidence of a run to one file that can be verified without the store."""
    from headwater.cli.render.bundle import WrittenBundle, bundle_text

    with open_store(store) as lineage:
        content = lineage.bundle(run_id)
    file = out or file_named(run_id, ".bundle.json")
    file.write_bytes(content)
    show(WrittenBundle(file=str(file), bytes=len(content)), as_json, bundle_text)


def file_named(run_id: str, suffix: str) -> Path:
    """Return a file name in the current folder, with any special characters of the run id replaced."""
    return Path(re.sub(r"[^A-Za-z0-9_-]", "_", run_id)[:100] + suffix)
