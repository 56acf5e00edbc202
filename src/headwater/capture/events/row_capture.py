"""Captures what is needed to trace the rows of a write later: the options, and the protocol of what does it.

The capture itself knows neither plans nor files; headwater/capturing.py brings the implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headwater.capture.events.writes import CapturedWrite
from headwater.errors import HeadwaterError
from headwater.jvm import JavaObject

INTERNAL_JOB_TAG = "headwater-own-work"
"""The job tag of Spark jobs that Headwater itself runs: they are not captured."""
KEPT_TABLE_JOB_TAG = "headwater-kept-work"
"""The job tag of tables that Headwater writes and the job then reads: lineage goes on through them."""
MODES = ("key", "full", "sampled", "off")


@dataclass(frozen=True)
class RowCaptureOptions:
    """``key``: what a later trace needs to run the query again. ``full``: also, at ``location``, tables that link each
    output row to its input rows. ``sampled``: those tables for a share of the source rows. ``off``: nothing."""

    mode: str = "key"
    location: str | None = None
    sample: float = 0.01

    @property
    def writes_tables(self) -> bool:
        return self.mode in ("full", "sampled")

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise HeadwaterError(f"rows={self.mode!r} is not known. There are: {', '.join(MODES)}.")
        if not 0 < self.sample <= 1:
            raise HeadwaterError(f"rows_sample={self.sample!r} is not a share: a number above 0, up to 1.")


class RowCapture(Protocol):
    def keep(
        self, execution: JavaObject, written: CapturedWrite, options: RowCaptureOptions, started: datetime, run_id: str
    ) -> dict[str, object] | None:
        """The content of the facet `headwater_rows` of the output of a successful write; None: no facet. The member
        `pairs` becomes the run facet `cdme.adjointMetadata`.

        ``execution`` is the command that Spark ran (capture/listener/jvm/ExecutedCommand.java).
        """
        ...

    def is_over(self) -> bool:
        """Whether Spark has been stopped."""
        ...
