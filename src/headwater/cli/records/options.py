"""Options that several commands of the record ledger share."""

from __future__ import annotations

import re
from datetime import time, timedelta
from typing import Annotated

import typer

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

ArchiveOption = Annotated[
    str | None,
    typer.Option(
        "--archive",
        metavar="PATH",
        envvar="HEADWATER_ARCHIVE",
        help="Location of the archive: a folder, or a URI like s3://bucket/records.",
        show_default="the store's, else `records` beside a SQLite store",
    ),
]

JsonlOption = Annotated[
    bool, typer.Option("--jsonl", help="Also write the traces as lines of JSON. From then on they are kept up to date.")
]
BigOption = Annotated[
    int,
    typer.Option(
        "--big", min=1, metavar="N", help="Number of records above which a root is traced by joins, not in one task."
    ),
]


def parse_span(text: str) -> timedelta:
    """`500ms`, `30s`, `1m`, `24h`, `7d`."""
    match = re.fullmatch(r"(\d{1,9})(ms|s|m|h|d)", text.strip())
    if match is None:
        raise typer.BadParameter(f"'{text}' is not a duration. Write 500ms, 30s, 1m, 24h or 7d.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def parse_time_of_day(text: str) -> time:
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", text.strip())
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise typer.BadParameter(f"'{text}' is not a time of day. Write 01:00 (UTC).")
    return time(int(match[1]), int(match[2]))
