"""What the commands of the record ledger share."""

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
        help="Where the archive is: a folder, or a URI like s3://bucket/records.",
        show_default="where it was before, else `records` beside a SQLite store",
    ),
]

JsonlOption = Annotated[
    bool, typer.Option("--jsonl", help="Write the traces as lines of JSON too. Once there, they are kept up to date.")
]
BigOption = Annotated[
    int,
    typer.Option("--big", min=1, metavar="N", help="Trace roots of more records than this by joins, not in one task."),
]


def parse_span(text: str) -> timedelta:
    """`500ms`, `30s`, `1m`, `24h`, `7d`."""
    found = re.fullmatch(r"(\d{1,9})(ms|s|m|h|d)", text.strip())
    if found is None:
        raise typer.BadParameter(f"'{text}' is not a length of time. Write 500ms, 30s, 1m, 24h or 7d.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def parse_time_of_day(text: str) -> time:
    found = re.fullmatch(r"(\d{1,2}):(\d{2})", text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise typer.BadParameter(f"'{text}' is not a time of day. Write 01:00 (UTC).")
    return time(int(found[1]), int(found[2]))
