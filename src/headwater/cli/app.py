"""All commands, in the order and groups of `headwater --help`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from itertools import groupby
from typing import Annotated, Protocol

import typer
from typer.core import TyperGroup

from headwater.cli.access import access
from headwater.cli.audit import audit
from headwater.cli.bundle import bundle
from headwater.cli.checkpoint import checkpoint
from headwater.cli.dataset import dataset
from headwater.cli.datasets import datasets
from headwater.cli.db import db
from headwater.cli.demo import demo
from headwater.cli.diff import diff
from headwater.cli.doctor import doctor
from headwater.cli.exec import exec_
from headwater.cli.export import export
from headwater.cli.impact import impact
from headwater.cli.import_ import import_
from headwater.cli.ingest import ingest
from headwater.cli.keys import keys
from headwater.cli.prove import prove
from headwater.cli.provenance import provenance
from headwater.cli.quality import quality
from headwater.cli.records.group import records
from headwater.cli.replay import replay
from headwater.cli.report import report
from headwater.cli.rows import rows
from headwater.cli.run import run
from headwater.cli.runs import runs
from headwater.cli.serve import serve
from headwater.cli.trace import trace
from headwater.cli.upstream import downstream, upstream
from headwater.cli.validate import validate
from headwater.cli.verify import verify
from headwater.cli.why_not import why_not

# Everything after the script is an argument of the script, even if it looks like an option.
_CONTEXT_SETTINGS = {"exec": {"allow_interspersed_args": False, "ignore_unknown_options": True}}
START, LINEAGE, RUNS, PROOF = "Getting started", "Dataset lineage", "Runs", "Audit and administration"
ROWS = "Row lineage"
FILES = "Import and export"
RECORDS = "Record ledger"


class _HelpFormatter(Protocol):
    """What is used of Click's formatter, whose module differs between versions of Typer."""

    def section(self, name: str, /) -> AbstractContextManager[None]: ...
    def write_dl(self, rows: list[tuple[str, str]], /) -> None: ...


class GroupedCommands(TyperGroup):
    """Lists the commands under the headings of their groups, as plain text."""

    def format_commands(self, ctx: object, formatter: _HelpFormatter) -> None:
        for heading, named in groupby(self.commands.items(), key=lambda item: getattr(item[1], "rich_help_panel", "")):
            with formatter.section(heading):
                formatter.write_dl([(name, (command.help or "").split(".")[0] + ".") for name, command in named])


app = typer.Typer(
    name="headwater",
    cls=GroupedCommands,
    help="Data lineage for PySpark: where tables, columns and rows come from, and what depends on them.",
    epilog="Every command takes --store URL (or HEADWATER_STORE) and --json.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        from headwater import __version__

        typer.echo(f"headwater {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        text = ctx.get_help()
        if text:  # Typer may have printed it already
            typer.echo(text)


for group, commands in (
    (START, (demo, doctor, exec_, ingest, serve)),
    (LINEAGE, (datasets, dataset, quality, upstream, downstream, impact)),
    (ROWS, (trace, why_not)),
    (RUNS, (runs, run, replay, diff)),
    (FILES, (export, import_, validate)),
    (PROOF, (audit, verify, report, bundle, checkpoint, prove)),
):
    for command in commands:
        name = command.__name__.rstrip("_").replace("_", "-")  # `exec` is a built-in name of Python
        app.command(name, rich_help_panel=group, context_settings=_CONTEXT_SETTINGS.get(name))(command)
app.add_typer(provenance, name="provenance", rich_help_panel=PROOF)
app.add_typer(access, name="access", rich_help_panel=PROOF)
app.add_typer(keys, name="keys", rich_help_panel=PROOF)
app.add_typer(rows, name="rows", rich_help_panel=PROOF)
app.add_typer(db, name="db", rich_help_panel=PROOF)
app.add_typer(records, name="records", rich_help_panel=RECORDS)
