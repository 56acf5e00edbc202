"""Spark's metrics of an execution: rows, time, bytes and spill by plan node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headwater.capture.events.inputs import WriteInput
from headwater.capture.listener.messages import Message
from headwater.capture.listener.plan_facts import Facts, Metric
from headwater.capture.naming.dataset_ref import DatasetRef

_ROWS = ("numOutputRows", "pythonNumRowsReceived")
_TIMES = {"timing": 1.0, "nsTiming": 1e-6}  # to milliseconds
_BYTES = ("filesSize", "numOutputBytes", "dataSize", "bytesRead")
_SPILL = ("spillSize",)
_WRAPPERS = frozenset(
    {
        *("WholeStageCodegenExec", "InputAdapter", "AdaptiveSparkPlanExec", "ColumnarToRowExec", "AQEShuffleReadExec"),
        *("ResultQueryStageExec", "ShuffleQueryStageExec", "BroadcastQueryStageExec", "TableCacheQueryStageExec"),
        "PlanWithSteps",  # of Headwater: a command's plan beside those of its steps (jvm/ExecutedCommand.java)
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


def sum_amounts(amounts: Sequence[Amount]) -> Amount:
    """A member that is unknown in one amount is unknown in the sum."""

    def added(values: Sequence[int | None]) -> int | None:
        values_known = [value for value in values if value is not None]
        return sum(values_known) if len(values_known) == len(values) else None

    return Amount(
        added([amount.rows for amount in amounts]),
        added([amount.bytes for amount in amounts]),
        added([amount.files for amount in amounts]),
    )


@dataclass(frozen=True)
class NodeTelemetry:
    """One node of the physical plan. ``parent`` is the index of its parent in the list, -1 for the root."""

    name: str
    parent: int
    rows: int | None
    latency_ms: float | None
    bytes: int | None
    spill_bytes: int | None
    metrics: Mapping[str, int]


def written_amount(nodes: Sequence[Facts]) -> Amount:
    """What the topmost command wrote. A command without metrics wrote the output of its query."""
    for node in nodes:
        metrics = _values(node)
        if "numOutputBytes" in metrics or ("numFiles" in metrics and "filesSize" not in metrics):
            return Amount(metrics.get("numOutputRows"), metrics.get("numOutputBytes"), metrics.get("numFiles"))
        if "numOutputRows" in metrics:
            return Amount(metrics["numOutputRows"])
    return Amount()


def amount_from_tasks(message: Message) -> Amount:
    """What the tasks of a write report (jvm/TaskOutputMetrics.java), for a command whose plan has no metric."""
    return Amount(*message.get("recordsWritten") or ())


def read_amounts(nodes: Iterable[Facts], inputs: Iterable[WriteInput]) -> dict[tuple[str, str], Amount]:
    """What was read of each input: the sum of its scans, matched by the ids of their columns. A scan over several
    datasets does not tell how much it read of each."""
    owners: dict[int, list[DatasetRef]] = {}
    for item in inputs:
        for id in item.ids:
            owners.setdefault(id, []).append(item.dataset)
    amounts: dict[tuple[str, str], Amount] = {}
    for node in nodes:
        datasets = next((owners[id] for id in node.get("ids") or () if id in owners), [])
        # Rows that come out of the program's memory, a checkpoint's among them, were not read from a dataset.
        if len(datasets) == 1 and (datasets[0].kind == "MEMORY") == (node["class"] in _OF_THE_PROGRAM):
            values, key = _values(node), datasets[0].key
            scan = Amount(values.get("numOutputRows"), values.get("filesSize"), values.get("numFiles"))
            amounts[key] = amounts[key] + scan if key in amounts else scan
    return amounts


def telemetry(nodes: Sequence[Facts], leave_out: Iterable[str] = ()) -> Iterator[NodeTelemetry]:
    """Every node, without Spark's own wrappers and the nodes named in ``leave_out``."""
    unwanted = {name.lower() for name in leave_out}
    index_of: dict[int, int] = {-1: -1}
    count = 0
    for index, node in enumerate(nodes):
        parent = index_of[node["parent"]]
        name = str(node.get("name", node["class"])).strip()
        if node["class"] in _WRAPPERS or name.lower() in unwanted:
            index_of[index] = parent
            continue
        index_of[index] = count
        count += 1
        values = _values(node)
        yield NodeTelemetry(
            name=name,
            parent=parent,
            rows=next((values[key] for key in _ROWS if key in values), None),
            latency_ms=_latency(node),
            bytes=next((values[key] for key in _BYTES if key in values), None),
            spill_bytes=next((values[key] for key in _SPILL if key in values), None),
            metrics={key: value for key, value in sorted(values.items()) if value},
        )


def _values(node: Facts) -> dict[str, int]:
    """The metrics that were set: an unset one has a negative value."""
    metrics = node.get("metrics") or {}
    return {name: metric["value"] for name, metric in metrics.items() if _is_set(metric)}


def _is_set(metric: Metric) -> bool:
    value = metric.get("value")
    return isinstance(value, int) and value >= 0


def _latency(node: Facts) -> float | None:
    metrics = (node.get("metrics") or {}).values()
    times = [m["value"] * _TIMES[m["type"]] for m in metrics if m.get("type") in _TIMES and _is_set(m)]
    return round(sum(times), 3) if times else None
