"""What became of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from headwater.cli.text import printable


def upgraded(answer: Mapping[str, str | None]) -> Text:
    store, before, after = printable(str(answer["store"])), answer["before"], answer["after"]
    if before == after:
        return Text(f"The store at {store} is at version {after} already.")
    if before is None:
        return Text(f"The store at {store} is made, at version {after}.")
    return Text(f"The store at {store} went from version {before} to {after}.")


def limited(answer: Mapping[str, Any]) -> Text:
    before, limit = answer["before"], answer["max_direct_edges"]
    change = f"{limit:,} as before" if limit == before else f"{limit:,}, {before:,} before"
    return Text(f"The maximum number of direct edges is {change}. Runs folded again: {answer['runs']:,}.")


def backed_up(answer: Mapping[str, Any]) -> Text:
    store, file = printable(str(answer["store"])), printable(str(answer["file"]))
    return Text(f"{store} is in {file}, {answer['bytes']:,} bytes. It is a store itself.")


def restored(answer: Mapping[str, Any]) -> Text:
    store, file = printable(str(answer["store"])), printable(str(answer["file"]))
    return Text(f"{file} is in {store}, {answer['rows']:,} rows of it.")
