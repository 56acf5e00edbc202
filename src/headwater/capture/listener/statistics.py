"""What Spark measured while it ran: rows, time, bytes and spill, node by node, from its own metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.capture.events.inputs import Input
from headwater.capture.naming.dataset_ref import Place

Node = Mapping[str, Any]

_ROWS = ("numOutputRows", "pythonNumRowsReceived")
_TIMES = {"timing": 1.0, "nsTiming": 1e-6}  # to milliseconds
_BYTES = ("filesSize", "numOutputBytes", "dataSize", "bytesRead")
_SPILL = ("spillSize",)
_WRAPPERS = frozenset(
    {
        *("WholeStageCodegenExec", "InputAdapter", "AdaptiveSparkPlanExec", "ColumnarToRowExec", "AQEShuffleReadExec"),
        *("ResultQueryStageExec", "ShuffleQueryStageExec", "BroadcastQueryStageExec", "TableCacheQueryStageExec"),
        "Together",  # our own: a command's plan beside those of its steps
    }
)
_OF_THE_PROGRAM = ("RDDScanExec", "LocalTableScanExec")


@dataclass(frozen=True)
class Amount:
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None

    def __bool__(self) -> bool:
        return (self.rows, self.bytes, self.files) != (None, None, None)

    def __add__(self, other: Amount) -> Amount:
        def added(a: int | None, b: int | None) -> int | None:
            return None if a is None and b is None else (a or 0) + (b or 0)

        return Amount(added(self.rows, other.rows), added(self.bytes, other.bytes), added(self.files, other.files))


def together(amounts: Sequence[Amount]) -> Amount:
    """What is not known of one is not known of all."""

    def added(values: Sequence[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    return Amount(
        added([each.rows for each in amounts]),
        added([each.bytes for each in amounts]),
        added([each.files for each in amounts]),
    )


@dataclass(frozen=True)
class NodeTelemetry:
    """One node of the physical plan. ``parent`` is the place of its parent in the list, -1 for the root."""

    name: str
    parent: int
    rows: int | None
    latency_ms: float | None
    bytes: int | None
    spill_bytes: int | None
    metrics: Mapping[str, int]


def written_amount(nodes: Sequence[Node]) -> Amount:
    """What the command at the top wrote. A command that measures nothing wrote what its query gave it."""
    for node in nodes:
        found = _values(node)
        if "numOutputBytes" in found or ("numFiles" in found and "filesSize" not in found):
            return Amount(found.get("numOutputRows"), found.get("numOutputBytes"), found.get("numFiles"))
        if "numOutputRows" in found:
            return Amount(found["numOutputRows"])
    return Amount()


def amount_told(said: Mapping[str, Any]) -> Amount:
    """What the tasks of a write say they wrote (jvm/Records.java), for a command whose plan holds no number."""
    return Amount(*said.get("recordsWritten") or ())


def read_amounts(nodes: Iterable[Node], inputs: Iterable[Input]) -> dict[tuple[str, str], Amount]:
    """What was read of each input: the sum of its scans, found by the ids of the columns they bring. A scan over
    several datasets at once does not say how much was of which."""
    owners: dict[int, list[Place]] = {}
    for item in inputs:
        for id in item.ids:
            owners.setdefault(id, []).append(item.place)
    found: dict[tuple[str, str], Amount] = {}
    for node in nodes:
        places = next((owners[id] for id in node.get("ids") or () if id in owners), [])
        # Rows that come out of the program's memory, a checkpoint's among them, were not read from a dataset.
        if len(places) == 1 and (places[0].kind == "MEMORY") == (node["class"] in _OF_THE_PROGRAM):
            values, key = _values(node), places[0].key
            scan = Amount(values.get("numOutputRows"), values.get("filesSize"), values.get("numFiles"))
            found[key] = found[key] + scan if key in found else scan
    return found


def telemetry(nodes: Sequence[Node], leave_out: Iterable[str] = ()) -> Iterator[NodeTelemetry]:
    """Every node that did something, without Spark's own wrappers; ``leave_out`` names nodes not to be told of."""
    unwanted = {name.lower() for name in leave_out}
    places: dict[int, int] = {-1: -1}
    told = 0
    for at, node in enumerate(nodes):
        above = places[node["parent"]]
        name = str(node.get("name", node["class"])).strip()
        if node["class"] in _WRAPPERS or name.lower() in unwanted:
            places[at] = above
            continue
        places[at] = told
        told += 1
        values = _values(node)
        yield NodeTelemetry(
            name,
            above,
            next((values[key] for key in _ROWS if key in values), None),
            _latency(node),
            next((values[key] for key in _BYTES if key in values), None),
            next((values[key] for key in _SPILL if key in values), None),
            {key: value for key, value in sorted(values.items()) if value},
        )


def _values(node: Node) -> dict[str, int]:
    """The metrics that were set: one that never was has a negative value."""
    metrics = node.get("metrics") or {}
    return {name: found["value"] for name, found in metrics.items() if isinstance(found, dict) and _is_set(found)}


def _is_set(metric: Mapping[str, Any]) -> bool:
    value = metric.get("value")
    return isinstance(value, int) and value >= 0


def _latency(node: Node) -> float | None:
    metrics = (node.get("metrics") or {}).values()
    times = [m["value"] * _TIMES[m["type"]] for m in metrics if m.get("type") in _TIMES and _is_set(m)]
    return round(sum(times), 3) if times else None
