"""Where did this table, this column, this row come from; what breaks if its source changes; what ran; prove it.

>>> import headwater as hw
>>> lin = hw.connect("memory://")
>>> lin.datasets()
[]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater import rules
from headwater.capturing import disable, enable, flush, run
from headwater.checking import quality
from headwater.errors import HeadwaterError
from headwater.model.expectations import Expectation, expect
from headwater.model.names import Column, Dataset, Job, Partition
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipelines import Pipeline
from headwater.tracing import trace, trace_forward, why_not

if TYPE_CHECKING:
    from headwater.client import Lineage

__version__ = "0.1.0"
__all__ = [
    "Column",
    "Dataset",
    "Expectation",
    "HeadwaterError",
    "Job",
    "LineageOptions",
    "Partition",
    "Pipeline",
    "connect",
    "disable",
    "enable",
    "expect",
    "flush",
    "quality",
    "rules",
    "run",
    "trace",
    "trace_forward",
    "why_not",
]


def connect(url: str = "sqlite:///.headwater/lineage.db", *, api_key: str | None = None, **options: Any) -> Lineage:
    """Open the store at ``url``: `sqlite:///file.db`, `postgresql://user@host/database`, `memory://`, or the server at
    `http://host:port`.

    An empty database becomes a store unless ``create=False``. ``api_key`` is for a server; the default is
    HEADWATER_API_KEY. Over HTTP the methods and their answers are the same; what the server has no route for raises
    :class:`~headwater.errors.NotOffered`.
    """
    if url.lower().startswith(("http://", "https://")):
        from headwater.remote.store import open_server

        # It has the methods of a Lineage, which a test compares, and nothing else of it.
        return open_server(url, api_key=api_key, **options)  # type: ignore[return-value]
    from headwater.client import Lineage

    if api_key is not None:
        from headwater.errors import StoreUrlInvalid

        raise StoreUrlInvalid("api_key is for a server at http://host:port; the address is that of a database.")
    return Lineage(url, **options)
