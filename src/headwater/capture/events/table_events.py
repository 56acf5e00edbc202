"""A change of a table that moves no rows, as an event about the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.capture.naming.dataset_ref import DatasetRef


@dataclass(frozen=True)
class TableEvent:
    """A change of a table that moves no rows. ``state`` is one of OpenLineage's lifecycle states."""

    dataset: DatasetRef
    state: str
    method: str
    parameters: Mapping[str, object]
    previous: tuple[str, str] | None = None
