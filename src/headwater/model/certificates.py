"""A fidelity certificate: what a run ended with, in hashes, and whether what was promised of it holds.

Its document is what the log holds and what is hashed: the fields below but the last two, named in camel case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

ALGORITHM = "sha256-rfc8785"
_FIRST: dict[str, Any] = {"claimsVersion": 1, "undecided": ()}
"""What certificates of the first version of the rules do not say."""

Scalar = str | int | float | bool | None


class Breach(StrEnum):
    """How much it matters that something promised does not hold."""

    IMMATERIAL = "IMMATERIAL"
    MATERIAL = "MATERIAL"
    CRITICAL = "CRITICAL"


@dataclass(frozen=True, slots=True)
class Invariant:
    name: str
    holds: bool
    detail: str | None = None
    threshold: Scalar = None
    breach: Breach | None = None

    def document(self) -> dict[str, Scalar]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Undecided:
    """What can be said neither to hold nor not to: nobody looked, or not at everything."""

    name: str
    detail: str | None = None

    def document(self) -> dict[str, Scalar]:
        return {"name": self.name, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Certificate:
    certificate_id: str
    namespace: str
    number: int
    """Its place in the chain of its namespace, from 0."""
    run_id: str
    job: str
    issued_at: str
    algorithm: str
    contract_version: str | None
    event_digest: str
    source_state_hashes: Mapping[str, str]
    target_state_hashes: Mapping[str, str]
    evidence_hashes: Mapping[str, str]
    invariants: tuple[Invariant, ...]
    claims_version: int
    """Of the rules by which the invariants were found out; by them they are found out again."""
    undecided: tuple[Undecided, ...]
    previous_certificate_hash: str | None
    supersedes: str | None
    """The certificate of the same run that this one stands in for."""
    seq: int
    """The entry of the log that holds it."""
    hash: str
    """Of its document."""

    @classmethod
    def read(cls, document: Mapping[str, Any], seq: int, digest: str) -> Certificate:
        told = _FIRST | dict(document)
        values = {field.name: told[_camel(field.name)] for field in fields(cls)[:-2]}
        values["invariants"] = tuple(
            Invariant(**{**each, "breach": each["breach"] and Breach(each["breach"])}) for each in values["invariants"]
        )
        values["undecided"] = tuple(Undecided(**each) for each in values["undecided"])
        return cls(**values, seq=seq, hash=digest)

    @property
    def holds(self) -> bool:
        """Whether nothing that was found out is broken; there may be what was not."""
        return all(each.holds for each in self.invariants)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
