"""Signed notes and checkpoints, in the text forms of C2SP (signed-note, tlog-checkpoint), as other tools read them.

    headwater.log/5f2c…        the log's name, its origin
    1024                       its number of entries
    CsUYapGGPo4dkMgI…          the root of their tree

    — headwater.log/5f2c… Az3g…    a signature over the lines above the blank one

A note has exactly one encoding: one that is not written back byte for byte is refused, so no byte of a stored note can
change unnoticed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from headwater.errors import NoteInvalid, shorten
from headwater.proof.keys import verifies
from headwater.proof.merkle import HASH_SIZE

_ED25519 = b"\1"
_ID_SIZE, _KEY_SIZE = 4, 32
_MAX_SIGNATURES = 64
_MARK = "— "


class Signer(Protocol):
    @property
    def public(self) -> bytes: ...

    def sign(self, data: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public Ed25519 key under the name of the log it signs for."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_ID_SIZE]

    def __str__(self) -> str:
        """Return the `vkey`, as C2SP's tools accept it."""
        return f"{self.name}+{self.id.hex()}+{_base64_text(_ED25519 + self.public)}"

    @classmethod
    def parse(cls, vkey: str) -> Verifier:
        vkey = vkey.strip()
        name, _, rest = vkey.partition("+")
        try:
            key = _base64_bytes(rest.partition("+")[2])
        except ValueError:
            key = b""
        result = cls(name, key[1:])
        if not _is_name(name) or key[:1] != _ED25519 or len(key) != 1 + _KEY_SIZE or str(result) != vkey:
            raise NoteInvalid(f"'{shorten(vkey)}' is not a public key of Ed25519. It has the form NAME+ID+KEY.")
        return result

    def verifies(self, signature: bytes, data: bytes) -> bool:
        return verifies(self.public, signature, data)


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{_MARK}{self.name} {_base64_text(self.id + self.signature)}\n"


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(map(str, self.signatures))}"

    @classmethod
    def signed(cls, text: str, name: str, keys: Iterable[Signer]) -> Note:
        data = text.encode()
        return cls(text, tuple(Signature(name, Verifier(name, key.public).id, key.sign(data)) for key in keys))

    @classmethod
    def parse(cls, note: str) -> Note:
        try:
            note.encode()
        except UnicodeEncodeError:
            raise NoteInvalid("it is not UTF-8") from None
        text, blank, lines = note.rpartition("\n\n")
        signatures = lines.removesuffix("\n").split("\n")
        if not blank or not text or any(c < " " and c != "\n" for c in note) or len(signatures) > _MAX_SIGNATURES:
            raise NoteInvalid("it is not a signed note")
        result = cls(f"{text}\n", tuple(map(_signature, signatures)))
        if str(result) != note:
            raise NoteInvalid("it is not in the exact form of a signed note")
        return result

    def is_signed_by(self, key: Verifier) -> bool:
        """Whether the key signed the note. An invalid signature in its name invalidates the note, as C2SP requires."""
        candidates = [
            signature for signature in self.signatures if (signature.name, signature.id) == (key.name, key.id)
        ]
        return bool(candidates) and all(
            key.verifies(candidate.signature, self.text.encode()) for candidate in candidates
        )


def _signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_MARK).partition(" ")
    try:
        data = _base64_bytes(encoded)
    except ValueError:
        raise NoteInvalid("one of its signatures cannot be read") from None
    if not line.startswith(_MARK) or not _is_name(name) or len(data) <= _ID_SIZE:
        raise NoteInvalid("one of its signatures cannot be read")
    return Signature(name, data[:_ID_SIZE], data[_ID_SIZE:])


@dataclass(frozen=True, slots=True)
class Checkpoint:
    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{_base64_text(self.root)}\n"

    @classmethod
    def of(cls, note: Note) -> Checkpoint:
        origin, *rest = note.text.split("\n")
        try:
            size, root, end = rest
            result = cls(origin, int(size), _base64_bytes(root))
        except ValueError:
            raise NoteInvalid("it is not a checkpoint, which has a line each for name, size and root") from None
        if not origin or end or result.size < 0 or len(result.root) != HASH_SIZE or result.text != note.text:
            raise NoteInvalid("it is not in the exact form of a checkpoint")
        return result


def _is_name(name: str) -> bool:
    return bool(name) and "+" not in name and not any(c.isspace() for c in name)


def _base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _base64_bytes(text: str) -> bytes:
    """Decode strictly: Base64 may have unused bits at its end, and texts that differ only in these decode to the same
    bytes."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None
    if _base64_text(data) != text:
        raise ValueError("not the canonical encoding")
    return data
