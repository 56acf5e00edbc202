"""`headwater records dead-letters` and `headwater records replay`"""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, LimitOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text


def dead_letters(limit: LimitOption = 100, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the dead letters, each with its reason, the newest first."""
    with open_store(store) as lineage:
        letters = lineage.records.dead_letters(limit=limit)
    if as_json:
        print_json([letter.document() for letter in letters])
    else:
        from headwater.cli.render.records.listing import dead_letter_table

        print_text(dead_letter_table(letters, limit))


def replay(
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Numbers of dead letters.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All dead letters.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Move dead letters back into the queue as new messages."""
    from rich.text import Text

    from headwater.cli.text import count_of

    if bool(ids) == every:
        raise CliError("Name the dead letters by their numbers, or all of them by --all.")
    with open_store(store) as lineage:
        replayed = lineage.records.replay(None if every else ids)
    if as_json:
        print_json({"replayed": replayed})
    else:
        print_text(Text(f"{count_of(len(replayed), 'dead letter is', 'dead letters are')} back in the queue."))
