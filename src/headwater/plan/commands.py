"""What a plan writes: the command at its root, the query it writes, and the names the target gives its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from headwater.plan.relation import Column, attributes
from headwater.plan.tree import Node


@dataclass(frozen=True, slots=True)
class Write:
    command: str
    """The command's simple class name."""
    kind: str
    """append, overwrite, create, replace, merge, update, delete, view or stream; "write" where the plan's JSON does
    not tell (a DataFrameWriter's mode is not in it); "unknown" for a command that is not known here but holds a query.
    """
    query: Node | None
    """None where the command does not carry it, or changes rows in place."""
    columns: tuple[str, ...]
    """The target's columns in the order of the query's output; empty where the command does not state them."""
    node: Node = field(compare=False, repr=False)
    """The command itself: its target is in there, as far as the JSON tells."""
    by_name: bool = False
    """The query has more than the target's columns; those named in ``columns`` are the target's."""
    unnamed: bool = False
    """The command gives the columns other names than the query, and the plan's JSON does not say which: whoever knows
    them puts them into ``columns``."""

    def renamed(self, columns: Sequence[Column]) -> Iterator[Column]:
        """The query's columns as the target's."""
        if self.by_name:
            wanted = set(self.columns)
            yield from (column for column in columns if column.name in wanted)
        elif len(self.columns) == len(columns):
            for column, name in zip(columns, self.columns, strict=True):
                yield column if column.name == name else replace(column, name=name, home=None)
        else:
            yield from columns


class _Command(NamedTuple):
    kind: str | Callable[[Node], str]
    query: str = "query"
    names: Callable[[Node], tuple[str, ...]] = lambda node: ()
    by_name: bool = False


def read_write(root: Node) -> Write | None:
    """What a plan writes. None: nothing (a query, DDL without data, a temporary view).

    One statement can write several times (`FROM … INSERT … INSERT …`): see :func:`read_writes`.
    """
    writes = read_writes(root)
    return writes[0] if writes else None


def read_writes(root: Node) -> tuple[Write, ...]:
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


def _read(node: Node) -> Write | None:
    command = _COMMANDS.get(node.name)
    if command is None:
        query = node.tree("query") if node.name.endswith("Command") else None
        return Write(node.name, "unknown", query, (), node) if query is not None else None
    if node.named("viewType") in ("LocalTempView", "GlobalTempView"):
        return None
    kind = command.kind if isinstance(command.kind, str) else command.kind(node)
    names = command.names(node)
    unnamed = bool(node.fields.get("userSpecifiedColumns")) and not names
    return Write(node.name, kind, node.tree(command.query), names, node, command.by_name, unnamed)


def _with_ctes(write: Write, around: Node) -> Write:
    """A query whose common table expressions are defined around the command."""
    if write.query is None:
        return write
    definitions = around.trees("cteDefs")
    fields = {"plan": len(definitions), "cteDefs": list(range(len(definitions)))}
    return replace(write, query=Node("WithCTE", fields, (*definitions, write.query)))


def _listed(node: Node) -> tuple[str, ...]:
    """`outputColumnNames`, which Spark writes as one string and cuts off when it is long: then the count does not fit
    the query's and the query's own names hold, which by then are the target's."""
    text = node.text("outputColumnNames")
    return tuple(text[1:-1].split(", ")) if text and text.startswith("[") and len(text) > 2 else ()


def _table(node: Node) -> tuple[str, ...]:
    table = node.tree("table")
    while table is not None and table.children:
        table = table.children[0]
    return () if table is None else tuple(a.name for a in attributes(table.trees("output")))


def _view_columns(node: Node) -> tuple[str, ...]:
    """`CREATE VIEW v (x, y COMMENT '…')`, if the JSON has the names and not only their number."""
    pairs = node.fields.get("userSpecifiedColumns") or ()
    names = tuple(pair["_1"] for pair in pairs if isinstance(pair, dict) and isinstance(pair.get("_1"), str))
    return names if len(names) == len(pairs) else ()


def _insert(node: Node) -> str:
    if "overwrite" not in node.fields:
        return "write"
    return "overwrite" if node.flag("overwrite") else "append"


_WRAPPERS = {"CommandResult": "commandLogicalPlan", "ReturnAnswer": "child", "Subquery": "child"}

_COMMANDS: dict[str, _Command] = {
    "InsertIntoHadoopFsRelationCommand": _Command("write", names=_listed),
    "InsertIntoDataSourceCommand": _Command(_insert),
    "InsertIntoDataSourceDirCommand": _Command(_insert),
    "InsertIntoHiveTable": _Command(_insert, names=_listed),
    "InsertIntoHiveDirCommand": _Command(_insert, names=_listed),
    "SaveIntoDataSourceCommand": _Command("write"),
    "SaveAsV1TableCommand": _Command("write"),
    "CreateDataSourceTableAsSelectCommand": _Command("create", names=_listed),
    "CreateHiveTableAsSelectCommand": _Command("create", names=_listed),
    "OptimizedCreateHiveTableAsSelectCommand": _Command("create", names=_listed),
    "CreateTableAsSelect": _Command("create"),
    "ReplaceTableAsSelect": _Command("replace"),
    "AppendData": _Command("append", names=_table),
    "OverwriteByExpression": _Command("overwrite", names=_table),
    "OverwritePartitionsDynamic": _Command("overwrite", names=_table),
    "ReplaceData": _Command("replace", names=_table, by_name=True),
    "WriteDelta": _Command("replace", names=_table, by_name=True),
    "InsertOnlyMerge": _Command("merge", names=_table),
    "MergeIntoTable": _Command("merge", query=""),
    "UpdateTable": _Command("update", query=""),
    "DeleteFromTable": _Command("delete", query=""),
    "DeleteFromTableWithFilters": _Command("delete", query=""),
    "MergeIntoCommand": _Command("merge", query=""),
    "UpdateCommand": _Command("update", query=""),
    "DeleteCommand": _Command("delete", query=""),
    "WriteIntoDelta": _Command("write", query="data"),
    "CreateDeltaTableCommand": _Command("create"),
    "CreateViewCommand": _Command("view", query="plan", names=_view_columns),
    "CreateView": _Command("view", names=_view_columns),
    "AlterViewAsCommand": _Command("view"),
    "WriteToMicroBatchDataSource": _Command("stream"),
    "WriteToMicroBatchDataSourceV1": _Command("stream"),
    "WriteToContinuousDataSource": _Command("stream"),
    "WriteToStream": _Command("stream", query="inputQuery"),
    "WriteToStreamStatement": _Command("stream", query="inputQuery"),
}
