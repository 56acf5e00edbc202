"""The evidence of one run as one file, which can be verified without the store.

The file is canonical JSON (RFC 8785) and has one spelling: what does not come out again as it was read is refused. What
it holds is held together by hashes (docs/assurance.md says which): an entry by its hash, which is a leaf of the tree
that the checkpoint signs; an event by the digest in its entry, and its spelling by the hash beside it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785

from headwater.errors import EvidenceBroken
from headwater.proof.merkle import leaf_hash, verify_inclusion

FORMAT = "headwater-bundle/1"
_FILE = "The file"
_NOT_A_BUNDLE = "it is not a bundle of evidence, as `headwater bundle` writes it"


@dataclass(frozen=True, slots=True)
class ProvenEntry:
    """A log entry with its columns except the hash, and its path to the root of the checkpoint."""

    entry: Mapping[str, Any]
    path: tuple[bytes, ...]

    @property
    def seq(self) -> int:
        return int(self.entry["seq"])

    @property
    def hash(self) -> bytes:
        return sha256(rfc8785.dumps(dict(self.entry))).digest()

    def is_in(self, size: int, root: bytes) -> bool:
        return verify_inclusion(leaf_hash(self.hash), self.seq - 1, size, self.path, root)

    def document(self) -> dict[str, Any]:
        return {"entry": dict(self.entry), "path": _texts(self.path)}

    @classmethod
    def read(cls, document: Any) -> ProvenEntry:
        entry = dict(document["entry"])
        if type(entry["seq"]) is not int or not isinstance(entry["details"], str):
            raise TypeError(entry)
        return cls(entry, _hashes(document["path"]))


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """An entry that puts a key in force; it was signed over ``root``, which the log extends."""

    proven: ProvenEntry
    root: bytes
    consistency: tuple[bytes, ...]

    def document(self) -> dict[str, Any]:
        return self.proven.document() | {"root": self.root.hex(), "consistency": _texts(self.consistency)}

    @classmethod
    def read(cls, document: Any) -> KeyEntry:
        return cls(ProvenEntry.read(document), bytes.fromhex(document["root"]), _hashes(document["consistency"]))


@dataclass(frozen=True, slots=True)
class UpstreamEvidence:
    """A run whose output was read: its certificate, and the event of the certificate."""

    certificate: ProvenEntry
    event: bytes

    def document(self) -> dict[str, Any]:
        return {"certificate": self.certificate.document(), "event": _event(self.event)}

    @classmethod
    def read(cls, document: Any, number: int) -> UpstreamEvidence:
        return cls(ProvenEntry.read(document["certificate"]), _received(document["event"], f"Upstream event {number}"))


@dataclass(frozen=True, slots=True)
class EvidenceBundle:
    run_id: str
    entries: tuple[ProvenEntry, ...]
    """The entries about the run, oldest first."""
    events: tuple[bytes, ...]
    """As received, in the order of their entries."""
    chain: tuple[ProvenEntry, ...]
    """The certificates before those of the run."""
    upstream: tuple[UpstreamEvidence, ...]
    checkpoint: str
    first: bytes
    """The hash of the log's first entry, from which its name is derived."""
    first_path: tuple[bytes, ...]
    keys: tuple[KeyEntry, ...]
    key: str
    """The key that signed the checkpoint, as a `vkey`."""

    def write(self) -> bytes:
        return rfc8785.dumps(
            {
                "format": FORMAT,
                "run": self.run_id,
                "entries": [entry.document() for entry in self.entries],
                "events": [_event(event) for event in self.events],
                "chain": [item.document() for item in self.chain],
                "upstream": [item.document() for item in self.upstream],
                "log": {
                    "checkpoint": self.checkpoint,
                    "first": {"hash": self.first.hex(), "path": _texts(self.first_path)},
                    "key": self.key,
                    "keys": [key.document() for key in self.keys],
                },
            }
        )

    @classmethod
    def read(cls, content: bytes) -> EvidenceBundle:
        document = _document(content)
        try:
            log = document["log"]
            result = cls(
                run_id=_text(document["run"]),
                entries=tuple(map(ProvenEntry.read, document["entries"])),
                events=tuple(_received(one, f"Event {number}") for number, one in enumerate(document["events"], 1)),
                chain=tuple(map(ProvenEntry.read, document["chain"])),
                upstream=tuple(
                    UpstreamEvidence.read(one, number) for number, one in enumerate(document["upstream"], 1)
                ),
                checkpoint=_text(log["checkpoint"]),
                first=bytes.fromhex(log["first"]["hash"]),
                first_path=_hashes(log["first"]["path"]),
                keys=tuple(map(KeyEntry.read, log["keys"])),
                key=_text(log["key"]),
            )
            same = result.write() == content
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise EvidenceBroken(_FILE, _NOT_A_BUNDLE) from None
        if not same:
            raise EvidenceBroken(_FILE, "it is not written as a bundle is: in canonical JSON, with nothing added")
        return result


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(content.decode())
    except (ValueError, RecursionError):
        raise EvidenceBroken(_FILE, _NOT_A_BUNDLE) from None
    if not isinstance(document, Mapping) or not isinstance(document.get("format"), str):
        raise EvidenceBroken(_FILE, _NOT_A_BUNDLE)
    if document["format"] != FORMAT:
        raise EvidenceBroken(_FILE, f"its format is not {FORMAT}, the one that is known here")
    return document


def _event(body: bytes) -> dict[str, str]:
    return {"body": base64.b64encode(body).decode(), "sha256": sha256(body).hexdigest()}


def _received(document: Any, what: str) -> bytes:
    try:
        body = base64.b64decode(document["body"], validate=True)
    except binascii.Error:
        raise EvidenceBroken(what, "it is not Base64") from None
    if sha256(body).hexdigest() != document["sha256"]:
        raise EvidenceBroken(what, "its bytes do not have the hash beside them")
    return body


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(hashes: tuple[bytes, ...]) -> list[str]:
    return [hash_.hex() for hash_ in hashes]


def _hashes(texts: Any) -> tuple[bytes, ...]:
    return tuple(map(bytes.fromhex, texts))
