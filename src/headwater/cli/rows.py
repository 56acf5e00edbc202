"""`headwater rows`: the pair tables that `rows="full"` and `rows="sampled"` write."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text, show
from headwater.formats.openlineage.facet_names import ADJOINT_FACET

DEFAULT_LOCATION = ".headwater/rows"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

rows = typer.Typer(help="Query and prune the pair tables of captured rows.", no_args_is_help=False)


def parse_age(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if match is None:
        raise typer.BadParameter(f"'{text}' is not an age. Write 90m, 12h, 30d or 8w.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


LocationOption = Annotated[
    str,
    typer.Option(
        "--location",
        metavar="FOLDER",
        envvar="HEADWATER_ROWS_LOCATION",
        help="Folder that was given as rows_location.",
        show_default=DEFAULT_LOCATION,
    ),
]


@rows.callback()
def _group() -> None:
    """Query and prune the pair tables of captured rows."""


@rows.command()
def lookup(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or the folder of its pair tables.")],
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            "-w",
            metavar="SQL",
            help="Which rows, as a condition on their key columns.",
            show_default="all rows",
        ),
    ] = None,
    output: Annotated[int, typer.Option("--output", min=0, metavar="N", help="Index of the run's output.")] = 0,
    row_limit: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="Maximum number of rows to show per dataset.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="First verify the tables against their recorded digests.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show which rows a row came from, by the pair tables of its run. Needs no Spark."""
    from pathlib import Path

    from headwater.rows.pairs.lookup import PairTables
    from headwater.rows.pairs.render import tables_document
    from headwater.rows.render import trace_tree

    if Path(run).is_dir() or "/" in run:
        tables = PairTables(run)
    else:
        with open_store(store) as lineage:
            detail = lineage.run(run)
        facets, run_id = detail.run_facets, detail.run.run_id
        if ADJOINT_FACET not in facets:
            raise CliError(f'Run {run} wrote no pair tables: it ran without rows="full".')
        tables = PairTables(facets[ADJOINT_FACET], output=output, run_id=run_id)
    with tables:
        if verify:
            tables.verify()
        answer = tables_document(tables, where, row_limit or (100 if as_json else 5))
    if as_json:
        print_json(answer)
    else:
        print_text(trace_tree(answer))


@rows.command("list")
def list_(location: LocationOption = DEFAULT_LOCATION, as_json: JsonOption = False) -> None:
    """List the pair tables, oldest first."""
    from headwater.cli.render.rows import pair_table_list
    from headwater.rows.pairs.folders import list_pair_tables

    show(list_pair_tables(location), as_json, pair_table_list)


@rows.command()
def prune(
    older_than: Annotated[
        timedelta,
        typer.Option("--older-than", parser=parse_age, metavar="AGE", help="Minimum age: 90m, 12h, 30d or 8w."),
    ],
    location: LocationOption = DEFAULT_LOCATION,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be removed, and remove nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove the pair tables of old runs. Folders that Headwater did not write are kept."""
    from headwater.cli.render.rows import prune_text
    from headwater.rows.pairs.folders import prune as prune_tables

    removed = prune_tables(location, older_than, dry_run=dry_run)
    show(removed, as_json, lambda answer: prune_text(answer, dry_run))
