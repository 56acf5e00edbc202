"""Where did this table, this column, this row come from; what breaks if its source changes; what ran; prove it.

>>> import headwater as hw
>>> lin = hw.connect("memory://")
>>> lin.datasets()
[]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.errors import HeadwaterError
from headwater.model.names import Column, Dataset, Job, Partition
from headwater.watch import disable, enable, flush, run

if TYPE_CHECKING:
    from headwater.store.store import Store

__version__ = "0.1.0"
__all__ = [
    "Column",
    "Dataset",
    "HeadwaterError",
    "Job",
    "Partition",
    "connect",
    "disable",
    "enable",
    "flush",
    "run",
]


def connect(url: str = "sqlite:///.headwater/lineage.db", **options: Any) -> Store:
    """Open the store at ``url``: `sqlite:///file.db`, `postgresql://user@host/database` or `memory://`.

    An empty database becomes a store unless ``create=False``.
    """
    from headwater.store.store import Store

    return Store(url, **options)
