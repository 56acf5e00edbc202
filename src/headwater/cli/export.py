"""`headwater export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, AsOfOption, DepthOption, JsonOption, StoreOption
from headwater.cli.output import open_store, show
from headwater.exchange.export_formats import format_names


def export(
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"Format: {format_names()}.",
        ),
    ] = "wia-json",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="Output file or folder.", show_default="a name with the current time"
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="DATASET", help="Only lineage of this dataset. Repeatable."),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="Direction from there: upstream, downstream or both.",
            show_default="both",
        ),
    ] = None,
    depth: DepthOption = None,
    as_of: AsOfOption = None,
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress the file with gzip.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Export lineage to a file, for other tools or for `headwater import`."""
    from headwater.cli.render.exchange import export_text

    with open_store(store) as lineage:
        result = lineage.export(
            out, format=format, datasets=dataset or (), direction=direction, depth=depth, as_of=as_of, gzip=gzip
        )
    show(result, as_json, export_text)
