"""What can be asked: questions checked and made ready before any table is read for their answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.answers import Direction, Grain
from headwater.model.provenance import ProvenanceEvent
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.query.catalog import current_columns
from headwater.store.query.closure import Question
from headwater.store.query.lookup import find_column, find_partition
from headwater.store.query.traverse import UNLIMITED, Walk
from headwater.store.schema.tables import to_micros


def question(
    view: View,
    row: Row[Any],
    direction: Direction,
    column: str | None,
    partition: str | None,
    depth: int | None,
    as_of: datetime | None,
) -> Question:
    """About the dataset of ``row``."""
    if column is not None and partition is not None:
        raise QueryError("Ask for a column or for a partition, not for both at once.")
    if depth is not None and depth < 1:
        raise QueryError(f"The depth must be 1 or more, not {depth}.")
    grain, part_id = Grain.DATASET, None
    if column is not None:
        grain, part_id = Grain.COLUMN, find_column(view, row, column, current_columns(view, row))
    elif partition is not None:
        grain, part_id = Grain.PARTITION, find_partition(view, row, partition)
    moment = to_micros(as_utc(as_of)) if as_of is not None else None
    part = column if column is not None else partition
    return Question(row, part_id, part, Walk(grain, direction, moment), min(depth or UNLIMITED, UNLIMITED))


def refuse_unaskable(*values: str | int | None) -> None:
    """What no database can compare with: said here, in one voice, instead of by each database in its own."""
    for value in values:
        if isinstance(value, str) and not is_storable(value):
            raise QueryError(f"'{shorten(value)}' {UNSTORABLE_REASON}.")
        if isinstance(value, int) and not 0 <= value < 2**63:
            raise QueryError(f"{value} is not a number of entries that can be asked for.")


def state_of(state: RunState | str | None) -> RunState | None:
    if state is None:
        return None
    try:
        return RunState(state.upper())
    except ValueError:
        raise QueryError(f"'{state}' is not a run state. States: {', '.join(RunState)}.") from None


def provenance_event_of(event: ProvenanceEvent | str | None) -> ProvenanceEvent | None:
    if event is None:
        return None
    try:
        return ProvenanceEvent(event.lower())
    except ValueError:
        raise QueryError(
            f"'{shorten(event)}' is no event of provenance. Events: {', '.join(ProvenanceEvent)}."
        ) from None
