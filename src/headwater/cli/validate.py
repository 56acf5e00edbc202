"""`headwater validate`"""

from __future__ import annotations

import typer

from headwater.cli.import_ import ExchangeFile
from headwater.cli.options import JsonOption
from headwater.cli.output import show


def validate(path: ExchangeFile, as_json: JsonOption = False) -> None:
    """Validate a lineage file against its format. Exit 1 and list the violations if it is invalid."""
    from headwater.cli.render.exchange import validation_text
    from headwater.exchange.validating import validate as validated

    result = validated(path)
    show(result, as_json, validation_text)
    if not result.sound:
        raise typer.Exit(1)
