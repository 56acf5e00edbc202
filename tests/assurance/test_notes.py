"""Signed notes, checkpoints and keys follow C2SP, and every byte of them counts."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from headwater.errors import EvidenceBroken, KeyUnusable, NoteInvalid
from headwater.proof.history import ADOPTED, ROTATED, KeyHistory, origin_of, statement
from headwater.proof.keys import KeyRing, SigningKey, default_key_file
from headwater.proof.notes import Checkpoint, Note, Verifier

# A key and a note that other implementations publish with theirs.
KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
NOTE = (
    "This is an example message.\n\n"
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
ORIGIN = origin_of(bytes(range(32)))


def test_a_note_of_another_implementation() -> None:
    note, key = Note.parse(NOTE), Verifier.parse(KEY)
    assert (str(note), str(key)) == (NOTE, KEY)
    assert note.text == "This is an example message.\n"
    assert note.is_signed_by(key)


def is_valid(note: str, key: Verifier) -> bool:
    try:
        signed = Note.parse(note)
        Checkpoint.of(signed)
        return signed.is_signed_by(key)
    except NoteInvalid:
        return False


def test_a_checkpoint_is_valid_only_unchanged() -> None:
    key = SigningKey.new()
    state = Checkpoint(ORIGIN, 20852163, sha256(b"root").digest())
    note = str(Note.signed(state.text, ORIGIN, [key]))
    verifier = Verifier(ORIGIN, key.public)
    assert Checkpoint.of(Note.parse(note)) == state
    assert is_valid(note, verifier)
    data = note.encode()
    for position in range(len(data)):
        for bit in range(8):
            changed = data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]
            assert not is_valid(changed.decode(errors="surrogateescape"), verifier), (position, bit)
    for changed_note in (note + "\n", note[:-1], note.replace("\n", "\r\n"), f" {note}", "", "\n\n", "x\n\n"):
        assert not is_valid(changed_note, verifier)


@pytest.mark.parametrize(
    "text", ["o\n1\n", "o\n1\nAA==\n", "\n1\n{}\n", "o\n01\n{}\n", "o\n-1\n{}\n", "o\n1\n{}\nmore\n"]
)
def test_invalid_checkpoints_are_refused(text: str) -> None:
    root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    with pytest.raises(NoteInvalid):
        Checkpoint.of(Note(text.format(root), ()))


def test_the_spare_bits_of_base64_must_be_zero() -> None:
    """The last character of 32 bytes in Base64 has two bits that decode to nothing."""
    root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    for other in "JKL":
        with pytest.raises(NoteInvalid):
            Checkpoint.of(Note(f"o\n1\n{root[:-2]}{other}=\n", ()))


def test_signatures_of_other_keys_are_ignored() -> None:
    ours, theirs = SigningKey.new(), SigningKey.new()
    note = Note.signed(Checkpoint(ORIGIN, 1, bytes(32)).text, ORIGIN, [ours, theirs])
    assert note.is_signed_by(Verifier(ORIGIN, ours.public))
    assert note.is_signed_by(Verifier(ORIGIN, theirs.public))
    assert not note.is_signed_by(Verifier(ORIGIN, SigningKey.new().public))
    assert not note.is_signed_by(Verifier("another", ours.public))


@pytest.mark.parametrize(
    "vkey", ["", "x", "a+b+c", KEY[:-1], KEY.replace("530d", "530e"), KEY.replace("foo", "fop"), f"{KEY}="]
)
def test_invalid_public_keys_are_refused(vkey: str) -> None:
    with pytest.raises(NoteInvalid):
        Verifier.parse(vkey)


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_key_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "key.pem"
    made = KeyRing.create(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [key.public for key in KeyRing.load(file).keys] == [made.newest.public]
    with pytest.raises(KeyUnusable, match="already holds a key"):
        KeyRing.create(file)
    file.chmod(0o644)
    with pytest.raises(KeyUnusable, match="chmod 600"):
        KeyRing.load(file)


def test_rotation_adds_a_key_and_keeps_the_others(tmp_path: Path) -> None:
    first = KeyRing.create(tmp_path / "key.pem")
    second = first.rotate()
    assert [key.public for key in KeyRing.load(second.file).keys] == [first.newest.public, second.newest.public]
    assert second.of(first.newest.public) is not None
    assert first.of(second.newest.public) is None
    assert second.file.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["key.pem"]


def test_rotations_of_one_file_add_up(tmp_path: Path) -> None:
    """Two stores share it: neither may lose the other's key, which may have signed already."""
    ring = KeyRing.create(tmp_path / "key.pem")
    first, second = ring.rotate().newest, ring.rotate().newest
    assert [key.public for key in KeyRing.load(ring.file).keys] == [ring.newest.public, first.public, second.public]
    (tmp_path / "key.pem.new").touch()
    with pytest.raises(KeyUnusable, match=r"If it was interrupted, remove .*key\.pem\.new"):
        ring.rotate()


