"""What is recorded of the items of a run, and how much of it."""

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
    """A node gave other items than those that can be accounted for by what it was given."""

    node: str
    inputs: int
    outputs: int
    missing: tuple[str, ...] = ()
    """Inputs, by correlation id, of which nothing was seen again: some of them, so far as the source still has them."""
    extra: tuple[str, ...] = ()
    """Outputs that belong to no input."""
    aggregated: bool = False

    def __str__(self) -> str:
        return (
            f"node '{self.node}' took {self.inputs} items and gave {self.outputs}: "
            f"{len(self.missing)} missing, {len(self.extra)} unaccounted for"
        )


@dataclass(frozen=True, slots=True)
class LineageOptions:
    """Every option is independent of the others, except that ``redact`` also empties what ``snapshots`` asks for."""

    mode: str = "sampled"
    """"full": every item; "sampled": one in ``sample_every``; "key": no items, only what capture keeps; "off"."""
    sample_every: int = 100
    deterministic_sampling: bool = True
    """The same items in every run. Otherwise others each time."""
    materialization_cap: int = 10_000
    """How many records are kept at hand."""
    overflow: str = "degrade"
    """And beyond: "materialize" keeps them too, "degrade" hands them to the sinks alone, "drop" lets them go."""
    redact: bool = True
    """No values of rows: no data, no snapshots and no values of keys in records, and of an error only its kind, in
    records, in the report and in the run's events. Dead letters hold the rows that were given up in any case."""
    snapshots: bool = False
    """On each hop the row before and after it."""
    max_hops: int = 256
    """How many hops a record has at most; the last one is always among them."""
    contributor_ids: bool = True
    ancestry: bool = False
    hop_timestamps: bool = True
    decisions: bool = True
    """Outcome flags on hops."""
    cardinality: bool = True
    ensure_terminal: bool = True
    """The rows of a source are counted before anything is done with them; where the terminal records then account for
    more or fewer, that is a mismatch."""
    drop_records: bool = True
    """An item whose record was dropped still has a short one that says so."""
    intermediate_records: bool = True
    """Hops before the last one."""
    strict: bool = False
    """A mismatch fails the run."""
    warn_on_mismatch: bool = True
    on_mismatch: Callable[[Mismatch], None] | None = None
    location: str | None = None
    """The folder for item records: any path that Spark writes."""
    literals: str | None = None
    """Literals of its queries in events: "keep", "mask" or "drop", as in `hw.enable`; None is what that says."""

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
        """One item in a hundred, and of that only where it ended."""
        return cls(mode="sampled", contributor_ids=False, intermediate_records=False)

    @classmethod
    def complete(cls) -> LineageOptions:
        """Every item with all there is to know of it, also its values."""
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
        """Say so in the ways that were asked for."""
        if self.on_mismatch is not None:
            self.on_mismatch(mismatch)
        if self.strict:
            raise MismatchRefused(mismatch.node, str(mismatch))
        if self.warn_on_mismatch:
            _log.warning("Lineage: %s", mismatch)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionInvalid(name, value, f"one of {', '.join(choices)}")
