"""A plan in a form that is the same in every run: what it does to what, and none of the ids and listings of the day.

Columns and common table expressions are numbered in the order in which the plan mentions them, operators come in
pre-order. What is read goes by the names of datasets; how a source is made up inside Spark (its files, its catalog
entry with the time it was made) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwater.plan.commands import Write
from headwater.plan.tree import Node, simple_name

_LEFT_OUT = frozenset(
    {
        *("class", "num-children", "jvmId", "metadata", "explicitMetadata", "nonInheritableMetadataKeys", "qualifier"),
        *("stats", "statistics", "createTime", "lastAccessTime", "catalogTable", "tableMeta", "desc", "origin"),
        *("fileIndex", "bucketSpec", "initialOutputPath", "rdd", "originStats", "originConstraints", "session"),
        *("timeZoneId", "nestingLevel", "evalType", "func", "hint", "tagsToKeep"),
    }
)
_CTE = ("cteId", "loopId")


def shape_of(write: Write, reads: Mapping[int, str], target: str, behind: Sequence[Node] = ()) -> dict[str, Any]:
    """``reads``: by the id of a source's column the datasets that it is read from; ``target``: the one written;
    ``behind``: the plans that frames of this one were cut off from."""
    shape = _Shape(reads)
    query = write.node if write.query is None else write.query
    told = {"command": write.command, "kind": write.kind, "target": target, "plan": shape.of(query)}
    return {**told, "behind": [shape.of(each) for each in behind]} if behind else told


class _Shape:
    def __init__(self, reads: Mapping[int, str]) -> None:
        self._reads = reads
        self._columns: dict[int, int] = {}
        self._ctes: dict[int, int] = {}

    def of(self, root: Node) -> list[Any]:
        found = []
        todo = [root]
        while todo:
            node = todo.pop()
            found.append(self._node(node.name, len(node.children), node.fields))
            todo.extend(reversed(node.children))
        return found

    def _node(self, name: str, children: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"is": name, "children": children}
        reads = self._source(fields) if not children else None
        if reads is not None:
            return told | reads | {key: fields[key] for key in ("start", "end", "step") if key in fields}
        for key in sorted(fields):
            value = fields[key]
            if key in _LEFT_OUT or value is None:
                continue
            if key in _CTE or (name == "CTERelationDef" and key == "id"):
                told[key] = self._ctes.setdefault(value, len(self._ctes))
            else:
                told[key] = self._value(value)
        return told

    def _source(self, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        """Of an operator that reads: what, and the columns; None if it is none."""
        output = fields.get("output")
        if not isinstance(output, list) or "cteId" in fields or "loopId" in fields:
            return None
        columns = self._value(output)
        ids = [id for column in output for each in column if (id := _id(each.get("exprId"))) is not None]
        return {"reads": sorted({self._reads[id] for id in ids if id in self._reads}), "output": columns}

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if not isinstance(value, dict):
            return value
        id = _id(value)
        if id is not None:
            return self._columns.setdefault(id, len(self._columns))
        if "num-children" in value and isinstance(value.get("class"), str):
            return self._node(simple_name(value["class"]), value["num-children"], value)
        return {key: self._value(each) for key, each in value.items() if key not in _LEFT_OUT}


def _id(value: Any) -> int | None:
    """Of what Catalyst knows a column by: `{"id": 7, "jvmId": …}`."""
    found = value.get("id") if isinstance(value, dict) and "jvmId" in value else None
    return found if isinstance(found, int) else None
