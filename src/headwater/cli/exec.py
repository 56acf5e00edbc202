"""`headwater exec`: run a PySpark script with its writes captured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, StoreOption

ScriptArgument = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, metavar="SCRIPT", help="PySpark script to run, unchanged.")
]
ArgumentsArgument = Annotated[list[str] | None, typer.Argument(metavar="[ARG]...", help="Arguments of the script.")]
UrlOption = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Also send events to this OpenLineage endpoint.", envvar="HEADWATER_URL"),
]
SinkOption = Annotated[
    list[str] | None,
    typer.Option("--sink", metavar="SINK", help="Also write events to `file:///…jsonl` or `console`."),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", metavar="NAME", help="Namespace of the jobs.", envvar="HEADWATER_NAMESPACE"),
]
JobOption = Annotated[
    str | None,
    typer.Option("--job", metavar="NAME", help="Prefix of the job names.", envvar="HEADWATER_JOB"),
]
LiteralsOption = Annotated[
    str | None,
    typer.Option(
        "--literals",
        metavar="keep|mask|drop",
        help="How to store literals of queries in SQL text, plans and column logic. Secrets are always removed.",
        envvar="HEADWATER_LITERALS",
        show_default="keep",
    ),
]


def exec_(
    script: ScriptArgument,
    arguments: ArgumentsArgument = None,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    sink: SinkOption = None,
    namespace: NamespaceOption = None,
    job: JobOption = None,
    literals: LiteralsOption = None,
) -> None:
    """Run a PySpark script and capture its lineage. Output and exit code are those of the script."""
    import os
    import sys

    from headwater.redaction.literals import check_mode
    from headwater.store.engine.database import shown_address

    shown_address(store)
    if literals is not None:
        check_mode(literals)
    settings = {
        "HEADWATER_STORE": store,
        "HEADWATER_URL": url,
        "HEADWATER_SINK": ",".join(sink or ()) or None,
        "HEADWATER_NAMESPACE": namespace,
        "HEADWATER_JOB": job,
        "HEADWATER_LITERALS": literals,
    }
    os.environ.update({name: value for name, value in settings.items() if value})
    command = [sys.executable, "-m", "headwater.capture.autostart", str(script), *(arguments or ())]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # Windows has no exec that keeps the console's process waiting
        import subprocess

        raise typer.Exit(subprocess.call(command))
    os.execv(sys.executable, command)
