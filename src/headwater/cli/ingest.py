"""`headwater ingest`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store


def ingest(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="File with one event, a JSON array of events or JSON lines; `-` reads stdin."
        ),
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first refused event.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List deviations from the specification in accepted events.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Ingest OpenLineage events. An event that is already stored is skipped, so a file can be ingested again."""
    from headwater.cli.events import check_files, read_files, total_size
    from headwater.cli.failures import print_error
    from headwater.cli.intake import FileIngest
    from headwater.cli.render.intake import PrintedReport
    from headwater.cli.text import count_of

    check_files(files)
    with open_store(store, create=True) as lineage, PrintedReport(total_size(files), verbose, as_json) as report:
        ingest_run = FileIngest(lineage, report, strict=strict)
        ingest_run.ingest(read_files(files))
    report.summary(ingest_run.counts)
    if ingest_run.counts.refused:
        if as_json:  # without --json each was reported already
            print_error(f"{count_of(ingest_run.counts.refused, 'event or file was', 'events or files were')} refused.")
        raise typer.Exit(1)
