"""Options that choose what a run records of its items."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from headwater.errors import MismatchRefused, OptionInvalid
from headwater.pipeline.declare.argument_checks import is_name, is_whole
from headwater.redaction.literals import MODES as LITERALS

MODES = ("full", "sampled", "key", "off")
OVERFLOWS = ("materialize", "degrade", "drop")

_log = logging.getLogger("headwater")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A node whose output items cannot be accounted for by its input items."""

    node: str
    inputs: int
    outputs: int
    missing: tuple[str, ...] = ()
    """Correlation ids of some of the inputs that have no outcome, as far as the source still has them."""
    extra: tuple[str, ...] = ()
    """Some of the outputs that belong to no input."""
    aggregated: bool = False

    def __str__(self) -> str:
        return (
            f"node '{self.node}' received {self.inputs} items and returned {self.outputs}: "
            f"{len(self.missing)} missing, {len(self.extra)} unaccounted for"
        )


@dataclass(frozen=True, slots=True)
class LineageOptions:
    """The options are independent of each other, except that ``redact`` also removes the rows of ``snapshots``."""

    mode: str = "sampled"
    """"full": every item; "sampled": one in ``sample_every``; "key": no items, just captured lineage; "off"."""
    sample_every: int = 100
    deterministic_sampling: bool = True
    """Sample the same items in every run instead of different ones each time."""
    materialization_cap: int = 10_000
    """Maximum number of records in memory."""
    overflow: str = "degrade"
    """Records beyond that: "materialize" keeps them too, "degrade" passes them to the sinks only, "drop" drops them."""
    redact: bool = True
    """Keep values of rows out of records, the report and events: no data, no snapshots, no values of keys, and of an
    error only its type. Dead letters contain the failed rows in any case."""
    snapshots: bool = False
    """Record the row before and after each hop."""
    max_hops: int = 256
    """Maximum number of hops in a record; the last hop is always included."""
    contributor_ids: bool = True
    ancestry: bool = False
    hop_timestamps: bool = True
    decisions: bool = True
    """Outcome flags on hops."""
    cardinality: bool = True
    ensure_terminal: bool = True
    """Count the rows of each source first; if the terminal records account for more or fewer, that is a mismatch."""
    drop_records: bool = True
    """Write a short record for an item whose record was dropped."""
    intermediate_records: bool = True
    """Record the hops before the last one."""
    strict: bool = False
    """Fail the run on a mismatch."""
    warn_on_mismatch: bool = True
    on_mismatch: Callable[[Mismatch], None] | None = None
    location: str | None = None
    """The folder for item records: any path that Spark can write."""
    literals: str | None = None
    """Literals of its queries in events: "keep", "mask" or "drop", as in `hw.enable`; None uses the setting of that."""

    def __post_init__(self) -> None:
        _check_choice("mode", self.mode, MODES)
        _check_choice("overflow", self.overflow, OVERFLOWS)
        for name, least in (("sample_every", 1), ("materialization_cap", 0), ("max_hops", 1)):
            if not is_whole(getattr(self, name), least):
                raise OptionInvalid(name, getattr(self, name), f"a whole number, {least} or more")
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                raise OptionInvalid(field.name, getattr(self, field.name), "True or False")
        if self.on_mismatch is not None and not callable(self.on_mismatch):
            raise OptionInvalid("on_mismatch", self.on_mismatch, "a function of a Mismatch, or None")
        if self.literals is not None:
            _check_choice("literals", self.literals, LITERALS)
        if self.location is not None and not is_name(self.location):
            raise OptionInvalid("location", self.location, "a path, or None")

    @classmethod
    def fast(cls) -> LineageOptions:
        """One item in a hundred, with its last hop only."""
        return cls(mode="sampled", contributor_ids=False, intermediate_records=False)

    @classmethod
    def complete(cls) -> LineageOptions:
        """Every item with everything that can be recorded, including its values."""
        return cls(mode="full", sample_every=1, redact=False, snapshots=True, ancestry=True)

    @classmethod
    def off(cls) -> LineageOptions:
        return cls(mode="off")

    def with_(self, **changes: Any) -> LineageOptions:
        names = [field.name for field in fields(self)]
        for name, value in changes.items():
            if name not in names:
                raise OptionInvalid(name, value, f"no option; options are {', '.join(names)}")
        return replace(self, **changes)

    @property
    def follows_items(self) -> bool:
        return self.mode in ("full", "sampled")

    def report_mismatch(self, mismatch: Mismatch) -> None:
        """Reports a mismatch in the configured ways."""
        if self.on_mismatch is not None:
            self.on_mismatch(mismatch)
        if self.strict:
            raise MismatchRefused(mismatch.node, str(mismatch))
        if self.warn_on_mismatch:
            _log.warning("Lineage: %s", mismatch)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionInvalid(name, value, f"one of {', '.join(choices)}")
