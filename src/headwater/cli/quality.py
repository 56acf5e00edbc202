"""`headwater quality`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, DatasetArgument, JsonOption, LimitOption, StoreOption
from headwater.cli.output import open_store, show


def quality(
    dataset: DatasetArgument,
    set_: Annotated[
        Path | None,
        typer.Option("--set", metavar="FILE", help="First store the quality document in this JSON file."),
    ] = None,
    limit: LimitOption = 10,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show the quality of a dataset as measured, stated or imported, newest first."""
    from headwater.cli.render.quality import quality_list

    document = None if set_ is None else _read(set_)
    with open_store(store) as lineage:
        if document is not None:
            lineage.set_quality(dataset, document)
        result = lineage.quality(dataset, limit=limit)
    show(result, as_json, lambda answer: quality_list(dataset, answer, limit))


def _read(file: Path) -> dict[str, object]:
    import json

    from headwater.errors import FileRefused

    try:
        document = json.loads(file.read_bytes())
    except OSError as missing:
        raise FileRefused(str(file), None, missing.strerror or "it cannot be read") from None
    except ValueError as wrong:
        raise FileRefused(str(file), None, f"not JSON: {wrong}") from None
    if not isinstance(document, dict):
        raise FileRefused(str(file), None, "a quality document is an object")
    return document
