"""`headwater why-not`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, PythonOption, UnsignedOption, spark_session


def why_not(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET", help="Where the row is missing: name of a dataset, its path, or the id of a run."
        ),
    ],
    source: Annotated[
        str,
        typer.Option(
            "--source",
            "-s",
            metavar="DATASET",
            help="Where the row should have come from; the end of the name is enough.",
        ),
    ],
    where: Annotated[
        str,
        typer.Option("--where", "-w", metavar="SQL", help="Which row of the source, as a condition on its columns."),
    ],
    output: Annotated[
        str | None, typer.Option("--output", metavar="NAME", help="Name of the output, if the run has several.")
    ] = None,
    allow_python: PythonOption = False,
    trust_unsigned: UnsignedOption = False,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Explain why a row of a source is missing from a dataset: the operator that dropped it, and why."""
    import json

    import headwater as hw
    from headwater.rows.why_not_render import why_not_text

    with open_store(store) as lineage, spark_session(master) as spark:
        answer = hw.why_not(
            dataset, source=source, where=where, spark=spark, store=lineage, output=output, allow_python=allow_python,
            trust_unsigned=trust_unsigned,
        )  # fmt: skip
        if as_json:
            document = json.loads(answer.to_json())
        else:
            text = why_not_text(answer)
    if as_json:
        print_json(document)
    else:
        print_text(text)
