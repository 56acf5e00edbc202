"""Recomputes the hashes of a manifest from the documents and texts that it has beside them.

A document is hashed in its canonical form. A text is what was hashed, character by character, so that nothing is lost
that an event cannot carry, such as an empty value.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from headwater.proof.canonical import DIGESTS, canonical_text, digest_of

PREIMAGES = {"configHash": "config", "codeHash": "code", "designHash": "design"}
"""By the name of a hash, the member that was hashed."""


def wrong_hashes(manifest: Mapping[str, object]) -> list[str] | None:
    """The hashes that do not match the documents beside them; None if the manifest has no such document."""
    answers = {name: matches_hash(manifest.get(name), manifest.get(member)) for name, member in PREIMAGES.items()}
    designs = manifest.get("designs")  # of a run with several writes, whose designs are hashed together
    if isinstance(designs, Mapping):
        answers |= {
            f"designs {canonical_text(str(digest))}": matches_hash(digest, text) for digest, text in designs.items()
        }
    if all(answer is None for answer in answers.values()):
        return None
    return [name for name, answer in answers.items() if answer is False]


def matches_hash(digest: object, hashed: object) -> bool | None:
    """None if there is nothing to hash, or the hash has an unknown algorithm."""
    if hashed is None or not isinstance(digest, str) or digest.partition(":")[0] not in DIGESTS:
        return None
    if isinstance(hashed, str) and _of_text(hashed) == digest.partition(":")[2]:
        return True
    return digest_of(hashed) == digest


def _of_text(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
