"""What a plan writes: the command at its root, the query it writes, and the target's column names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from headwater.plan.relation import RelationColumn, read_attributes
from headwater.plan.tree import PlanNode


@dataclass(frozen=True, slots=True)
class WriteCommand:
    """A command that writes."""

    command: str
    """The command's simple class name."""
    kind: str
    """append, overwrite, create, replace, merge, update, delete, view or stream; "write" if the plan's JSON does not
    state it (it does not contain a DataFrameWriter's mode); "unknown" for an unknown command with a query."""
    query: PlanNode | None
    """None if the command does not contain it, or changes rows in place."""
    columns: tuple[str, ...]
    """The target's columns in the order of the query's output; empty if the command does not state them."""
    node: PlanNode = field(compare=False, repr=False)
    """The command itself: it contains its target, as far as the JSON has it."""
    by_name: bool = False
    """The query has more columns than the target; those named in ``columns`` are the target's."""
    unnamed: bool = False
    """The command renames the query's columns, and the plan's JSON does not contain the names: a caller that knows them
    sets ``columns``."""

    def renamed(self, columns: Sequence[RelationColumn]) -> Iterator[RelationColumn]:
        """The query's columns as the target's."""
        if self.by_name:
            wanted = set(self.columns)
            yield from (column for column in columns if column.name in wanted)
        elif len(self.columns) == len(columns):
            for column, name in zip(columns, self.columns, strict=True):
                yield column if column.name == name else replace(column, name=name, home=None)
        else:
            yield from columns


class _CommandRule(NamedTuple):
    kind: str | Callable[[PlanNode], str]
    query: str = "query"
    names: Callable[[PlanNode], tuple[str, ...]] = lambda node: ()
    by_name: bool = False


def read_write(root: PlanNode) -> WriteCommand | None:
    """What a plan writes. None: nothing (a query, DDL without data, a temporary view).

    One statement can write several times (`FROM … INSERT … INSERT …`): see :func:`read_writes`.
    """
    writes = read_writes(root)
    return writes[0] if writes else None


def read_writes(root: PlanNode) -> tuple[WriteCommand, ...]:
    """Every write of a plan, in the order of the statement."""
    if root.name in _WRAPPERS:
        inner = root.tree(_WRAPPERS[root.name])
        return read_writes(inner) if inner is not None else ()
    if root.name == "WithCTE":
        query = root.tree("plan")
        return tuple(_with_ctes(write, root) for write in read_writes(query)) if query is not None else ()
    if root.name == "Union":
        first = root
        while first.name == "Union" and first.children:  # a chain of unions can be longer than Python's stack
            first = first.children[0]
        return tuple(write for child in root.children for write in read_writes(child)) if read_writes(first) else ()
    write = _read(root)
    return (write,) if write is not None else ()


def _read(node: PlanNode) -> WriteCommand | None:
    command = _COMMANDS.get(node.name)
    if command is None:
        query = node.tree("query") if node.name.endswith("Command") else None
        return WriteCommand(node.name, "unknown", query, (), node) if query is not None else None
    if node.object_name("viewType") in ("LocalTempView", "GlobalTempView"):
        return None
    kind = command.kind if isinstance(command.kind, str) else command.kind(node)
    names = command.names(node)
    unnamed = bool(node.fields.get("userSpecifiedColumns")) and not names
    return WriteCommand(
        command=node.name,
        kind=kind,
        query=node.tree(command.query),
        columns=names,
        node=node,
        by_name=command.by_name,
        unnamed=unnamed,
    )


def _with_ctes(write: WriteCommand, around: PlanNode) -> WriteCommand:
    """A query whose common table expressions are defined around the command."""
    if write.query is None:
        return write
    definitions = around.trees("cteDefs")
    fields = {"plan": len(definitions), "cteDefs": list(range(len(definitions)))}
    return replace(write, query=PlanNode("WithCTE", fields, (*definitions, write.query)))


