"""Why source rows are not in a result: how many are left after each operator, and which operator stopped the last."""

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
    """``rows``: how many are left after the operator; None beyond opaque code."""

    operator: str
    text: str
    kind: str
    rows: int | None
    occurrence: int


@dataclass
class _OccurrenceAnswer:
    """The answer for one occurrence of the source."""

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
        """The opaque step that the rows reached, if nothing stopped them before."""
        hidden = next((step for step in self.path.steps if not step.visible), None)
        return hidden if hidden and self.counts[hidden.number - 1] > 0 else None


class WhyNot:
    """The answer of `hw.why_not`. A source that occurs more than once in the plan has a path from each occurrence; the
    rows reached the result if they did on one of them, and the others have culprits."""

    def __init__(self, spark: SparkSession, marked: MarkedSource) -> None:
        self.source = marked.dataset
        self.where = marked.where
        self._provenance = marked.provenance
        self._forward = ForwardTrace(marked.provenance, marked.sources)
        self._reasons = StopReasons([_short_name(str(named.dataset)) for named in marked.names])
        self._occurrences = [
            self._examine(OperatorPath(spark, marked.provenance.operator_path(number, marked.where)))
            for number in marked.sources
        ]
        opaque_steps = [answer.opaque_step for answer in self._occurrences if answer.opaque_step]
        self.exists = any(answer.counts[0] > 0 for answer in self._occurrences)
        self._opaque_steps = [step.text for step in opaque_steps]
        self.reached: bool | None = any(answer.reached for answer in self._occurrences)
        """Whether they reached the result; None if they reached code that cannot be seen into, and then no one
        knows."""
        if not self.reached and opaque_steps and self._forward.reached:
            self.reached = None
        self.culprits = [entry for answer in self._occurrences for entry in answer.culprits]
        self.survivors = [entry for answer in self._occurrences for entry in self._survivors(answer)]
        self.merged = [entry for answer in self._occurrences for entry in answer.merge_texts]
        self.notes = (
            *self._forward.notes,
            *(note for answer in self._occurrences for note in answer.notes),
            *(f"{step.text}: single rows cannot be followed through this code" for step in opaque_steps),
        )
        self.out_ids: list[str] = self._out_ids() if self.reached else []

    @cached_property
    def rows(self) -> DataFrame:
        """The result rows that they became, and their `out_id`. Unlike in `hw.trace_forward`, rows that only share a
        window with them are not among these."""
        if any(answer.opaque_step for answer in self._occurrences):
            return self._forward.rows
        frames = [
            answer.path.surviving_rows() for answer in self._occurrences if answer.reached
        ]  # the other paths have been relaxed
        no_rows = self._provenance.frame(0).where("false")
        rows = reduce(lambda left, right: left.union(right), frames) if frames else no_rows
        return result_rows(self._provenance, with_out_ids(self._provenance, rows))

    @property
    def source_rows(self) -> DataFrame:
        """The source rows in question, and their `_file` and `_row`."""
        return self._forward.source_rows

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if not self.exists:
            return f"{_short_name(self.source)} has no row where {self.where}."
        first = [answer.culprits[0] for answer in self._occurrences if answer.culprits]
        stopped = [f"{culprit.text}: {culprit.explanation}" for culprit in first]
        if self.reached:
            shown = ", ".join(self.out_ids[:_MAX_SHOWN_IDS]) + (", …" if len(self.out_ids) > _MAX_SHOWN_IDS else "")
            sentence = f"It did reach the result, {'; '.join((*self.merged, f'as out_id {shown}'))}."
            return (
                f"{sentence} Elsewhere in the query it was stopped by {'; and by '.join(stopped)}."
                if stopped
                else sentence
            )
        if self.reached is None:
            code = " and ".join(dict.fromkeys(self._opaque_steps))
            return f"It reached {code}, whose code cannot be seen into: whether it reached the result is not known."
        if self._opaque_steps and not stopped:
            return f"It reached {' and '.join(dict.fromkeys(self._opaque_steps))}, and no row came out of that."
        return f"{'; and elsewhere in the query '.join(stopped)}." if stopped else "What stopped it is not known."

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
                "culprits": [asdict(entry) for entry in self.culprits],
                "survivors": [asdict(entry) for entry in self.survivors],
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
        ids = self.rows.select(self.rows.columns[-1]).distinct().limit(_MAX_SHOWN_IDS + 1).collect()
        return sorted(row[0] for row in ids)

    def _examine(self, path: OperatorPath) -> _OccurrenceAnswer:
        """Finds up to three operators that stop the rows; each after the first assumes that the earlier ones did
        not."""
        answer = _OccurrenceAnswer(path, path.count_survivors())
        if answer.reached:
            grouping_steps = (step for step in path.steps if step.kind in ("aggregate", "distinct"))
            answer.merge_texts = [text for step in grouping_steps for text in group_texts(path, step)]
        counts = answer.counts
        while counts[min(counts)] > 0 and len(answer.culprits) < MAX_CULPRITS:
            step = next((candidate for candidate in path.steps if counts.get(candidate.number, 1) == 0), None)
            if step is None:
                break
            before = counts[step.number - 1]
            reason = self._reasons.explain(path, step, before)
            if reason.known:
                answer.culprits.append(self._culprit(step, reason, before, path.source))
            if reason.is_final:
                break
            path.relax(step)
            try:
                counts = path.count_survivors(step.number)
            except _query_errors() as failed:  # the query relies on the operator, as a division on a filter of zeros
                message = shorten(str(failed).strip().partition("\n")[0])
                answer.notes.append(f"what else would stop it is not known: without {step.text}, {message}")
                break
        return answer

    def _culprit(self, step: OperatorStep, reason: StopReason, before: int, occurrence: int) -> Culprit:
        text = reason.text or step.text
        return Culprit(
            operator=step.operator,
            text=text,
            kind=step.kind,
            explanation=reason.explanation,
            values=dict(reason.values),
            before=before,
            after=0,
            occurrence=occurrence,
        )

    def _survivors(self, answer: _OccurrenceAnswer) -> list[Survivors]:
        path = answer.path
        return [
            Survivors(
                step.operator,
                self._reasons.operator_text(path, step),
                step.kind,
                answer.counts.get(step.number),
                path.source,
            )
            for step in path.steps
        ]


def _query_errors() -> tuple[type[Exception], ...]:
    """The errors of a query that fails while it runs."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def _short_name(dataset: str) -> str:
    """The last two parts of a name, which is what people call it."""
    return "/".join(dataset.rstrip("/").split("/")[-2:])
