"""`headwater report`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.bundle import RunArgument, file_named
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def report(
    run_id: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Output file.", show_default="RUN_ID.report.html"),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the evidence of a run as one HTML page: intent, logic, proof. The page needs no network."""
    from headwater.assurance.report.gather import gather_report
    from headwater.assurance.report.page import page
    from headwater.cli.render.report import WrittenReport, report_text

    with open_store(store) as lineage:
        case = gather_report(lineage, run_id)
    file = out or file_named(run_id, ".report.html")
    file.write_bytes(page(case).encode())
    written = WrittenReport(file=str(file), holds=case.holds, concerns=list(case.concerns))
    show(written, as_json, report_text)