def _output_column_names(node: PlanNode) -> tuple[str, ...]:
    """`outputColumnNames`, which Spark writes as one string and truncates if it is long: then the count does not match
    the query's, and the query's own names are used, which are the target's by then."""
    text = node.text("outputColumnNames")
    return tuple(text[1:-1].split(", ")) if text and text.startswith("[") and len(text) > 2 else ()


def _table_columns(node: PlanNode) -> tuple[str, ...]:
    table = node.tree("table")
    while table is not None and table.children:
        table = table.children[0]
    return () if table is None else tuple(a.name for a in read_attributes(table.trees("output")))


def _view_columns(node: PlanNode) -> tuple[str, ...]:
    """`CREATE VIEW v (x, y COMMENT '…')`, if the JSON contains the names and not only their number."""
    pairs = node.fields.get("userSpecifiedColumns")
    if not isinstance(pairs, list):
        return ()
    names = tuple(pair["_1"] for pair in pairs if isinstance(pair, dict) and isinstance(pair.get("_1"), str))
    return names if len(names) == len(pairs) else ()


def _insert(node: PlanNode) -> str:
    if "overwrite" not in node.fields:
        return "write"
    return "overwrite" if node.flag("overwrite") else "append"


_WRAPPERS = {"CommandResult": "commandLogicalPlan", "ReturnAnswer": "child", "Subquery": "child"}

_COMMANDS: dict[str, _CommandRule] = {
    "InsertIntoHadoopFsRelationCommand": _CommandRule("write", names=_output_column_names),
    "InsertIntoDataSourceCommand": _CommandRule(_insert),
    "InsertIntoDataSourceDirCommand": _CommandRule(_insert),
    "InsertIntoHiveTable": _CommandRule(_insert, names=_output_column_names),
    "InsertIntoHiveDirCommand": _CommandRule(_insert, names=_output_column_names),
    "SaveIntoDataSourceCommand": _CommandRule("write"),
    "SaveAsV1TableCommand": _CommandRule("write"),
    "CreateDataSourceTableAsSelectCommand": _CommandRule("create", names=_output_column_names),
    "CreateHiveTableAsSelectCommand": _CommandRule("create", names=_output_column_names),
    "OptimizedCreateHiveTableAsSelectCommand": _CommandRule("create", names=_output_column_names),
    "CreateTableAsSelect": _CommandRule("create"),
    "ReplaceTableAsSelect": _CommandRule("replace"),
    "AppendData": _CommandRule("append", names=_table_columns),
    "OverwriteByExpression": _CommandRule("overwrite", names=_table_columns),
    "OverwritePartitionsDynamic": _CommandRule("overwrite", names=_table_columns),
    "ReplaceData": _CommandRule("replace", names=_table_columns, by_name=True),
    "WriteDelta": _CommandRule("replace", names=_table_columns, by_name=True),
    "InsertOnlyMerge": _CommandRule("merge", names=_table_columns),
    "MergeIntoTable": _CommandRule("merge", query=""),
    "UpdateTable": _CommandRule("update", query=""),
    "DeleteFromTable": _CommandRule("delete", query=""),
    "DeleteFromTableWithFilters": _CommandRule("delete", query=""),
    "MergeIntoCommand": _CommandRule("merge", query=""),
    "UpdateCommand": _CommandRule("update", query=""),
    "DeleteCommand": _CommandRule("delete", query=""),
    "WriteIntoDelta": _CommandRule("write", query="data"),
    "CreateDeltaTableCommand": _CommandRule("create"),
    "CreateViewCommand": _CommandRule("view", query="plan", names=_view_columns),
    "CreateView": _CommandRule("view", names=_view_columns),
    "AlterViewAsCommand": _CommandRule("view"),
    "WriteToMicroBatchDataSource": _CommandRule("stream"),
    "WriteToMicroBatchDataSourceV1": _CommandRule("stream"),
    "WriteToContinuousDataSource": _CommandRule("stream"),
    "WriteToStream": _CommandRule("stream", query="inputQuery"),
    "WriteToStreamStatement": _CommandRule("stream", query="inputQuery"),
}
