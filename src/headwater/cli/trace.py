"""`headwater trace`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, PythonOption, UnsignedOption, spark_session

if TYPE_CHECKING:
    from headwater.rows.answer import Trace
    from headwater.rows.forward_chain import ForwardStep

_ROWS_AS_JSON, _ROWS_AS_TEXT = 100, 5
"""Rows to show per dataset by default."""


def trace(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Name of a dataset, its path, or the id of a run.")],
    where: Annotated[
        str | None,
        typer.Option(
            "--where", "-w", metavar="SQL", help="Which rows, as a condition on the columns.", show_default="all rows"
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", "-d", min=1, metavar="N", help="Maximum number of jobs to trace through.")
    ] = None,
    forward: Annotated[
        bool, typer.Option("--forward", help="Trace what the rows became, instead of what they came from.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", metavar="NAME", help="Name of the output, if the run has several.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="Maximum number of rows to show per dataset.")
    ] = None,
    verify_limit: Annotated[
        int,
        typer.Option(
            "--verify-limit",
            min=0,
            metavar="N",
            help="Maximum number of source rows of an answer that is verified by running the query on them.",
        ),
    ] = 1_000,
    allow_python: PythonOption = False,
    trust_unsigned: UnsignedOption = False,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Trace rows job by job back to their sources. With --forward, to what they became."""
    import headwater as hw
    from headwater.rows.forward_chain import trace_forward_chain
    from headwater.rows.render import forward_tree, trace_tree
    from headwater.rows.stored_writes import StoredWrites

    shown_rows = rows or (_ROWS_AS_JSON if as_json else _ROWS_AS_TEXT)
    answer: ForwardStep | Trace
    with open_store(store) as lineage, spark_session(master) as spark:
        if forward:
            writes = StoredWrites(spark, lineage, allow_python, trust_unsigned)
            answer = trace_forward_chain(writes, dataset, where, depth)
        else:
            answer = hw.trace(
                dataset, where, spark=spark, store=lineage, depth=depth, output=output, allow_python=allow_python,
                trust_unsigned=trust_unsigned, verify_limit=verify_limit,
            )  # fmt: skip
        document = answer.to_dict(shown_rows)
    if as_json:
        print_json(document)
    else:
        print_text(forward_tree(document) if forward else trace_tree(document))
