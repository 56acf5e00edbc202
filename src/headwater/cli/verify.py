"""`headwater verify`"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.checkpoint import AnchorOption
from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import console, open_store, print_json, show
from headwater.errors import AuditBroken, EvidenceBroken

if TYPE_CHECKING:
    from rich.progress import TaskID

    from headwater.client import Lineage
    from headwater.model.bundles import VerifiedBundle
    from headwater.model.log import Verified, VerifiedRun

_MIN_FOR_PROGRESS = 200_000
"""Number of entries or events from which on a progress bar is shown."""


def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Evidence bundle (`headwater bundle`) to verify without the store."),
    ] = None,
    anchor: AnchorOption = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="VKEY", help="Public key that must have signed, as `headwater keys show` prints it."
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN_ID", help="Verify only the evidence of this run.")
    ] = None,
    certificate: Annotated[
        str | None, typer.Option("--certificate", metavar="ID", help="Verify only the run of this certificate.")
    ] = None,
    log_only: Annotated[
        bool, typer.Option("--log-only", help="Verify only the log, without the events and the graph.")
    ] = False,
    no_graph: Annotated[
        bool, typer.Option("--no-graph", help="Do not rebuild the graph from the events for comparison.")
    ] = False,
    no_records: Annotated[
        bool, typer.Option("--no-records", help="Do not compare the records, recent and archived, with the log.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Verify the log and everything it proves, including the graph. Exit 1 and name the first failure."""
    from headwater.cli.render.log import run_verification_text, verification_text

    left_out = log_only or no_graph or no_records
    if (run is not None or certificate is not None) and (left_out or (run and certificate)):
        raise CliError("Combine --run and --certificate only with --key and --anchor.")
    if file is not None:
        if run is not None or certificate is not None or left_out:
            raise CliError("Combine FILE only with --key and --anchor.")
        _verify_file(file, anchor, key, as_json)
        return
    with open_store(store) as lineage, _failures_as_json(as_json):
        if run is not None:
            verified = lineage.verify_run(run, key=key, anchored=_anchor_checkpoints(anchor))
        elif certificate is not None:
            verified = lineage.verify_certificate(certificate, key=key, anchored=_anchor_checkpoints(anchor))
        else:
            store_verified = _verify_store(
                lineage, anchor, key, events=not log_only, graph=not no_graph, records=not (log_only or no_records)
            )
            show({"holds": True, **store_verified._asdict()}, as_json, lambda _: verification_text(store_verified))
            return
    show(_answer(verified), as_json, lambda _: run_verification_text(verified))


def _verify_file(file: Path, anchor: list[str] | None, key: str | None, as_json: bool) -> None:
    from headwater.assurance.bundle import verify_bundle
    from headwater.cli.render.bundle import bundle_verification_text

    with _failures_as_json(as_json):
        result = verify_bundle(file.read_bytes(), key=key, anchored=_anchor_checkpoints(anchor))
    show(_answer(result), as_json, lambda _: bundle_verification_text(result))


def _answer(result: VerifiedRun | VerifiedBundle) -> dict[str, object]:
    from headwater.model.plain import plain

    return {"holds": True, **plain(result)}


def _verify_store(lineage: Lineage, anchor: list[str] | None, key: str | None, **parts: bool) -> Verified:
    with _progress() as report:
        return lineage.verify(key=key, anchored=_anchor_checkpoints(anchor), progress=report, **parts)


def _anchor_checkpoints(anchor: list[str] | None) -> list[tuple[str, str]] | None:
    from headwater.assurance.anchors import open_anchor

    return (
        None if anchor is None else [checkpoint for where in anchor for checkpoint in open_anchor(where).checkpoints()]
    )


@contextmanager
def _failures_as_json(as_json: bool) -> Iterator[None]:
    """Print a failed verification as JSON; without --json the error line says it."""
    try:
        yield
    except AuditBroken as broken:
        if as_json:
            print_json({"holds": False, "entry": broken.seq, "reason": broken.reason})
        raise
    except EvidenceBroken as broken:
        if as_json:
            print_json({"holds": False, "what": broken.what, "reason": broken.reason})
        raise


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a progress bar on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(part: str, done: int, total: int) -> None:
            if total >= _MIN_FOR_PROGRESS:
                if part not in tasks:
                    tasks[part] = bar.add_task(f"Verifying {part}", total=total)
                bar.update(tasks[part], completed=done)

        yield report
