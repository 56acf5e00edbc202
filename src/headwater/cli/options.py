"""Arguments and options that commands share, with their parsers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from headwater.store import address

DEFAULT_STORE = address.DEFAULT_STORE
_MAX_ROWS = 1_000_000


def parse_moment(text: str) -> datetime:
    """Parse an ISO 8601 date or time; UTC if it names no zone."""
    from headwater.formats.openlineage.event import as_utc, parse_time

    moment = parse_time(text)
    if moment is None:
        raise typer.BadParameter(
            f"'{text}' is not a date or a time. Write 2026-11-10, 2026-11-10T08:30 or 2026-11-10T08:30:00+01:00."
        )
    return as_utc(moment)


def _moment_option(name: str, meaning: str) -> object:
    return typer.Option(name, parser=parse_moment, metavar="TIME", help=meaning)


StoreOption = Annotated[
    str,
    typer.Option(
        "--store", metavar="URL", envvar="HEADWATER_STORE", help="URL of the store.", show_default=DEFAULT_STORE
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name of a dataset, with its namespace (`namespace/name`) where the name is not unique, or an alias.",
    ),
]
ColumnOption = Annotated[str | None, typer.Option("--column", "-c", metavar="NAME", help="Only this column.")]
PartitionOption = Annotated[
    str | None,
    typer.Option("--partition", "-p", metavar="NAME", help="Only this partition, like `day=2026-11-10`."),
]
DepthOption = Annotated[
    int | None, typer.Option("--depth", "-d", min=1, metavar="N", help="Maximum number of hops.", show_default="100")
]
AsOfOption = Annotated[
    datetime | None,
    _moment_option("--as-of", "Answer as of this time: a date (00:00 UTC) or a time (UTC without a zone)."),
]
SinceOption = Annotated[datetime | None, _moment_option("--since", "Only runs with events at or after this time.")]
UntilOption = Annotated[datetime | None, _moment_option("--until", "Only runs that began before this time.")]
LimitOption = Annotated[
    int, typer.Option("--limit", "-n", min=1, max=_MAX_ROWS, metavar="N", help="Maximum number of results.")
]
