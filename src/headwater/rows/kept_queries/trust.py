"""The stored plans that a reader deserializes.

Restoring a plan runs code of its sender, so :func:`headwater.rows.kept_queries.restore.restore` takes a
`TrustedFacet`, and only `PlanTrust.verify` makes one: the facet is signed by a key that the store trusts, for the run,
the job and the output that it was sent with, its members have the types that a capture writes, and the paths in it may
be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import KeptPlanRefused, SignatureRefused, shorten
from headwater.formats.openlineage.signed_rows import FacetPlace, is_valid, read_signature
from headwater.rows.kept_queries.roots import PlanRoots
from headwater.rows.kept_queries.shape import check_shape


@dataclass(frozen=True)
class TrustedFacet:
    """A facet `headwater_rows` that has been verified. Only :meth:`PlanTrust.verify` makes one."""

    content: Mapping[str, Any]


@dataclass(frozen=True)
class PlanTrust:
    """``keys`` are public keys in Base64. ``allow_unsigned`` also lets facets pass that carry no signature: those that
    were stored before captures signed, and those of any sender. A signature that is not valid never passes."""

    keys: frozenset[str] = frozenset()
    allow_unsigned: bool = False
    roots: PlanRoots = field(default_factory=PlanRoots)

    def verify(self, facet: object, place: FacetPlace) -> TrustedFacet:
        if not isinstance(facet, Mapping):
            raise KeptPlanRefused(f"what {_run_label(place)} sent is not an object")
        self.check_signature(facet, place)
        check_shape(facet)
        self.roots.check(facet)
        return TrustedFacet(facet)

    def check_signature(self, facet: Mapping[str, Any], place: FacetPlace) -> None:
        """Raises SignatureRefused, which names the run of the facet and says how to trust its key."""
        try:
            signature = read_signature(facet)
        except ValueError as malformed:
            raise SignatureRefused(f"{_run_label(place)}: {malformed}") from None
        if signature is None:
            if self.allow_unsigned:
                return
            raise SignatureRefused(
                f"{_run_label(place)} is not signed, so nothing shows who wrote it. If you trust all who can send "
                "events, read it with --trust-unsigned or trust_unsigned=True"
            )
        if not is_valid(signature, facet, place):
            raise SignatureRefused(
                f"{_run_label(place)} carries a signature that does not fit: the facet was changed or moved after it "
                "was signed"
            )
        if signature.key not in self.keys:
            raise SignatureRefused(
                f"{_run_label(place)} is signed by {signature.key}, a key that this store does not trust. If you trust "
                f"who ran that job: headwater keys trust {signature.key}",
                signature.key,
            )


def _run_label(place: FacetPlace) -> str:
    return f"run {shorten(place.run_id)} of the job {shorten(str(place.job))}"
