"""`headwater rows`: the tables that `rows="full"` and `rows="sampled"` write."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

import typer

from headwater.cli.failures import Mistake
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text, show
from headwater.formats.openlineage.facet_names import ADJOINT_FACET

DEFAULT_LOCATION = ".headwater/rows"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

rows = typer.Typer(help="Look after the tables that tell of single rows.", no_args_is_help=False)


def parse_age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found is None:
        raise typer.BadParameter(f"'{text}' is not an age. Write 90m, 12h, 30d or 8w.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


LocationOption = Annotated[
    str,
    typer.Option(
        "--location",
        metavar="FOLDER",
        envvar="HEADWATER_ROWS_LOCATION",
        help="The folder given as rows_location.",
        show_default=DEFAULT_LOCATION,
    ),
]


@rows.callback()
def _group() -> None:
    """Look after the tables that tell of single rows."""


@rows.command()
def lookup(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or the folder of its tables.")],
    where: Annotated[
        str | None,
        typer.Option(
            "--where", "-w", metavar="SQL", help="Which rows, by the columns they are known by; all unless told."
        ),
    ] = None,
    output: Annotated[int, typer.Option("--output", min=0, metavar="N", help="Which of the run's outputs.")] = 0,
    most: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="Show at most so many of each.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="First check that the tables are what was written.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Which rows a row came from, by the tables that its run wrote. Needs no Spark."""
    from pathlib import Path

    from headwater.rows.pairs.lookup import PairTables
    from headwater.rows.pairs.render import tables_document
    from headwater.rows.render import trace_tree

    if Path(run).is_dir():
        tables = PairTables(run)
    else:
        with open_store(store) as lineage:
            detail = lineage.run(run)
        facets, run_id = detail.run_facets, detail.run.run_id
        if ADJOINT_FACET not in facets:
            raise Mistake(f'Run {run} wrote no tables of its rows: it ran without rows="full".')
        tables = PairTables(facets[ADJOINT_FACET], output=output, run_id=run_id)
    with tables:
        if verify:
            tables.verify()
        answer = tables_document(tables, where, most or (100 if as_json else 5))
    if as_json:
        print_json(answer)
    else:
        print_text(trace_tree(answer))


@rows.command("list")
def list_(location: LocationOption = DEFAULT_LOCATION, as_json: JsonOption = False) -> None:
    """List the tables there are, oldest first."""
    from headwater.cli.render.rows import table_list
    from headwater.rows.pairs.folders import list_pair_tables

    show(list_pair_tables(location), as_json, table_list)


@rows.command()
def prune(
    older_than: Annotated[
        timedelta,
        typer.Option("--older-than", parser=parse_age, metavar="AGE", help="Written longer ago: 90m, 12h, 30d, 8w."),
    ],
    location: LocationOption = DEFAULT_LOCATION,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove the tables of old runs. Folders that are not ours are left alone."""
    from headwater.cli.render.rows import pruned
    from headwater.rows.pairs.folders import prune as prune_tables

    gone = prune_tables(location, older_than, dry_run=dry_run)
    show(gone, as_json, lambda answer: pruned(answer, dry_run))
