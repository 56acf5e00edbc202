"""Tables and views that the job drops.

Spark sends an event for each table that its own catalog has dropped, so a `DROP TABLE IF EXISTS` of a missing table
drops nothing, and neither does an overwrite that recreates its table. Other catalogs send no event: there, a successful
command has dropped its table, unless it would have succeeded without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.capture.listener.messages import ExecutionId
from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.catalogs import SESSION_CATALOG, Catalogs
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jdbc import database

TableName = tuple[str, ...]


@dataclass(frozen=True)
class DropCommand:
    """A running command. ``name``: of the table within its catalog."""

    catalog: str
    name: TableName
    kind: str
    if_exists: bool
    url: str | None = None
    """Of a database, if the catalog is one."""

    def drops_table(self, table: TableName) -> bool:
        """Whether it is about this table of Spark's own catalog."""
        same = [part.casefold() for part in self.name[-2:]] == [part.casefold() for part in table]
        return self.catalog == SESSION_CATALOG and same

    def dataset(self, name: TableName, catalogs: Catalogs) -> DatasetRef:
        if self.url is not None:
            return database(self.url).table(".".join(f'"{part}"' for part in name))
        return catalogs.dataset(name, catalog=self.catalog, kind=self.kind)


@dataclass
class _PendingDrop:
    command: DropCommand
    tags: tuple[str, ...]
    table_name: TableName | None = None
    """The name that the table had in Spark's catalog."""


@dataclass(frozen=True)
class DroppedTable:
    dataset: DatasetRef
    tags: tuple[str, ...]


def read_drop_command(nodes: Sequence[Facts]) -> DropCommand | None:
    """The drop that a command makes, from its plan facts; None if it drops nothing."""
    command = nodes[0]
    if command["class"] == "DropTableCommand":
        name = (command.get("database") or "default", command["dropped"])
        kind = "VIEW" if command.get("isView") else "TABLE"
        return DropCommand(command.get("catalog") or SESSION_CATALOG, name, kind, bool(command.get("ifExists")))
    if command["class"] == "DropTable" and len(nodes) > 1 and nodes[1].get("identifier"):
        table = nodes[1]
        name = (*(table.get("namespace") or ()), table["identifier"])
        catalog, url = table.get("catalogName") or SESSION_CATALOG, table.get("catalogUrl")
        return DropCommand(catalog, name, "TABLE", bool(command.get("ifExists")), url)
    return None


class DropTracker:
    """The drops of one application."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._open: dict[ExecutionId, _PendingDrop] = {}
        self._unmatched: list[TableName] = []
        """Dropped tables that match no pending command: the start of theirs has not been read yet."""
        self._known_tables: dict[tuple[str, str], DatasetRef] = {}

    def add_known_tables(self, tables: Iterable[DatasetRef]) -> None:
        """Tables that the job read or wrote: their location is known by then."""
        for table in tables:
            if table.kind != "FILE":
                self._known_tables[table.symlink or table.key] = table

    def command_started(self, execution: ExecutionId, command: DropCommand, tags: Iterable[str]) -> None:
        """A command may end before its start is read; its catalog events then come before this call."""
        pending = self._open[execution] = _PendingDrop(command, tuple(tags))
        for name in self._unmatched:
            if command.drops_table(name):
                pending.table_name = name

    def table_gone(self, database: str, table: str) -> None:
        """Spark's own catalog has dropped the table."""
        name = (database, table)
        commands = [pending for pending in self._open.values() if pending.command.drops_table(name)]
        for pending in commands:
            pending.table_name = name
        if not commands:
            self._unmatched.append(name)

    def execution_ended(self) -> None:
        """Called at the end of every execution: tables dropped before it do not belong to a later command."""
        self._unmatched.clear()

    def command_ended(self, execution: ExecutionId, *, failed: bool) -> DroppedTable | None:
        """The table that the command has dropped; None if none, as far as can be known."""
        pending = self._open.pop(execution, None)
        if pending is None or failed:
            return None
        command = pending.command
        table = command.dataset(pending.table_name or command.name, self._catalogs)
        known_table = self._known_tables.pop(table.key, None)
        if command.catalog == SESSION_CATALOG:
            was_there = pending.table_name is not None
        else:
            was_there = known_table is not None or not command.if_exists
        return DroppedTable(known_table or table, pending.tags) if was_there else None
