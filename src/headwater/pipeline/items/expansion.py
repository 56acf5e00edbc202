"""From item rows to terminal records, in Python. For many records Spark does the same (item_records.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from headwater.model.items import Cardinality, Continuity, Hop, ItemRecord, Outcome, reason_of
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items import stage_columns
from headwater.pipeline.items.item_ids import MAX_NAMED
from headwater.pipeline.items.record_shape import drop_record, shape_record
from headwater.pipeline.items.stages import Stage


@dataclass(frozen=True)
class Contributors:
    """The items that made a row: their number, and some of them; ``is_truncated``: there are more."""

    count: int | None
    items: Sequence[tuple[int, int]]
    is_truncated: bool

    @cached_property
    def names(self) -> list[str]:
        """The ids, sorted. Cached, because many records share them."""
        return sorted(correlation_id(hi, lo) for hi, lo in self.items)


RowId = tuple[int, int]
ItemRow = Mapping[str, Any]
"""An item row as it was read: values of several types, under the names of stage_columns.py."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class ContributorsByStage:
    """The contributors of rows, by stage."""

    by_stage: Mapping[int, Mapping[RowId, Contributors]]

    def of(self, row: ItemRow) -> dict[int, Contributors]:
        """The contributors of the rows that an item went into, by stage."""
        row_ids = {number: _row_id_at(row, number) for number in self.by_stage}
        return {
            number: self.by_stage[number][row_id]
            for number, row_id in row_ids.items()
            if row_id is not None and row_id in self.by_stage[number]
        }


def load_contributors(
    stages: Sequence[Stage],
    rows: Sequence[ItemRow],
    load: Callable[[int, Collection[RowId]], Iterable[tuple[RowId, Contributors]]],
) -> ContributorsByStage:
    """The contributors of the rows that these items went into. ``load`` reads them by table and row ids."""
    by_stage = {}
    for stage in stages:
        if stage.contributor_table is not None and stage.same_as is None:
            row_ids = {row_id for row in rows if (row_id := _row_id_at(row, stage.number)) is not None}
            by_stage[stage.number] = dict(load(stage.contributor_table, row_ids)) if row_ids else {}
    return ContributorsByStage(by_stage)


def _row_id_at(row: ItemRow, stage: int) -> RowId | None:
    hi, lo = row.get(stage_columns.row_hi(stage)), row.get(stage_columns.row_lo(stage))
    return None if hi is None or lo is None else (hi, lo)


def correlation_id(hi: int, lo: int) -> str:
    return str(UUID(bytes=hi.to_bytes(8, signed=True) + lo.to_bytes(8, signed=True)))


class RecordBuilder:
    """Builds the records of one source."""

    def __init__(self, source: str, stages: Sequence[Stage], options: LineageOptions) -> None:
        self._source = source
        self._stages = stages
        self._options = options

    def record(self, row: ItemRow, contributors: Mapping[int, Contributors]) -> ItemRecord:
        """``contributors``: those of the rows that the item went into, by stage."""
        outcomes = [_StageOutcome(stage, row, contributors) for stage in self._stages]
        reached = [stage_outcome for stage_outcome in outcomes if stage_outcome.was_reached(outcomes)]
        last = outcomes[row["ended"]]
        outcome = Outcome(row["outcome"])
        names, cut = _contributor_names(row, contributors) if self._options.contributor_ids else ((), False)
        record = ItemRecord(
            correlation_id=correlation_id(row["hi"], row["lo"]),
            source=self._source,
            key=row["key"],
            path=tuple(stage_outcome.stage.segment for stage_outcome in reached),
            hops=tuple(stage_outcome.hop(outcomes) for stage_outcome in reached),
            outcome=outcome,
            reason=reason_of(outcome),
            node=last.stage.node,
            retries=last.retries,
            contributors=names,
            error=last.error,
            data=last.data if self._options.snapshots else row.get(stage_columns.data(0)),
            truncated=cut,
        )
        shaped = shape_record(record, self._options)
        return drop_record(shaped) if row.get("dropped") else shaped


def _contributor_names(row: ItemRow, contributors: Mapping[int, Contributors]) -> tuple[tuple[str, ...], bool]:
    """The other items that made the same rows, and whether there are more."""
    parts = [sorted(correlation_id(item["hi"], item["lo"]) for item in row.get("others") or ())]
    cut = bool(row.get("unnamed"))
    for number, stage_contributors in contributors.items():
        parts.append(stage_contributors.names)
        cut = (
            cut
            or stage_contributors.is_truncated
            or bool(stage_contributors.items and row.get(stage_columns.several_rows(number)))
        )
    non_empty = [part for part in parts if part]
    names = non_empty[0] if len(non_empty) == 1 else sorted({name for part in non_empty for name in part})
    own_id = correlation_id(row["hi"], row["lo"])
    others = [name for name in names if name != own_id]
    return tuple(others[:MAX_NAMED]), cut or len(others) > MAX_NAMED


class _StageOutcome:
    """The outcome of an item at one stage, read from its row."""

    def __init__(self, stage: Stage, row: ItemRow, contributors: Mapping[int, Contributors]) -> None:
        self.stage = stage
        self.emitted: int = sum(row.get(stage_columns.emitted(number)) or 0 for number in stage.counted_stages)
        self.data: str | None = _first_value(row.get(stage_columns.data(number)) for number in stage.counted_stages)
        counts: list[int | None] = [row.get(stage_columns.contributors(number)) for number in stage.counted_stages]
        counts += [contributors[number].count for number in stage.counted_stages if number in contributors]
        self.contributors = _first_value(counts)
        self.retries: int = 0
        self.error: str | None = None
        self.outcome = stage.outcome if self.emitted else Outcome.FILTERED_OUT
        if stage.is_row_function:
            self.outcome = Outcome(row.get(stage_columns.flags(stage.number)) or 0)
            self.retries = row.get(stage_columns.retries(stage.number)) or 0
            self.error = row.get(stage_columns.error(stage.number))

    def was_reached(self, outcomes: Sequence[_StageOutcome]) -> bool:
        has_input = self.stage.kind == "source" or any(outcomes[number].emitted for number in self.stage.ports)
        return has_input and not (self.stage.is_row_function and not self.outcome)

    def hop(self, outcomes: Sequence[_StageOutcome]) -> Hop:
        stage = self.stage
        count = None if stage.continuity is Continuity.REPRESENTATIVE else self.emitted
        inputs = (outcomes[number].data for number in stage.ports if outcomes[number].emitted)
        return Hop(
            node=stage.node,
            pipeline_id=stage.pipeline_id,
            pipeline=stage.pipeline,
            outcome=self.outcome,
            cardinality=Cardinality.of(count),
            contributors=self.contributors if self.emitted == 1 else None,
            emissions=count,
            ancestry=tuple(port for port, number in stage.ports_in_order if outcomes[number].emitted),
            retries=self.retries,
            continuity=stage.continuity,
            at=stage.at,
            input=_first_value(inputs),
            output=self.data,
        )


def _first_value(values: Iterable[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)
