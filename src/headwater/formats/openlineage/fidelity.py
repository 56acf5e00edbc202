"""The claims of a run's last event: the part of its certificate that follows from the event alone.

Anyone who has the event can compute it again, and `verify` does, by the rules whose version the certificate names.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from headwater.errors import EvidenceBroken
from headwater.formats.openlineage.claims import first, second
from headwater.formats.openlineage.claims.reading import Rules
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.facet_names import EVIDENCE_PREFIX, MANIFEST_FACET
from headwater.model.certificates import ALGORITHM, Claims
from headwater.proof.canonical import canonical_scalar, canonical_text, digest_of, hashes_by_name

_ENDS = ("COMPLETE", "FAIL")
_FIRST, _CURRENT = 1, 2
_RULES: dict[int, Rules] = {_FIRST: first.judge, _CURRENT: second.judge}
"""By the version of the rules. A certificate without a version is of the first."""


def is_certified(event: Event) -> bool:
    """Whether it gets a certificate: the run has ended, and has a manifest."""
    return event.event_type in _ENDS and isinstance((event.run_facets or {}).get(MANIFEST_FACET), Mapping)


def claims(event: Event) -> Claims:
    """By the current rules."""
    return _claims(event, _CURRENT)


def claims_again(event: Event, document: Mapping[str, object]) -> Claims:
    """By the rules that a certificate was made by."""
    version = document.get("claimsVersion", _FIRST)
    if isinstance(version, bool) or not isinstance(version, int) or version not in _RULES:
        what = f"Certificate {document['certificateId']}"
        raise EvidenceBroken(what, f"it was made by rules of version {version}, which this Headwater does not know")
    return _claims(event, version)


def _claims(event: Event, version: int) -> Claims:
    assert event.job is not None
    assert event.run_facets is not None
    assert event.run_id is not None
    facets, digest = event.run_facets, f"sha256:{event.digest.hex()}"
    manifest: Mapping[str, object] = facets[MANIFEST_FACET]
    contract = manifest.get("contractVersion")
    judged = _RULES[version](facets)
    document: Claims = {
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
            canonical_text(name): digest_of(facet) for name, facet in facets.items() if name.startswith(EVIDENCE_PREFIX)
        },
        "invariants": [item.document() for item in judged.invariants],
    }
    if version != _FIRST:
        document["claimsVersion"] = version
        document["undecided"] = [item.document() for item in judged.undecided]
    return document
