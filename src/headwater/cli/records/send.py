"""`headwater records send`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store


def send(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Requests as JSON, one per line; `-` reads stdin.")
    ],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Send requests from files. Invalid lines are refused by number, without affecting the others."""
    from headwater.cli.events import check_files, total_size
    from headwater.cli.failures import print_error
    from headwater.cli.records.lines import send_lines
    from headwater.cli.render.records.sending import SendingReport
    from headwater.cli.text import count_of

    check_files(files)
    with open_store(store, create=True) as lineage, SendingReport(total_size(files), as_json) as report:
        for file in files:
            send_lines(lineage.records, file, report)
    report.summary()
    if report.refusals:
        if as_json:  # without --json each refusal was printed
            print_error(f"{count_of(report.refusals, 'record or line was', 'records or lines were')} refused.")
        raise typer.Exit(1)
