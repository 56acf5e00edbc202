"""Tables and views that the job drops.

Spark says which table of its own catalog is gone, so a `DROP TABLE IF EXISTS` of what was not there is none, nor is the
table that an overwrite takes away to make it anew. Other catalogs say nothing: there a command that went well has
dropped its table, unless it would have gone as well without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.capture.naming.catalogs import SESSION_CATALOG, Catalogs
from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.jdbc import database
from headwater.capture.naming.plan_sources import Facts

Name = tuple[str, ...]


@dataclass(frozen=True)
class Dropping:
    """A command under way. ``name``: of the table within its catalog."""

    catalog: str
    name: Name
    kind: str
    if_exists: bool
    url: str | None = None
    """Of a database, where the catalog is one."""

    def names(self, gone: Name) -> bool:
        """Whether it is about this table of Spark's own catalog."""
        same = [part.casefold() for part in self.name[-2:]] == [part.casefold() for part in gone]
        return self.catalog == SESSION_CATALOG and same

    def place(self, name: Name, catalogs: Catalogs) -> Place:
        if self.url is not None:
            return database(self.url).table(".".join(f'"{part}"' for part in name))
        return catalogs.place(name, catalog=self.catalog, kind=self.kind)


@dataclass
class _Open:
    dropping: Dropping
    tags: tuple[str, ...]
    gone: Name | None = None
    """The name under which Spark's catalog had it."""


@dataclass(frozen=True)
class Dropped:
    place: Place
    tags: tuple[str, ...]


def read_dropping(nodes: Sequence[Facts]) -> Dropping | None:
    """From the survey of a command."""
    command = nodes[0]
    if command["class"] == "DropTableCommand":
        name = (command.get("database") or "default", command["dropped"])
        kind = "VIEW" if command.get("isView") else "TABLE"
        return Dropping(command.get("catalog") or SESSION_CATALOG, name, kind, bool(command.get("ifExists")))
    if command["class"] == "DropTable" and len(nodes) > 1 and nodes[1].get("identifier"):
        table = nodes[1]
        name = (*(table.get("namespace") or ()), table["identifier"])
        catalog, url = table.get("catalogName") or SESSION_CATALOG, table.get("catalogUrl")
        return Dropping(catalog, name, "TABLE", bool(command.get("ifExists")), url)
    return None


class Drops:
    """Of one application."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._open: dict[Any, _Open] = {}
        self._unmatched: list[Name] = []
        """Dropped tables that match no open command: the start of theirs has not been read yet."""
        self._met: dict[tuple[str, str], Place] = {}

    def met(self, places: Iterable[Place]) -> None:
        """Tables that the job read or wrote: by then it is known where they lie."""
        for place in places:
            if place.kind != "FILE":
                self._met[place.also or place.key] = place

    def began(self, execution: Any, dropping: Dropping, tags: Iterable[str]) -> None:
        """A command may end before the listener reads its start; its catalog events then come before this call."""
        opened = self._open[execution] = _Open(dropping, tuple(tags))
        for name in self._unmatched:
            if dropping.names(name):
                opened.gone = name

    def gone(self, database: str, table: str) -> None:
        """Spark's own catalog has it no more."""
        name = (database, table)
        commands = [each for each in self._open.values() if each.dropping.names(name)]
        for each in commands:
            each.gone = name
        if not commands:
            self._unmatched.append(name)

    def execution_ended(self) -> None:
        """Called at the end of every execution: tables dropped before it do not belong to a later command."""
        self._unmatched.clear()

    def ended(self, execution: Any, *, failed: bool) -> Dropped | None:
        """What the command has dropped; None: nothing, as far as anybody can tell."""
        known = self._open.pop(execution, None)
        if known is None or failed:
            return None
        asked = known.dropping
        named = asked.place(known.gone or asked.name, self._catalogs)
        met = self._met.pop(named.key, None)
        if asked.catalog == SESSION_CATALOG:
            was_there = known.gone is not None
        else:
            was_there = met is not None or not asked.if_exists
        return Dropped(met or named, known.tags) if was_there else None
