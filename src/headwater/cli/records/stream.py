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
    landing: Annotated[str, typer.Argument(metavar="LANDING", help="A folder of JSONL files, one request per line.")],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="PATH", help="Folder of Spark's checkpoint.", show_default="in the archive"
        ),
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", "--once", help="Archive the files that are in the folder now, and end.")
    ] = False,
    every: Annotated[
        timedelta,
        typer.Option("--every", parser=parse_span, metavar="SPAN", help="Interval at which to look for new files."),
    ] = "10s",  # type: ignore[assignment]
    jsonl: JsonlOption = False,
    big: BigOption = 200_000,
    archive: ArchiveOption = None,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Archive new files of requests in a folder, each record exactly once. Runs on Spark."""
    from headwater.cli.render.records.compacting import StreamReport
    from headwater.records.compaction.archive_attempt import CompactionOptions
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
            options=CompactionOptions(big=big, jsonl=jsonl, on_progress=phase.set),
            on_batch=report.batch,
        )
        try:
            query.awaitTermination()
        except KeyboardInterrupt:  # the current batch is not committed, and starts over the next time
            query.stop()
    report.summary()
