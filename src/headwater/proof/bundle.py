"""The evidence of one run as one file, which can be verified without the store.

The file is canonical JSON (RFC 8785), so its content has exactly one encoding: a file that is not written back byte for
byte is refused. Hashes connect its parts (docs/assurance.md): an entry's hash is a leaf of the tree that the checkpoint
signs; an event has its digest in its entry, and the hash of its bytes beside it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypedDict

from headwater.errors import EvidenceBroken
from headwater.proof.canonical import canonical_bytes
from headwater.proof.merkle import leaf_hash, verify_inclusion

FORMAT = "headwater-bundle/1"
_FILE = "The file"
_NOT_A_BUNDLE = "it is not a bundle of evidence, as `headwater bundle` writes it"


class ProvenEntryDocument(TypedDict):
    entry: Mapping[str, object]
    path: list[str]


class KeyEntryDocument(ProvenEntryDocument):
    root: str
    consistency: list[str]


class EventDocument(TypedDict):
    """The bytes of an event in Base64, and their hash."""

    body: str
    sha256: str


class UpstreamDocument(TypedDict):
    certificate: ProvenEntryDocument
    event: EventDocument


class FirstEntryDocument(TypedDict):
    hash: str
    path: list[str]


class LogDocument(TypedDict):
    checkpoint: str
    first: FirstEntryDocument
    key: str
    keys: list[KeyEntryDocument]


class BundleDocument(TypedDict):
    """The JSON of a bundle."""

    format: str
    run: str
    entries: list[ProvenEntryDocument]
    events: list[EventDocument]
    chain: list[ProvenEntryDocument]
    upstream: list[UpstreamDocument]
    log: LogDocument


@dataclass(frozen=True, slots=True)
class ProvenEntry:
    """A log entry with its columns except the hash, and its path to the root of the checkpoint."""

    entry: Mapping[str, object]
    path: tuple[bytes, ...]

    @property
    def seq(self) -> int:
        seq = self.entry["seq"]
        assert isinstance(seq, int)
        return seq

    @property
    def event_type(self) -> str:
        return str(self.entry["event_type"])

    @property
    def details(self) -> str:
        details = self.entry["details"]
        assert isinstance(details, str)
        return details

    @property
    def hash(self) -> bytes:
        return sha256(canonical_bytes(dict(self.entry))).digest()

    def is_in(self, size: int, root: bytes) -> bool:
        return verify_inclusion(leaf_hash(self.hash), self.seq - 1, size, self.path, root)

    def document(self) -> ProvenEntryDocument:
        return {"entry": dict(self.entry), "path": _texts(self.path)}

    @classmethod
    def read(cls, document: ProvenEntryDocument) -> ProvenEntry:
        entry = dict(document["entry"])
        if type(entry["seq"]) is not int or not isinstance(entry["details"], str):
            raise TypeError(entry)
        return cls(entry, _hashes(document["path"]))


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """An entry that puts a key in force. The state of the log that it signs has this ``root``."""

    proven: ProvenEntry
    root: bytes
    consistency: tuple[bytes, ...]

    def document(self) -> KeyEntryDocument:
        return {**self.proven.document(), "root": self.root.hex(), "consistency": _texts(self.consistency)}

    @classmethod
    def read(cls, document: KeyEntryDocument) -> KeyEntry:
        return cls(ProvenEntry.read(document), bytes.fromhex(document["root"]), _hashes(document["consistency"]))


@dataclass(frozen=True, slots=True)
class UpstreamEvidence:
    """A run whose output was read: its certificate, and the event of the certificate."""

    certificate: ProvenEntry
    event: bytes

    def document(self) -> UpstreamDocument:
        return {"certificate": self.certificate.document(), "event": _event(self.event)}

    @classmethod
    def read(cls, document: UpstreamDocument, number: int) -> UpstreamEvidence:
        return cls(ProvenEntry.read(document["certificate"]), _received(document["event"], f"Upstream event {number}"))


@dataclass(frozen=True, slots=True)
class EvidenceBundle:
    run_id: str
    entries: tuple[ProvenEntry, ...]
    """The entries about the run, oldest first."""
    events: tuple[bytes, ...]
    """As received, in the order of their entries in the log."""
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
        document: BundleDocument = {
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
        return canonical_bytes(document)

    @classmethod
    def read(cls, content: bytes) -> EvidenceBundle:
        document = _document(content)
        try:
            log = document["log"]
            result = cls(
                run_id=_text(document["run"]),
                entries=tuple(map(ProvenEntry.read, document["entries"])),
                events=tuple(_received(event, f"Event {number}") for number, event in enumerate(document["events"], 1)),
                chain=tuple(map(ProvenEntry.read, document["chain"])),
                upstream=tuple(
                    UpstreamEvidence.read(item, number) for number, item in enumerate(document["upstream"], 1)
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
            raise EvidenceBroken(_FILE, "it is not canonical JSON, or has members that a bundle does not have")
        return result


def _document(content: bytes) -> BundleDocument:
    """The document, with its format checked; its members are checked as they are read."""
    try:
        document: BundleDocument = json.loads(content.decode())
    except (ValueError, RecursionError):
        raise EvidenceBroken(_FILE, _NOT_A_BUNDLE) from None
    parsed: object = document
    if not isinstance(parsed, Mapping) or not isinstance(parsed.get("format"), str):
        raise EvidenceBroken(_FILE, _NOT_A_BUNDLE)
    if parsed["format"] != FORMAT:
        raise EvidenceBroken(_FILE, f"its format is not {FORMAT}, the only one that this Headwater reads")
    return document


def _event(body: bytes) -> EventDocument:
    return {"body": base64.b64encode(body).decode(), "sha256": sha256(body).hexdigest()}


def _received(document: EventDocument, what: str) -> bytes:
    try:
        body = base64.b64decode(document["body"], validate=True)
    except binascii.Error:
        raise EvidenceBroken(what, "it is not Base64") from None
    if sha256(body).hexdigest() != document["sha256"]:
        raise EvidenceBroken(what, "its bytes do not have the hash beside them")
    return body


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(hashes: tuple[bytes, ...]) -> list[str]:
    return [hash_.hex() for hash_ in hashes]


def _hashes(texts: list[str]) -> tuple[bytes, ...]:
    return tuple(map(bytes.fromhex, texts))
