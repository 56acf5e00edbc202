"""`headwater trace`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, PythonOption, UnsignedOption, spark_session

_ROWS_AS_JSON = 100


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
    allow_python: PythonOption = False,
    trust_unsigned: UnsignedOption = False,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Trace rows job by job back to their sources. With --forward, to what they became."""
    from headwater.rows.backward_chain import Tracer
    from headwater.rows.forward_chain import onward
    from headwater.rows.render import as_tree, onward_tree
    from headwater.rows.stored_writes import Writes

    most = rows or (_ROWS_AS_JSON if as_json else 5)
    with open_store(store) as lineage, spark_session(master) as spark:
        writes = Writes(spark, lineage, allow_python, trust_unsigned)
        if forward:
            answer = onward(writes, dataset, where, depth).to_dict(most)
        else:
            answer = Tracer(writes, depth).trace(dataset, where, output).to_dict(most)
    if as_json:
        print_json(answer)
    else:
        print_text(onward_tree(answer) if forward else as_tree(answer))
