"""`headwater import`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show

ExchangeFile = Annotated[
    Path, typer.Argument(metavar="PATH", help="Exported file, gzipped or not, or folder of Parquet files.")
]


def import_(path: ExchangeFile, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Import a lineage file with its ids. Nothing is imported if a rule is broken."""
    from headwater.cli.render.exchange import import_text

    with open_store(store, create=True) as lineage:
        result = lineage.import_(path)
    show(result, as_json, import_text)
