"""What the hashes of a manifest are of, where it stands beside them.

As a document it is hashed in its canonical form. As a text it is what was hashed, character by character: so that
nothing in it is lost that an event has no place for, like an empty value.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from headwater.proof.canonical import DIGESTS, canonical_text, digest_of

PREIMAGES = {"configHash": "config", "codeHash": "code", "designHash": "design"}
"""By the name of a hash, that of what was hashed."""


def wrong_hashes(manifest: Mapping[str, Any]) -> list[str] | None:
    """Those that are not the hash of what stands beside them; None where nothing does that could be hashed again."""
    answers = {name: is_hash_of(manifest.get(name), manifest.get(what)) for name, what in PREIMAGES.items()}
    designs = manifest.get("designs")  # of a run with several writes, whose designs are hashed together
    if isinstance(designs, Mapping):
        answers |= {f"designs {canonical_text(str(told))}": is_hash_of(told, text) for told, text in designs.items()}
    if all(answer is None for answer in answers.values()):
        return None
    return [name for name, answer in answers.items() if answer is False]


def is_hash_of(told: Any, hashed: Any) -> bool | None:
    """None where there is nothing to hash, or it was hashed in a way that is not ours."""
    if hashed is None or not isinstance(told, str) or told.partition(":")[0] not in DIGESTS:
        return None
    if isinstance(hashed, str) and _of_text(hashed) == told.partition(":")[2]:
        return True
    return digest_of(hashed) == told


def _of_text(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
