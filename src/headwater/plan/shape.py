"""A plan in a form that is the same in every run: without the expression ids and file listings of one run.

Columns and common table expressions are numbered in the order in which the plan mentions them, operators come in
pre-order. Sources are named by their datasets; how Spark represents a source (its files, its catalog entry with the
creation time) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.plan.commands import WriteCommand
from headwater.plan.tree import PlanNode, simple_name

_IGNORED_FIELDS = frozenset(
    {
        *("class", "num-children", "jvmId", "metadata", "explicitMetadata", "nonInheritableMetadataKeys", "qualifier"),
        *("stats", "statistics", "createTime", "lastAccessTime", "catalogTable", "tableMeta", "desc", "origin"),
        *("fileIndex", "bucketSpec", "initialOutputPath", "rdd", "originStats", "originConstraints", "session"),
        *("timeZoneId", "nestingLevel", "evalType", "func", "hint", "tagsToKeep"),
    }
)
_CTE = ("cteId", "loopId")


def canonical_plan(
    write: WriteCommand, reads: Mapping[int, str], target: str, behind: Sequence[PlanNode] = ()
) -> dict[str, object]:
    """``reads``: by the id of a source's column, its dataset; ``target``: the dataset that is written; ``behind``: the
    plans that DataFrames of this one were cut off from."""
    shape = _CanonicalPlan(reads)
    query = write.node if write.query is None else write.query
    document: dict[str, object] = {
        "command": write.command,
        "kind": write.kind,
        "target": target,
        "plan": shape.of(query),
    }
    return {**document, "behind": [shape.of(plan) for plan in behind]} if behind else document


class _CanonicalPlan:
    def __init__(self, reads: Mapping[int, str]) -> None:
        self._reads = reads
        self._columns: dict[int, int] = {}
        self._ctes: dict[object, int] = {}

    def of(self, root: PlanNode) -> list[dict[str, object]]:
        nodes = []
        pending = [root]
        while pending:
            node = pending.pop()
            nodes.append(self._node(node.name, len(node.children), node.fields))
            pending.extend(reversed(node.children))
        return nodes

    def _node(self, name: str, children: int, fields: Mapping[str, object]) -> dict[str, object]:
        document: dict[str, object] = {"is": name, "children": children}
        reads = self._source(fields) if not children else None
        if reads is not None:
            return document | reads | {key: fields[key] for key in ("start", "end", "step") if key in fields}
        for key in sorted(fields):
            value = fields[key]
            if key in _IGNORED_FIELDS or value is None:
                continue
            if key in _CTE or (name == "CTERelationDef" and key == "id"):
                document[key] = self._ctes.setdefault(value, len(self._ctes))
            else:
                document[key] = self._value(value)
        return document

    def _source(self, fields: Mapping[str, object]) -> dict[str, object] | None:
        """Of a leaf: its dataset and columns; None if it is not a leaf."""
        output = fields.get("output")
        if not isinstance(output, list) or "cteId" in fields or "loopId" in fields:
            return None
        columns = self._value(output)
        ids = [id for column in output for attribute in column if (id := _id(attribute.get("exprId"))) is not None]
        return {"reads": sorted({self._reads[id] for id in ids if id in self._reads}), "output": columns}

    def _value(self, value: object) -> object:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        id = _id(value)
        if id is not None:
            return self._columns.setdefault(id, len(self._columns))
        if "num-children" in value and isinstance(value.get("class"), str):
            return self._node(simple_name(value["class"]), value["num-children"], value)
        return {key: self._value(item) for key, item in value.items() if key not in _IGNORED_FIELDS}


def _id(value: object) -> int | None:
    """The id in Catalyst's expression id: `{"id": 7, "jvmId": …}`."""
    expr_id = value.get("id") if isinstance(value, dict) and "jvmId" in value else None
    return expr_id if isinstance(expr_id, int) else None
