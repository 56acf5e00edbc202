"""What can be asked: questions checked and made ready before any table is read for their answer."""

from __future__ import annotations

from datetime import datetime

from headwater.formats.openlineage.event import as_utc
from headwater.formats.query_checks import refuse_unaskable_part
from headwater.model.answers import Direction, Grain
from headwater.store.access.view import View
from headwater.store.query.catalog import current_columns
from headwater.store.query.closure import Question
from headwater.store.query.lookup import find_column, find_partition
from headwater.store.query.traverse import UNLIMITED, Walk
from headwater.store.schema.stored_rows import StoredDataset
from headwater.store.schema.tables import to_micros


def question(
    view: View,
    row: StoredDataset,
    direction: Direction,
    column: str | None,
    partition: str | None,
    depth: int | None,
    as_of: datetime | None,
) -> Question:
    """About the dataset of ``row``."""
    refuse_unaskable_part(column, partition, depth)
    grain, part_id = Grain.DATASET, None
    if column is not None:
        grain, part_id = Grain.COLUMN, find_column(view, row, column, current_columns(view, row))
    elif partition is not None:
        grain, part_id = Grain.PARTITION, find_partition(view, row, partition)
    moment = to_micros(as_utc(as_of)) if as_of is not None else None
    part = column if column is not None else partition
    return Question(row, part_id, part, Walk(grain, direction, moment), min(depth or UNLIMITED, UNLIMITED))
