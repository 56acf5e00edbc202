"""Why rows of a source are not in a result: how many are left after each operator, and what stopped the last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from headwater.errors import shorten
from headwater.rows.backward import result_rows, with_out_ids
from headwater.rows.forward import ForwardTrace
from headwater.rows.marked import MarkedSource
from headwater.rows.why_not_path import OperatorPath, OperatorStep
from headwater.rows.why_not_reasons import StopReason, StopReasons, group_texts, json_value
from headwater.rows.why_not_render import why_not_html, why_not_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_CULPRITS = 3
_MAX_SHOWN_IDS = 5


@dataclass(frozen=True)
class Culprit:
    """An operator that let none of the rows through. ``occurrence``: the source's number in the plan, which tells the
    sides of a self-join apart."""

    operator: str
    text: str
    kind: str
    explanation: str
    values: Mapping[str, Any]
    before: int
    after: int
    occurrence: int


@dataclass(frozen=True)
class Survivors:
    """``rows``: how many there are after the operator; None beyond code that cannot be looked into."""

    operator: str
    text: str
    kind: str
    rows: int | None
    occurrence: int


@dataclass
class _OccurrenceAnswer:
    """What was found out about one occurrence of the source."""

    path: OperatorPath
    counts: dict[int, int]
    culprits: list[Culprit] = field(default_factory=list)
    merge_texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        return self.counts.get(len(self.path.steps) - 1, 0) > 0

    @property
    def opaque_step(self) -> OperatorStep | None:
        """The code that the rows went into, if nothing stopped them before."""
        hidden = next((step for step in self.path.steps if not step.visible), None)
        return hidden if hidden and self.counts[hidden.number - 1] > 0 else None


class WhyNot:
    """The answer of `hw.why_not`. A source that is in the plan more than once has a way up from each occurrence; the
    rows reached the result if they did by one of them, and there are culprits for the others."""

    def __init__(self, spark: SparkSession, asked: MarkedSource) -> None:
        self.source = asked.dataset
        self.where = asked.where
        self._provenance = asked.provenance
        self._forward = ForwardTrace(asked.provenance, asked.sources)
        self._reasons = StopReasons([_short_name(str(named.dataset)) for named in asked.names])
        self._occurrences = [
            self._examine(OperatorPath(spark, asked.provenance.operator_path(number, asked.where)))
            for number in asked.sources
        ]
        hidden = [way.opaque_step for way in self._occurrences if way.opaque_step]
        self.exists = any(way.counts[0] > 0 for way in self._occurrences)
        self.reached: bool = any(way.reached for way in self._occurrences) or (bool(hidden) and self._forward.reached)
        self.culprits = [each for way in self._occurrences for each in way.culprits]
        self.survivors = [each for way in self._occurrences for each in self._survivors(way)]
        self.merged = [each for way in self._occurrences for each in way.merge_texts]
        self.notes = (
            *self._forward.notes,
            *(note for way in self._occurrences for note in way.notes),
            *(f"{step.operator}: rows cannot be followed one by one through this code" for step in hidden),
        )
        self.out_ids: list[str] = self._out_ids() if self.reached else []

    @cached_property
    def rows(self) -> DataFrame:
        """The rows of the result that they became, and their `out_id`. Rows that merely share a window with them are
        not among these, as they are in `hw.trace_forward`."""
        if any(way.opaque_step for way in self._occurrences):
            return self._forward.rows
        found = [
            way.path.surviving_rows() for way in self._occurrences if way.reached
        ]  # the others' paths have been relaxed
        none = self._provenance.frame(0).where("false")
        whole = reduce(lambda one, other: one.union(other), found) if found else none
        return result_rows(self._provenance, with_out_ids(self._provenance, whole))

    @property
    def source_rows(self) -> DataFrame:
        """The rows asked about, and their `_file` and `_row`."""
        return self._forward.source_rows

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if not self.exists:
            return f"{_short_name(self.source)} has no row where {self.where}."
        first = [way.culprits[0] for way in self._occurrences if way.culprits]
        stopped = [f"{each.text}: {each.explanation}" for each in first]
        if self.reached:
            shown = ", ".join(self.out_ids[:_MAX_SHOWN_IDS]) + (", …" if len(self.out_ids) > _MAX_SHOWN_IDS else "")
            told = f"It did reach the result, {'; '.join((*self.merged, f'as out_id {shown}'))}."
            return f"{told} Elsewhere in the query it was stopped by {'; and by '.join(stopped)}." if stopped else told
        return f"{'; and elsewhere in the query '.join(stopped)}." if stopped else "What stopped it cannot be told."

    def show(self) -> None:
        """Print it."""
        from rich.console import Console

        Console().print(why_not_text(self))

    def to_json(self) -> str:
        return json.dumps(
            {
                "source": self.source,
                "where": self.where,
                "exists": self.exists,
                "reached": self.reached,
                "verdict": self.verdict,
                "culprits": [asdict(each) for each in self.culprits],
                "survivors": [asdict(each) for each in self.survivors],
                "merged": self.merged,
                "out_ids": self.out_ids,
                "notes": list(self.notes),
            },
            ensure_ascii=False,
            default=json_value,
        )

    def __repr__(self) -> str:
        return f"WhyNot({self.verdict!r})"

    def _repr_html_(self) -> str:
        return why_not_html(self)

    def _out_ids(self) -> list[str]:
        found = self.rows.select("out_id").distinct().limit(_MAX_SHOWN_IDS + 1).collect()
        return sorted(row["out_id"] for row in found)

    def _examine(self, path: OperatorPath) -> _OccurrenceAnswer:
        """Up to three operators that stop the rows, each but the first under the supposition that those before had
        not."""
        way = _OccurrenceAnswer(path, path.count_survivors())
        if way.reached:
            gathering = (step for step in path.steps if step.kind in ("aggregate", "distinct"))
            way.merge_texts = [text for step in gathering for text in group_texts(path, step)]
        counts = way.counts
        while counts[min(counts)] > 0 and len(way.culprits) < MAX_CULPRITS:
            step = next((each for each in path.steps if counts.get(each.number, 1) == 0), None)
            if step is None:
                break
            before = counts[step.number - 1]
            reason = self._reasons.explain(path, step, before)
            if reason.known:
                way.culprits.append(self._culprit(step, reason, before, path.source))
            if reason.is_final:
                break
            path.relax(step)
            try:
                counts = path.count_survivors(step.number)
            except (
                _query_errors()
            ) as failed:  # the query counts on what the operator keeps away, as zeros from a division
                message = shorten(str(failed).strip().partition("\n")[0])
                way.notes.append(f"what else would stop it cannot be told: had {step.text} let it through, {message}")
                break
        return way

    def _culprit(self, step: OperatorStep, reason: StopReason, before: int, occurrence: int) -> Culprit:
        text = reason.text or step.text
        return Culprit(step.operator, text, step.kind, reason.explanation, dict(reason.values), before, 0, occurrence)

    def _survivors(self, way: _OccurrenceAnswer) -> list[Survivors]:
        path = way.path
        return [
            Survivors(
                step.operator,
                self._reasons.operator_text(path, step),
                step.kind,
                way.counts.get(step.number),
                path.source,
            )
            for step in path.steps
        ]


def _query_errors() -> tuple[type[Exception], ...]:
    """What a query that fails while it runs is reported by."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def _short_name(dataset: str) -> str:
    """The last two parts of a name, which is how people call it."""
    return "/".join(dataset.rstrip("/").split("/")[-2:])
