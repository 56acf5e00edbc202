"""`headwater why-not`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, PythonOption, UnsignedOption, spark_session


def why_not(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="Where the row is missing: a dataset, path or run.")
    ],
    source: Annotated[
        str,
        typer.Option("--source", "-s", metavar="DATASET", help="Where it should have come from; the end of its name."),
    ],
    where: Annotated[str, typer.Option("--where", "-w", metavar="SQL", help="Which row of the source.")],
    output: Annotated[
        str | None, typer.Option("--output", metavar="NAME", help="Which output, of a run that has several.")
    ] = None,
    allow_python: PythonOption = False,
    trust_unsigned: UnsignedOption = False,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Why a row of a source is not in a dataset: the operator that dropped it, and what it found."""
    import json

    import headwater as hw
    from headwater.rows.why_not_render import why_not_text

    with open_store(store) as lineage, spark_session(master) as spark:
        answer = hw.why_not(
            dataset, source=source, where=where, spark=spark, store=lineage, output=output, allow_python=allow_python,
            trust_unsigned=trust_unsigned,
        )  # fmt: skip
        if as_json:
            told = json.loads(answer.to_json())
        else:
            text = why_not_text(answer)
    if as_json:
        print_json(told)
    else:
        print_text(text)
