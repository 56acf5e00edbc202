"""Anchors: a folder, an object store, a git repository. Nothing in them is ever overwritten."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.assurance.anchors import Anchor, FolderAnchor, GitAnchor, ObjectStoreAnchor, open_anchor
from headwater.errors import AnchorUnusable
from headwater.proof.keys import SigningKey
from headwater.proof.notes import Checkpoint, Note

KEY = SigningKey.new()


def note(size: int, origin: str = "log/one", root: bytes = bytes(32)) -> str:
    return str(Note.signed(Checkpoint(origin, size, root).text, origin, [KEY]))


def git(folder: Path, *arguments: str) -> str:
    answer = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return answer.stdout


def repository(folder: Path, *options: str) -> str:
    folder.mkdir()
    git(folder, "init", "--quiet", *options)
    return f"git:{folder}"


PLACES: dict[str, Callable[[Path], str]] = {
    "folder": lambda path: str(path / "folder" / "below"),
    "object store": lambda path: f"file://{path}/objects/below",
    "git": lambda path: repository(path / "repository"),
    "bare git": lambda path: repository(path / "bare.git", "--bare"),
}


@pytest.fixture(params=PLACES)
def anchor_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return PLACES[request.param](tmp_path)


@pytest.fixture
def anchor(anchor_address: str) -> Anchor:
    return open_anchor(anchor_address)


def test_each_address_has_its_kind(tmp_path: Path) -> None:
    kinds = [type(open_anchor(make(tmp_path))) for make in PLACES.values()]
    assert kinds == [FolderAnchor, ObjectStoreAnchor, GitAnchor, GitAnchor]


def test_a_published_checkpoint_can_be_read(anchor: Anchor, anchor_address: str) -> None:
    assert anchor.checkpoints() == []
    notes = [note(size) for size in (3, 20, 1_000_000)]
    for one in notes:
        anchor.publish(one)
        anchor.publish(one)  # once more changes nothing
    assert [one for _, one in open_anchor(anchor_address).checkpoints()] == notes
    assert next(where for where, _ in anchor.checkpoints()) == f"000000000000003.checkpoint in {anchor_address}"


def test_nothing_is_overwritten(anchor: Anchor) -> None:
    anchor.publish(note(3))
    with pytest.raises(AnchorUnusable, match="holds another checkpoint of 3 entries"):
        anchor.publish(note(3, root=bytes([1] * 32)))
    assert [one for _, one in anchor.checkpoints()] == [note(3)]


def test_an_anchor_is_for_one_log(anchor: Anchor) -> None:
    anchor.publish(note(3))
    with pytest.raises(AnchorUnusable, match="holds the checkpoints of another log, log/one"):
        anchor.publish(note(4, origin="log/two"))
    assert len(anchor.checkpoints()) == 1


@pytest.mark.parametrize("where", ["git:nowhere", "nothing://bucket/path", "/dev/null/folder"])
def test_an_invalid_anchor_address_is_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(AnchorUnusable) as refused:
        open_anchor(where).publish(note(3))
    assert where in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network file systems."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    anchor = FolderAnchor(str(tmp_path))
    anchor.publish(note(3))
    assert [one for _, one in anchor.checkpoints()] == [note(3)]
    with pytest.raises(AnchorUnusable):
        anchor.publish(note(3, root=bytes([1] * 32)))
    assert (tmp_path / "000000000000003.checkpoint").stat().st_mode & 0o444 == 0o444


def test_other_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    FolderAnchor(str(tmp_path)).publish(note(3))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["000000000000003.checkpoint", "notes.txt"]


def test_git_has_a_commit_per_checkpoint_and_the_work_tree_does_not_change(tmp_path: Path) -> None:
    anchor = open_anchor(repository(tmp_path / "repository"))
    for size in (3, 5, 8):
        anchor.publish(note(size))
    folder = tmp_path / "repository"
    assert [file.name for file in folder.iterdir()] == [".git"]
    log = git(folder, "log", "--format=%s", "headwater-checkpoints").split("\n")
    assert log[:3] == [f"Checkpoint {size:015}" for size in (8, 5, 3)]
    assert git(folder, "fsck", "--strict") == ""
