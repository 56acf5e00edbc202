"""`headwater records stream`"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store
from headwater.cli.records.options import ArchiveOption, BigOption, JsonlOption, parse_span
from headwater.cli.spark import DEFAULT_MASTER, CommandPhase, MasterOption, spark_session


def stream(
    landing: Annotated[str, typer.Argument(metavar="LANDING", help="A folder of JSONL files, a request a line.")],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="PATH", help="Where Spark notes what it has read.", show_default="in the archive"
        ),
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", "--once", help="Take what is there now, and end.")
    ] = False,
    every: Annotated[
        timedelta, typer.Option("--every", parser=parse_span, metavar="SPAN", help="Look for new files so often.")
    ] = "10s",  # type: ignore[assignment]
    jsonl: JsonlOption = False,
    big: BigOption = 200_000,
    archive: ArchiveOption = None,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Take files of requests into the archive as they land, each record exactly once. Runs on Spark."""
    from headwater.cli.render.records.compacting import StreamReport
    from headwater.records.compaction.archive_attempt import Manner
    from headwater.records.intake.stream import stream as begin

    phase = CommandPhase()
    with open_store(store, create=True) as lineage, spark_session(master, phase) as spark:
        report = StreamReport(as_json)
        query = begin(
            lineage,
            spark,
            landing,
            archive=archive,
            checkpoint=checkpoint,
            every=None if available_now else f"{int(every / timedelta(milliseconds=1))} milliseconds",
            manner=Manner(big=big, jsonl=jsonl, say=phase.set),
            done=report.batch,
        )
        try:
            query.awaitTermination()
        except KeyboardInterrupt:  # the batch at hand is not committed, and begins again the next time
            query.stop()
    report.summary()
