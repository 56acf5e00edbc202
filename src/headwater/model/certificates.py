"""A fidelity certificate: hashes of a run's final state, and whether the invariants declared for it hold.

The log stores its document, whose hash the next certificate names: all fields but the last two, in camel case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NotRequired, TypedDict

ALGORITHM = "sha256-rfc8785"
_FIRST_VERSION = 1
"""Of the rules: their certificates have neither `claimsVersion` nor `undecided`."""

Scalar = str | int | float | bool | None


class InvariantDocument(TypedDict):
    name: str
    holds: bool
    detail: str | None
    threshold: Scalar
    breach: Breach | None


class UndecidedDocument(TypedDict):
    name: str
    detail: str | None


class Claims(TypedDict):
    """The members of a certificate's document that follow from the run's last event alone."""

    certificateId: str
    namespace: str
    runId: str
    job: str
    algorithm: str
    contractVersion: str | None
    eventDigest: str
    sourceStateHashes: Mapping[str, str]
    targetStateHashes: Mapping[str, str]
    evidenceHashes: Mapping[str, str]
    invariants: list[InvariantDocument]
    claimsVersion: NotRequired[int]
    undecided: NotRequired[list[UndecidedDocument]]


class CertificateDocument(Claims):
    number: int
    issuedAt: str
    previousCertificateHash: str | None
    supersedes: str | None


class Breach(StrEnum):
    """How much it matters that an invariant does not hold."""

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

    def document(self) -> InvariantDocument:
        return {
            "name": self.name,
            "holds": self.holds,
            "detail": self.detail,
            "threshold": self.threshold,
            "breach": self.breach,
        }


@dataclass(frozen=True, slots=True)
class Undecided:
    """An invariant that was not checked, or not completely."""

    name: str
    detail: str | None = None

    def document(self) -> UndecidedDocument:
        return {"name": self.name, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Certificate:
    certificate_id: str
    namespace: str
    number: int
    """Its position in the chain of its namespace, from 0."""
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
    """The version of the rules that decided the invariants. Verification uses the same version."""
    undecided: tuple[Undecided, ...]
    previous_certificate_hash: str | None
    supersedes: str | None
    """The earlier certificate of the same run that this one replaces."""
    seq: int
    """The number of its log entry."""
    hash: str
    """The hash of its document."""

    @classmethod
    def read(cls, document: CertificateDocument, seq: int, digest: str) -> Certificate:
        """Raises a ``KeyError``, ``TypeError`` or ``ValueError`` if this is no certificate's document."""
        return cls(
            certificate_id=document["certificateId"],
            namespace=document["namespace"],
            number=document["number"],
            run_id=document["runId"],
            job=document["job"],
            issued_at=document["issuedAt"],
            algorithm=document["algorithm"],
            contract_version=document["contractVersion"],
            event_digest=document["eventDigest"],
            source_state_hashes=document["sourceStateHashes"],
            target_state_hashes=document["targetStateHashes"],
            evidence_hashes=document["evidenceHashes"],
            invariants=tuple(map(_invariant, document["invariants"])),
            claims_version=document.get("claimsVersion", _FIRST_VERSION),
            undecided=tuple(Undecided(**item) for item in document.get("undecided", ())),
            previous_certificate_hash=document["previousCertificateHash"],
            supersedes=document["supersedes"],
            seq=seq,
            hash=digest,
        )

    @property
    def holds(self) -> bool:
        """Whether no invariant that was decided is broken; others may be undecided."""
        return all(invariant.holds for invariant in self.invariants)


def _invariant(document: InvariantDocument) -> Invariant:
    breach = document["breach"]
    with_breach: InvariantDocument = {**document, "breach": Breach(breach) if breach else None}
    return Invariant(**with_breach)
