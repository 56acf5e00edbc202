"""What Spark leaves out of a plan's JSON, put in.

`TreeNode.toJSON` writes the projections of an Expand as null if they are not lists of Scala's own kind: UNPIVOT makes
such.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from headwater.capture.listener.plan_facts import Facts

_MISSING = '"projections":null'


def lacks_projections(text: str) -> bool:
    return _MISSING in text


def with_projections(text: str, nodes: Iterable[Facts]) -> str:
    """The JSON of a plan with the projections from the facts about its nodes (`plan_facts.EXPAND`)."""
    rows_by_output = {
        tuple(node["outputIds"]): _rows(list(map(json.loads, node["projections"])), len(node["outputIds"]))
        for node in nodes
        if "projections" in node and "outputIds" in node
    }
    plan: object = json.loads(text)
    for node in _nodes(plan):
        if "projections" in node and node["projections"] is None:
            node["projections"] = rows_by_output.get(tuple(_output_ids(node.get("output"))))
    return json.dumps(plan)


def _rows(expressions: list[object], width: int) -> list[list[object]]:
    """The facts list the expressions of all projections one after the other."""
    return [expressions[start : start + width] for start in range(0, len(expressions), width)]


def _nodes(value: object) -> Iterator[dict[str, object]]:
    open_values = [value]
    while open_values:
        item = open_values.pop()
        if isinstance(item, list):
            open_values.extend(item)
        elif isinstance(item, dict):
            if "class" in item:
                yield item
            open_values.extend(item.values())


def _output_ids(output: object) -> Iterator[int]:
    """Each attribute of an output is a list of one node."""
    for attribute in output if isinstance(output, list) else ():
        expr_id = next((node["exprId"] for node in attribute if "exprId" in node), None)
        if isinstance(expr_id, dict):
            yield expr_id["id"]
