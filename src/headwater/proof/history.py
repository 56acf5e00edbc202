"""The keys that signed a log over time, as entries of the log itself state them.

An entry adopts the first key, which signs it. An entry signed by the old and the new key replaces a key, over the state
of the log at that time: a verifier who trusts one key can follow to all others, and such an entry fits no other log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.errors import EvidenceBroken, NoteInvalid
from headwater.proof.notes import Checkpoint, Note, Signer, Verifier

ADOPTED, ROTATED = "key.adopted", "key.rotated"
_TITLES = {ADOPTED: "headwater: key adopted", ROTATED: "headwater: key rotated"}
_KEYS = {ADOPTED: 1, ROTATED: 2}
_CHECKPOINT_LINES = 3


def origin_of(first_entry: bytes) -> str:
    """Return the name of a log, derived from the hash of its first entry, so that it is unique."""
    return f"headwater.log/{first_entry.hex()[:32]}"


def statement(kind: str, state: Checkpoint, *keys: Signer) -> Note:
    """Return the signed statement of a key entry. ``keys``: the adopted key, or the old and the new key."""
    named = "".join(f"{Verifier(state.origin, key.public)}\n" for key in keys)
    return Note.signed(f"{_TITLES[kind]}\n{state.text}{named}", state.origin, keys)


@dataclass(frozen=True, slots=True)
class KeyPeriod:
    """A key, and the first entry that it signs for."""

    seq: int
    key: Verifier


class KeyHistory:
    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.periods: list[KeyPeriod] = []

    @property
    def current(self) -> Verifier | None:
        return self.periods[-1].key if self.periods else None

    def at(self, size: int) -> Verifier | None:
        """Return the key in force for a log of ``size`` entries."""
        return next((period.key for period in reversed(self.periods) if period.seq <= size), None)

    def follow(self, seq: int, kind: str, note: str, root_at: Callable[[int], bytes]) -> None:
        """Apply the key entry ``seq``. Raises :class:`EvidenceBroken` if it is invalid."""
        try:
            signed = Note.parse(note)
            title, *lines = signed.text.removesuffix("\n").split("\n")
            state = Checkpoint.of(Note("".join(f"{line}\n" for line in lines[:_CHECKPOINT_LINES]), ()))
            keys = [Verifier.parse(line) for line in lines[_CHECKPOINT_LINES:]]
        except NoteInvalid as invalid:
            raise EvidenceBroken(f"Entry {seq}, on the key that signs,", str(invalid)) from None
        fault = self._fault(kind, title, state, keys, seq, root_at)
        unsigned = [str(key) for key in keys if not signed.is_signed_by(key)]
        if fault is None and unsigned:
            fault = f"it is not signed by {unsigned[0]}"
        if fault is not None:
            raise EvidenceBroken(f"Entry {seq}, on the key that signs,", fault)
        self.periods.append(KeyPeriod(seq, keys[-1]))

    def _fault(
        self,
        kind: str,
        title: str,
        state: Checkpoint,
        keys: list[Verifier],
        seq: int,
        root_at: Callable[[int], bytes],
    ) -> str | None:
        if title != _TITLES.get(kind) or len(keys) != _KEYS.get(kind):
            return f"it is not the statement of an entry of the type {kind}"
        if state.origin != self.origin or any(key.name != self.origin for key in keys):
            return f"it is of another log, {state.origin}"
        if state.size != seq - 1 or state.root != root_at(state.size):
            return "it was signed for another state of the log"
        if kind == ADOPTED and self.periods:
            return f"the log already has a key, {self.current}"
        if kind == ROTATED and keys[0] != self.current:
            return f"the key in force was {self.current}, not {keys[0]}"
        return None
