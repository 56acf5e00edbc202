"""`headwater import`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show

ExchangeFile = Annotated[
    Path, typer.Argument(metavar="PATH", help="A file of an export, gzipped or not, or a folder of Parquet files.")
]


def import_(path: ExchangeFile, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Take in a file of lineage, all of it with its ids, or nothing if a rule is broken."""
    from headwater.cli.render.exchange import imported

    with open_store(store, create=True) as lineage:
        done = lineage.import_(path)
    show(done, as_json, imported)