def test_invalid_key_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    with pytest.raises(KeyUnusable, match="headwater keys new"):
        KeyRing.load(file)
    for content in (b"", b"not a key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"):
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(KeyUnusable, match=r"key\.pem"):
            KeyRing.load(file)


def test_openssl_reads_the_file_and_verifies_a_checkpoint(tmp_path: Path) -> None:
    """As docs/assurance.md shows it."""
    key = KeyRing.create(tmp_path / "key.pem").newest
    note = Note.signed(Checkpoint(ORIGIN, 3, bytes(32)).text, ORIGIN, [key])
    (tmp_path / "text").write_bytes(note.text.encode())
    (tmp_path / "signature").write_bytes(note.signatures[0].signature)
    verify = ["openssl", "pkeyutl", "-verify", "-inkey", "key.pem", "-rawin", "-in", "text", "-sigfile", "signature"]
    answer = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout.strip()) == (0, "Signature Verified Successfully")


def test_the_locations_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KEY", str(tmp_path / "mine"))
    assert default_key_file() == tmp_path / "mine"
    monkeypatch.delenv("HEADWATER_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_key_file() == tmp_path / "headwater" / "signing.pem"


# -- who signs ---------------------------------------------------------------------------------------------------------

ROOTS = [sha256(bytes([size])).digest() for size in range(10)]


def state_at(size: int, origin: str = ORIGIN) -> Checkpoint:
    return Checkpoint(origin, size, ROOTS[size])


def test_key_periods_are_consecutive() -> None:
    first, second = SigningKey.new(), SigningKey.new()
    history = KeyHistory(ORIGIN)
    assert history.current is None
    history.follow(4, ADOPTED, str(statement(ADOPTED, state_at(3), first)), ROOTS.__getitem__)
    history.follow(7, ROTATED, str(statement(ROTATED, state_at(6), first, second)), ROOTS.__getitem__)
    assert history.at(3) is None
    assert history.at(4) == history.at(6) == Verifier(ORIGIN, first.public)
    assert history.at(7) == history.current == Verifier(ORIGIN, second.public)


def test_a_new_key_needs_the_signature_of_the_old_one() -> None:
    first, second = SigningKey.new(), SigningKey.new()
    rotation = statement(ROTATED, state_at(6), first, second)
    only = {
        "old": Note(rotation.text, rotation.signatures[:1]),
        "new": Note(rotation.text, rotation.signatures[1:]),
        "another state": statement(ROTATED, state_at(5), first, second),
        "another log": statement(ROTATED, state_at(6, "headwater.log/other"), first, second),
        "another old key": statement(ROTATED, state_at(6), second, first),
        "adopted once more": statement(ADOPTED, state_at(6), second),
        "nothing": Note("x\n", ()),
    }
    for why, note in only.items():
        history = KeyHistory(ORIGIN)
        history.follow(4, ADOPTED, str(statement(ADOPTED, state_at(3), first)), ROOTS.__getitem__)
        with pytest.raises(EvidenceBroken, match=r"^Entry 7, on the key that signs, does not hold: "):
            history.follow(7, ROTATED if why != "adopted once more" else ADOPTED, str(note), ROOTS.__getitem__)
        assert len(history.periods) == 1, why
