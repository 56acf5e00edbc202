"""`headwater records compact` and `headwater records expire`"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption, parse_moment
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.records.options import ArchiveOption, BigOption, JsonlOption
from headwater.cli.spark import DEFAULT_MASTER, CommandPhase, MasterOption, spark_session


def parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a day. Write it like 2026-11-16.") from None


def compact(
    day: Annotated[
        date | None,
        typer.Option("--day", parser=parse_day, metavar="DAY", help="Only archive this day (UTC), like 2026-11-16."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also archive today, not only past days.")] = False,
    jsonl: JsonlOption = False,
    big: BigOption = 200_000,
    archive: ArchiveOption = None,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Archive the hot records of past days, with the trace of every leaf. Runs on Spark."""
    from headwater.cli.render.records.compacting import compaction_summary
    from headwater.records.compaction.archive_attempt import CompactionOptions
    from headwater.records.compaction.compaction import compact as compact_records

    if day is not None and everything:
        raise CliError("Choose one of --day and --all.")
    phase = CommandPhase()
    options = CompactionOptions(big=big, jsonl=jsonl, on_progress=phase.set)
    with open_store(store) as lineage, spark_session(master, phase) as spark:
        answer = compact_records(lineage, spark, archive=archive, day=day, everything=everything, options=options)
    if as_json:
        print_json(answer.document())
    else:
        print_text(compaction_summary(answer))


def expire(
    now: Annotated[
        datetime | None,
        typer.Option("--now", parser=parse_moment, metavar="TIME", help="Expire as of this time instead of now."),
    ] = None,
    archive: ArchiveOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Remove hot records that are archived and past their time to live. Others stay, however old they are."""
    from headwater.cli.text import count_of

    with open_store(store) as lineage:
        expired = lineage.records.at(archive).archive.expire(now=now)
    if as_json:
        print_json({"expired": expired})
    else:
        print_text(f"{count_of(expired, 'hot record')} removed; the archive has them.")
