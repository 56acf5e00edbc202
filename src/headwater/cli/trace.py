"""`headwater trace`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, PythonOption, UnsignedOption, spark_session

_ROWS_AS_JSON = 100


def trace(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A dataset, its path, or a run's id.")],
    where: Annotated[
        str | None, typer.Option("--where", "-w", metavar="SQL", help="Which of its rows; all of them unless told.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", "-d", min=1, metavar="N", help="Through at most so many jobs.")
    ] = None,
    forward: Annotated[bool, typer.Option("--forward", help="What the rows became, not what they came from.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", metavar="NAME", help="Which output, of a run that has several.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="Show at most so many of each.")
    ] = None,
    allow_python: PythonOption = False,
    trust_unsigned: UnsignedOption = False,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Which rows a row came from, job by job back to the first sources. With --forward, what it became."""
    from headwater.rows.backward_chain import Tracer
    from headwater.rows.forward_chain import trace_forward_chain
    from headwater.rows.render import forward_tree, trace_tree
    from headwater.rows.stored_writes import StoredWrites

    most = rows or (_ROWS_AS_JSON if as_json else 5)
    with open_store(store) as lineage, spark_session(master) as spark:
        writes = StoredWrites(spark, lineage, allow_python, trust_unsigned)
        if forward:
            answer = trace_forward_chain(writes, dataset, where, depth).to_dict(most)
        else:
            answer = Tracer(writes, depth).trace(dataset, where, output).to_dict(most)
    if as_json:
        print_json(answer)
    else:
        print_text(forward_tree(answer) if forward else trace_tree(answer))
