"""What is kept of a write so that its rows can be traced later: how much is asked, and who does it.

The capture knows neither plans nor pins; whoever switches it on (headwater/capturing.py) brings the keeper along.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from headwater.capture.events.writes import Written
from headwater.errors import HeadwaterError

OWN_WORK = "headwater-own-work"
"""The job tag of what a keeper has Spark do: it is not the job's, and is passed over."""
KEPT_WORK = "headwater-kept-work"
"""The job tag of tables that are ours as well, and that the job goes on from: lineage goes on through them."""
MODES = ("key", "full", "sampled", "off")


@dataclass(frozen=True)
class RowsAsked:
    """``key``: what a later answer needs to run the query again. ``full``: the rows behind each row as well, as tables
    at ``location``. ``sampled``: those tables for a share of the source rows. ``off``: nothing."""

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


class RowKeeper(Protocol):
    def keep(
        self, execution: Any, written: Written, asked: RowsAsked, started: datetime, run_id: str
    ) -> dict[str, Any] | None:
        """What to tell of a write that has ended well, for the facet `headwater_rows` of its output; None: nothing.
        What is in it under `pairs` is told of the run, in the facet `cdme.adjointMetadata`.

        ``execution`` is the command that Spark has carried out (jvm/Work.java).
        """
        ...

    def is_over(self) -> bool:
        """Whether Spark has been stopped."""
        ...
