"""`headwater demo`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import JsonOption
from headwater.cli.output import open_store, print_json, print_text

DEMO_FOLDER, DEMO_FILE = ".headwater", "demo.db"


def demo(
    # Not HEADWATER_STORE: the demo's events do not belong in a store that is in use, unless it is named here.
    store: Annotated[
        str | None,
        typer.Option(
            "--store", metavar="URL", help="Store that receives the events.", show_default="a new .headwater/demo.db"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Load four days of a small shop's pipeline and query them. Needs no Spark."""
    from rich.text import Text

    from headwater.cli.demo_queries import demo_queries, more_commands
    from headwater.cli.render.layout import Indented
    from headwater.cli.text import count_of, printable
    from headwater.examples import orders_events
    from headwater.model.plain import plain

    url = store if store is not None else _fresh_store()
    with open_store(url, create=True) as lineage:
        receipts = lineage.ingest_many(orders_events())
        answered = [(query, query.ask(lineage)) for query in demo_queries(lineage)]
    more = more_commands(url)
    if as_json:
        answers = {query.key: plain(answer.value) for query, answer in answered}
        print_json({"store": url, "events": len(receipts), "answers": answers, "try": more})
        return
    print_text(Text(f"{count_of(len(receipts), 'event')} of a small shop's pipeline are now in {printable(url)}."))
    for query, answer in answered:
        command = Text(f"$ {query.command(url)}", style="dim")
        print_text(Text(f"\n{query.heading}", style="bold green"), command, Text(), whole_lines=True)
        print_text(Indented(answer.render()))
    print_text(Text("\nTry these:", style="bold green"), *(Text(f"  {command}") for command in more), whole_lines=True)


def _fresh_store() -> str:
    """Remove an earlier demo store and return the URL of a new one."""
    from pathlib import Path

    from headwater.cli.failures import CliError

    for suffix in ("", "-wal", "-shm"):
        file = Path(DEMO_FOLDER) / (DEMO_FILE + suffix)
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise CliError(f"Cannot remove the earlier demo store {file}: {error.strerror}.") from None
    return f"sqlite:///{DEMO_FOLDER}/{DEMO_FILE}"
