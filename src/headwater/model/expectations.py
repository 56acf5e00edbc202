"""Expectations of a run: bounds for one of its measures, and how much a breach matters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from headwater.errors import HeadwaterError
from headwater.model.certificates import Breach, Scalar

LEDGER_MEASURES = (
    "input_rows",
    "processed_rows",
    "filtered_rows",
    "errored_rows",
    "filtered_share",
    "errored_share",
)
"""Measures over the rows of all sources of the run. A share is relative to the input rows."""
MEASURES = ("rows_written", "bytes_written", "rows_read", "lossy_casts", "grain_violations", *LEDGER_MEASURES)


@dataclass(frozen=True, slots=True)
class Expectation:
    """``measure`` is one of :data:`MEASURES`; both bounds are inclusive."""

    measure: str
    at_least: float | None = None
    at_most: float | None = None
    materiality: Breach = Breach.MATERIAL
    name: str | None = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise HeadwaterError(f"There is no measure {self.measure!r}. There are: {', '.join(MEASURES)}.")
        bounds: list[object] = [bound for bound in (self.at_least, self.at_most) if bound is not None]
        if not bounds:
            raise HeadwaterError(f"An expectation of {self.measure} has no bounds. Give at_least, at_most or both.")
        for bound in bounds:
            if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
                raise HeadwaterError(f"{bound!r} is not a bound for {self.measure}: a bound is a finite number.")

    @property
    def needs_ledger(self) -> bool:
        return self.measure in LEDGER_MEASURES

    @property
    def threshold(self) -> str:
        sides = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{words} {bound:,}" for words, bound in sides if bound is not None)

    def promise(self) -> dict[str, Scalar]:
        """The expectation as declared, before anything was measured."""
        members: dict[str, Scalar] = {
            "name": self.name or f"{self.measure} {self.threshold}",
            "measure": self.measure,
            "atLeast": self.at_least,
            "atMost": self.at_most,
            "threshold": self.threshold,
            "materiality": str(self.materiality),
        }
        return {name: value for name, value in members.items() if value is not None}

    def judged(self, measured: Mapping[str, float]) -> dict[str, Scalar]:
        """The promise with its outcome. A measure that is missing does not hold: nothing shows that it does."""
        observed = measured.get(self.measure)
        if observed is None:
            return {**self.promise(), "holds": False, "observed": "not measured"}
        low = self.at_least is None or observed >= self.at_least
        high = self.at_most is None or observed <= self.at_most
        return {**self.promise(), "holds": low and high, "observed": observed}


def expect(
    measure: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    materiality: str = "MATERIAL",
    name: str | None = None,
) -> Expectation:
    """State an expectation of a run: `hw.run("orders", expectations=[hw.expect("rows_written", at_least=1)])`.

    ``materiality`` is how much a breach matters: "IMMATERIAL", "MATERIAL" or "CRITICAL". The outcome is in the run's
    last event and in its certificate. A breach does not stop the job.
    """
    weight = str(materiality).upper()
    if weight not in list(Breach):
        raise HeadwaterError(f"There is no materiality {materiality!r}. There are: {', '.join(Breach)}.")
    return Expectation(measure, at_least, at_most, Breach(weight), name)
