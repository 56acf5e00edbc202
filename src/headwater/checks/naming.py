"""The dataset that a frame reads, if it is a plain read of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.model.names import Dataset
from headwater.rows.names import leaf_readings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READ_OPERATORS = ("LogicalRelation", "HiveTableRelation", "DataSourceV2Relation")


@dataclass(frozen=True)
class DatasetRead:
    dataset: Dataset
    version: str | None
    """The version, if the table format has versions."""


def dataset_read(frame: DataFrame) -> DatasetRead | None:
    """None if the frame filters, changes or joins rows, or reads several datasets."""
    plan = frame._jdf.queryExecution().analyzed()
    while plan.getClass().getSimpleName() == "SubqueryAlias":
        plan = plan.child()
    if plan.getClass().getSimpleName() not in _READ_OPERATORS:
        return None
    places = leaf_readings(frame.sparkSession, [plan])[0].datasets
    if len(places) != 1 or places[0].partitions:
        return None
    return DatasetRead(Dataset(places[0].namespace, places[0].name), places[0].version)
