"""Commands that move, replace or add rows of a table without a query: RENAME, TRUNCATE, ADD PARTITION … LOCATION, SET
LOCATION, LOAD DATA.

What moves or adds rows is a run, whose columns are those of its input: a table that is renamed, and so changes its
location, is filled from its former location, and a partition at a location of its own from the folder there. What
changes a table and moves no rows is an event about the table, as a drop is (docs/decisions/0019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.capture.events.inputs import InputColumn, WriteInput
from headwater.capture.events.table_events import TableEvent
from headwater.capture.events.writes import CapturedWrite
from headwater.capture.events.written_schema import query_fields, unread_columns
from headwater.capture.listener.jvm import Bridge
from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.paths import file_dataset
from headwater.capture.naming.plan_sources import table_dataset, table_dataset_v2
from headwater.jvm import JavaObject
from headwater.plan.lineage import Gap

_COMMANDS = (
    "AlterTableRenameCommand",
    "RenameTable",
    "TruncateTableCommand",
    "TruncateTable",
    "AlterTableAddPartitionCommand",
    "AlterTableSetLocationCommand",
    "LoadDataCommand",
)
_COLUMNS_BY_NAME = ("parquet", "orc", "json", "avro", "delta", "iceberg", "hudi")
"""Formats whose files state the names of their columns."""


@dataclass(frozen=True)
class TableChange:
    """A running command."""

    nodes: Sequence[Facts]
    tags: tuple[str, ...]
    started: datetime


def is_table_change(nodes: Sequence[Facts]) -> bool:
    return nodes[0]["class"] in _COMMANDS


class TableChangeReader:
    """Reads the tables of a command after it has succeeded: the catalog knows them by then."""

    def __init__(self, bridge: Bridge, catalogs: Catalogs) -> None:
        self._bridge = bridge
        self._catalogs = catalogs

    def read(self, change: TableChange, execution: JavaObject) -> list[CapturedWrite | TableEvent]:
        command, facts = execution.analyzed(), change.nodes[0]
        name = facts["class"]
        if name in ("RenameTable", "TruncateTable"):
            return self._v2_change(change.nodes)
        catalog = execution.sparkSession().sessionState().catalog()
        if name == "LoadDataCommand":
            return self._loaded(facts, self._table(catalog, command.table()))
        if name == "AlterTableRenameCommand":
            old = command.oldName()
            return self._renamed(
                facts, self._table(catalog, old.copy(command.newName().table(), old.database(), old.catalog()))
            )
        table = self._table(catalog, command.tableName())
        if name == "TruncateTableCommand":
            parameters = {"partition": facts["partition"]} if facts.get("partition") else {}
            return [TableEvent(self._dataset(table), "TRUNCATE", "TRUNCATE TABLE", parameters)]
        if name == "AlterTableSetLocationCommand" and not facts.get("partition"):
            return [TableEvent(self._dataset(table), "ALTER", "ALTER TABLE SET LOCATION", {})]
        return self._partitions(facts, table, catalog, command)

    def _table(self, catalog: JavaObject, identifier: JavaObject) -> Facts:
        return self._bridge.plan_facts("catalog-table", catalog.getTableMetadata(identifier))[0]

    def _dataset(self, table: Facts) -> DatasetRef:
        return table_dataset(table, self._catalogs)

    def _renamed(self, command: Facts, table: Facts) -> list[CapturedWrite | TableEvent]:
        """A managed table moves with its name; any other stays where it is, under another name. Spark's catalogs move
        it to a folder beside the one it had."""
        new, old_name = self._dataset(table), command["changed"]
        location = table.get("location")
        folder, _, last = (location or "").rstrip("/").rpartition("/")
        if table.get("tableType") == "MANAGED" and last == table["table"]:
            old_location = f"{folder}/{old_name}"
        elif table.get("tableType") == "VIEW":
            old_location = None
        else:
            previous = self._dataset({**table, "table": old_name})
            return [TableEvent(new, "RENAME", "RENAME TABLE", {}, previous.symlink or previous.key)]
        old = self._dataset({**table, "table": old_name, "location": old_location})
        return [_copied("rename", command["class"], old, new, table)]

    def _loaded(self, command: Facts, table: Facts) -> list[CapturedWrite | TableEvent]:
        partition = _static(command.get("partition"))
        target = replace(self._dataset(table), partitions=(partition,) if partition else ())
        kind = "overwrite" if command.get("overwrite") else "append"
        written = _copied(kind, command["class"], file_dataset(command["source"]), target, table, partition)
        return [written]

    def _partitions(
        self, command: Facts, table: Facts, catalog: JavaObject, java_command: JavaObject
    ) -> list[CapturedWrite | TableEvent]:
        """Each partition that lies outside of the table's own folder."""
        if command["class"] == "AlterTableAddPartitionCommand":
            added = java_command.partitionSpecsAndLocs()
            count: int = added.size()
            pairs = (added.apply(index) for index in range(count))
            specs = [pair._1() for pair in pairs if pair._2().isDefined()]
        else:
            specs = [java_command.partitionSpec().get()]
        changes: list[CapturedWrite | TableEvent] = []
        for spec in specs:
            stored = self._bridge.plan_facts("catalog-table", catalog.getPartition(java_command.tableName(), spec))[0]
            folder = file_dataset(stored["location"] or "", format=(table.get("provider") or "").lower() or None)
            partition = _static(stored.get("partition"))
            target = replace(self._dataset(table), partitions=(partition,) if partition else ())
            if folder.key != target.key:
                changes.append(_copied("partition", command["class"], folder, target, table, partition))
        return changes

    def _v2_change(self, nodes: Sequence[Facts]) -> list[CapturedWrite | TableEvent]:
        """A table of a catalog of its own: by its location where it has one, else by its name."""
        command = nodes[0]
        table = next((node for node in nodes[1:] if node.get("identifier")), None)
        old = None if table is None else table_dataset_v2(table, self._catalogs)
        if table is None or old is None:
            return []
        if command["class"] == "TruncateTable":
            return [TableEvent(old, "TRUNCATE", "TRUNCATE TABLE", {})]
        parts = command.get("newParts") or []
        named: Facts = {**table, "namespace": parts[:-1] or table.get("namespace") or [], "identifier": parts[-1]}
        new = table_dataset_v2(named, self._catalogs)
        if new is None:
            return []
        if new.key == old.key:
            return [TableEvent(new, "RENAME", "RENAME TABLE", {}, old.symlink or old.key)]
        return [_copied("rename", command["class"], old, new, table)]


def _copied(
    kind: str,
    command: str,
    source: DatasetRef,
    target: DatasetRef,
    table: Facts,
    partition: Mapping[str, str] | None = None,
) -> CapturedWrite:
    """A write of the columns of ``source`` as they are; those of a partition come from its name."""
    columns = unread_columns(query_fields(table.get("querySchema")))
    by_name = kind == "rename" or (table.get("provider") or "").lower() in _COLUMNS_BY_NAME
    copied = [column.name for column in columns if column.name not in (partition or {})] if by_name else []
    gaps = () if by_name else (Gap(command, "the files do not say which of the table's columns they hold", ()),)
    return CapturedWrite(
        command=command,
        kind=kind,
        target=target,
        columns=columns,
        inputs=(WriteInput(source, (), frozenset()),),
        fields={name: (_copy_of(source, name),) for name in copied},
        whole=(),
        gaps=gaps,
        column_types=dict.fromkeys(copied, "direct"),
    )


def _copy_of(source: DatasetRef, column: str) -> InputColumn:
    return InputColumn(source, column, "DIRECT", "IDENTITY", masking=False, logic=column)


def _static(spec: Mapping[str, str | None] | None) -> dict[str, str]:
    return {name: value for name, value in (spec or {}).items() if value is not None}
