"""Results of database commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from rich.text import Text

from headwater.cli.text import printable


def upgrade_text(answer: Mapping[str, str | None]) -> Text:
    store, before, after = printable(str(answer["store"])), answer["before"], answer["after"]
    if before == after:
        return Text(f"The store at {store} is already at version {after}.")
    if before is None:
        return Text(f"Created the store at {store}, at version {after}.")
    return Text(f"Upgraded the store at {store} from version {before} to {after}.")


class ChangedLimit(TypedDict):
    store: str
    max_direct_edges: int
    before: int
    runs: int


class BackedUp(TypedDict):
    store: str
    file: str
    bytes: int


class RestoredRows(TypedDict):
    store: str
    file: str
    rows: int


def limit_text(answer: ChangedLimit) -> Text:
    before, limit = answer["before"], answer["max_direct_edges"]
    change = f"{limit:,} as before" if limit == before else f"{limit:,}, {before:,} before"
    return Text(f"The maximum number of direct edges is {change}. Runs rebuilt: {answer['runs']:,}.")


def backup_text(answer: BackedUp) -> Text:
    store, file = printable(str(answer["store"])), printable(str(answer["file"]))
    return Text(f"Backed up {store} to {file}, {answer['bytes']:,} bytes. The file is a SQLite store itself.")


def restore_text(answer: RestoredRows) -> Text:
    store, file = printable(str(answer["store"])), printable(str(answer["file"]))
    return Text(f"Restored {file} to {store}, {answer['rows']:,} rows.")
