"""What became of the database."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from headwater.cli.text import printable


def upgraded(answer: Mapping[str, str | None]) -> Text:
    store, before, after = printable(str(answer["store"])), answer["before"], answer["after"]
    if before == after:
        return Text(f"The store at {store} is at version {after} already.")
    if before is None:
        return Text(f"The store at {store} is made, at version {after}.")
    return Text(f"The store at {store} went from version {before} to {after}.")
