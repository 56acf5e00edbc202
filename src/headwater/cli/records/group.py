"""The commands of the record ledger, in the order that `headwater records --help` shows them."""

from __future__ import annotations

import typer

from headwater.cli.records.compact import compact, expire
from headwater.cli.records.dead_letters import dead_letters, replay
from headwater.cli.records.find import find
from headwater.cli.records.query import query
from headwater.cli.records.send import send
from headwater.cli.records.status import status
from headwater.cli.records.stream import stream
from headwater.cli.records.trace import trace
from headwater.cli.records.work import work

records = typer.Typer(help="Send, trace, archive and query records.", no_args_is_help=False)


@records.callback()
def _group() -> None:
    """Send, trace, archive and query records."""


for command in (send, work, stream, trace, find, query, compact, expire, dead_letters, replay, status):
    records.command(command.__name__.replace("_", "-"))(command)
