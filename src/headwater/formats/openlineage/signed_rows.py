"""Signatures over the facet `headwater_rows`, by the capture that wrote it.

The facet contains a query plan that a later trace deserializes and runs, so a reader needs to know who wrote it. The
signed text covers the whole facet and its position: the run, the job and the output dataset. A facet that is moved to
another event has no valid signature there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.errors import KeyUnusable
from headwater.formats.openlineage.facet_names import ROWS_FACET
from headwater.model.json_types import JsonObject
from headwater.model.names import Dataset, Job
from headwater.proof.canonical import digest_of
from headwater.proof.keys import SigningKey, key_text, public_key, verifies

SIGNATURE = "signature"
_PURPOSE = "headwater.capture/headwater_rows/1"
"""Domain separation: no other text that a key of Headwater signs begins with this line."""
_SIGNATURE_SIZE = 64


@dataclass(frozen=True, slots=True)
class FacetPlace:
    """The position of a facet: the output of a run of a job."""

    run_id: str
    job: Job
    dataset: Dataset


@dataclass(frozen=True, slots=True)
class FacetSignature:
    key: str
    """The public key, in Base64."""
    value: bytes


def sign_event(event: JsonObject, key: SigningKey) -> None:
    """Sign each facet `headwater_rows` of an event, in place: the last change to the event before it is sent."""
    for output in event.get("outputs") or ():
        facet = (output.get("outputFacets") or {}).get(ROWS_FACET)
        if facet is not None:
            job = Job(event["job"]["namespace"], event["job"]["name"])
            place = FacetPlace(event["run"]["runId"], job, Dataset(output["namespace"], output["name"]))
            value = key.sign(signed_text(facet, place))
            facet[SIGNATURE] = {"key": key_text(key.public), "value": value.hex()}


def read_signature(facet: Mapping[str, object]) -> FacetSignature | None:
    """The signature that a facet carries, not yet verified; None if it has none. Raises a ``ValueError`` if it is
    malformed."""
    signature = facet.get(SIGNATURE)
    if signature is None:
        return None
    if not isinstance(signature, Mapping):
        raise ValueError("its signature is not an object")
    key, value = signature.get("key"), signature.get("value")
    if not isinstance(key, str) or not isinstance(value, str) or len(value) != 2 * _SIGNATURE_SIZE:
        raise ValueError("its signature is not a key and 64 bytes in hexadecimal")
    try:
        public_key(key)
        return FacetSignature(key, bytes.fromhex(value))
    except (KeyUnusable, ValueError):
        raise ValueError("its signature is not a key and 64 bytes in hexadecimal") from None


def is_valid(signature: FacetSignature, facet: Mapping[str, object], place: FacetPlace) -> bool:
    """Whether the key signed this facet at this place. Whether the key is trusted is another question."""
    try:
        text = signed_text(facet, place)
    except (ValueError, TypeError, RecursionError):  # not JSON that a capture writes
        return False
    return verifies(public_key(signature.key), signature.value, text)


def signed_text(facet: Mapping[str, object], place: FacetPlace) -> bytes:
    document = {
        "run": place.run_id,
        "job": {"namespace": place.job.namespace, "name": place.job.name},
        "output": {"namespace": place.dataset.namespace, "name": place.dataset.name},
        "facet": {name: value for name, value in facet.items() if name != SIGNATURE},
    }
    return f"{_PURPOSE}\n{digest_of(document)}\n".encode()
