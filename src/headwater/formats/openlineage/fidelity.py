"""What a run's last event claims: the part of its certificate that follows from the event alone.

Anybody who has the event can compute it again, and `verify` does, by the rules whose version the certificate names.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from headwater.errors import EvidenceBroken
from headwater.formats.openlineage.claims import first, second
from headwater.formats.openlineage.claims.reading import EXPECTATIONS, GRAIN, LEDGER, MANIFEST, TYPES, Rules
from headwater.formats.openlineage.event import Event
from headwater.model.certificates import ALGORITHM
from headwater.proof.canonical import canonical_scalar, canonical_text, digest_of, hashes_by_name

__all__ = ["EXPECTATIONS", "GRAIN", "LEDGER", "MANIFEST", "TYPES", "claims", "claims_again", "is_certified"]

_EVIDENCE = "cdme."
_ENDS = ("COMPLETE", "FAIL")
_FIRST, _NOW = 1, 2
_RULES: dict[int, Rules] = {_FIRST: first.judged, _NOW: second.judged}
"""By the version of the rules. A certificate that names none is of the first."""


def is_certified(event: Event) -> bool:
    """Whether a certificate is to be issued for it: the run has ended, and says by what it can be known."""
    return event.event_type in _ENDS and isinstance((event.run_facets or {}).get(MANIFEST), Mapping)


def claims(event: Event) -> dict[str, Any]:
    """By the rules of today."""
    return _claims(event, _NOW)


def claims_again(event: Event, document: Mapping[str, Any]) -> dict[str, Any]:
    """By the rules that a certificate was made by."""
    version = document.get("claimsVersion", _FIRST)
    if isinstance(version, bool) or not isinstance(version, int) or version not in _RULES:
        what = f"Certificate {document['certificateId']}"
        raise EvidenceBroken(what, f"it was made by rules of version {version}, which this Headwater does not know")
    return _claims(event, version)


def _claims(event: Event, version: int) -> dict[str, Any]:
    assert event.job is not None
    assert event.run_facets is not None
    facets, digest = event.run_facets, f"sha256:{event.digest.hex()}"
    manifest = facets[MANIFEST]
    contract = manifest.get("contractVersion")
    judged = _RULES[version](facets)
    told = {
        # Of the event's digest, so that an event that comes again is known to have its certificate.
        "certificateId": str(uuid.uuid5(uuid.NAMESPACE_OID, digest)),
        "namespace": event.job.namespace,
        "runId": event.run_id,
        "job": event.job.name,
        "algorithm": ALGORITHM,
        "contractVersion": None if contract is None else str(canonical_scalar(contract)),
        "eventDigest": digest,
        "sourceStateHashes": hashes_by_name(manifest.get("inputChecksums")),
        "targetStateHashes": hashes_by_name(manifest.get("outputChecksums")),
        "evidenceHashes": {
            canonical_text(name): digest_of(facet) for name, facet in facets.items() if name.startswith(_EVIDENCE)
        },
        "invariants": [each.document() for each in judged.invariants],
    }
    if version == _FIRST:
        return told
    return told | {"claimsVersion": version, "undecided": [each.document() for each in judged.undecided]}
