"""Anchors: where checkpoints are out of reach of the store's operator.

An anchor is a folder, a path in an object store (`s3://bucket/path`, by pyarrow), or a git repository (`git:/path`, by
the git command, on a branch of its own). A checkpoint is a file named after its size, and is never overwritten. An
anchor is for one log: a checkpoint of another log in it is how a rewritten log is detected.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.errors import AnchorUnusable, NoteInvalid
from headwater.proof.notes import Checkpoint, Note

_SUFFIX = ".checkpoint"
_BRANCH = "refs/heads/headwater-checkpoints"
_GIT = "git:"


def open_anchor(where: str) -> Anchor:
    if where.startswith(_GIT):
        return GitAnchor(where)
    return ObjectStoreAnchor(where) if "://" in where else FolderAnchor(where)


class Anchor(ABC):
    def __init__(self, where: str) -> None:
        self.where = where

    def publish(self, note: str) -> None:
        """Add a checkpoint. One of another log than those that are here is refused."""
        checkpoint = Checkpoint.of(Note.parse(note))
        name = f"{checkpoint.size:015}{_SUFFIX}"
        names = self._names()
        if name in names:
            existing = self._read([name])[name]
        else:
            existing = note
            self._refuse_another_log(names, checkpoint)
            self._write(name, note)
        if existing != note:
            raise AnchorUnusable(f"{self.where} holds another checkpoint of {checkpoint.size} entries.")

    def checkpoints(self) -> list[tuple[str, str]]:
        """Return the location and the note of each checkpoint, smallest log first."""
        return [(f"{name} in {self.where}", note) for name, note in sorted(self._read(self._names()).items())]

    def _refuse_another_log(self, names: Sequence[str], checkpoint: Checkpoint) -> None:
        if not names:
            return
        newest = max(names)
        try:
            origin = Checkpoint.of(Note.parse(self._read([newest])[newest])).origin
        except NoteInvalid as invalid:
            raise AnchorUnusable(f"{newest} in {self.where} is not a checkpoint: {invalid}.") from None
        if origin != checkpoint.origin:
            raise AnchorUnusable(f"{self.where} holds the checkpoints of another log, {origin}.")

    def _unusable(self, error: object) -> AnchorUnusable:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        return AnchorUnusable(f"The anchor {self.where} cannot be used: {reason}.")

    @abstractmethod
    def _names(self) -> list[str]:
        """Return the names of all checkpoints."""

    @abstractmethod
    def _read(self, names: Sequence[str]) -> Mapping[str, str]: ...

    @abstractmethod
    def _write(self, name: str, note: str) -> None:
        """Write a new file atomically."""


class FolderAnchor(Anchor):
    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self.where) if name.endswith(_SUFFIX)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(error.strerror) from None

    def _read(self, names: Sequence[str]) -> Mapping[str, str]:
        try:
            return {name: _text((Path(self.where) / name).read_bytes()) for name in names}
        except OSError as error:
            raise self._unusable(error.strerror) from None

    def _write(self, name: str, note: str) -> None:
        folder = Path(self.where)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder) as unfinished:
                unfinished.write(note.encode())
                unfinished.flush()
                os.fsync(unfinished.fileno())
                os.chmod(unfinished.name, 0o644)  # readable by verifiers
                self._link(unfinished.name, folder / name, note)
        except OSError as error:
            raise self._unusable(error.strerror) from None

    @staticmethod
    def _link(unfinished: str, file: Path, note: str) -> None:
        """Create the file, and fail if it exists, which a rename would not; also on file systems without links."""
        try:
            os.link(unfinished, file)
        except FileExistsError:
            raise
        except OSError:
            with open(file, "xb") as opened:
                opened.write(note.encode())


class ObjectStoreAnchor(Anchor):
    """pyarrow cannot refuse to overwrite an object: the bucket must, by versioning or object lock."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        try:
            from pyarrow import fs
        except ImportError:
            raise AnchorUnusable(f"The anchor {where} needs pyarrow, which is not installed.") from None
        try:
            self._files, self._path = fs.FileSystem.from_uri(where)
        except (OSError, ValueError) as error:
            raise self._unusable(error) from None
        self._selector = fs.FileSelector(self._path, allow_not_found=True)

    def _names(self) -> list[str]:
        try:
            there = [info.base_name for info in self._files.get_file_info(self._selector)]
        except OSError as error:
            raise self._unusable(error) from None
        return [name for name in there if name.endswith(_SUFFIX)]

    def _read(self, names: Sequence[str]) -> Mapping[str, str]:
        result = {}
        try:
            for name in names:
                with self._files.open_input_stream(f"{self._path}/{name}") as opened:
                    result[name] = _text(opened.read())
        except OSError as error:
            raise self._unusable(error) from None
        return result

    def _write(self, name: str, note: str) -> None:
        try:
            self._files.create_dir(self._path, recursive=True)
            with self._files.open_output_stream(f"{self._path}/{name}") as opened:
                opened.write(note.encode())
        except OSError as error:
            raise self._unusable(error) from None


class GitAnchor(Anchor):
    """Adds a commit for each checkpoint, without a work tree. Pushing the branch is left to the user."""

    def _names(self) -> list[str]:
        if not self._git("for-each-ref", _BRANCH):
            return []
        listed = self._git("ls-tree", "-z", "--name-only", _BRANCH)
        return [name for name in listed.split("\0") if name.endswith(_SUFFIX)]

    def _read(self, names: Sequence[str]) -> Mapping[str, str]:
        return {name: self._git("cat-file", "blob", f"{_BRANCH}:{name}") for name in names}

    def _write(self, name: str, note: str) -> None:
        parent = self._git("for-each-ref", "--format=%(objectname)", _BRANCH).strip()
        listed = self._git("ls-tree", parent) if parent else ""
        blob = self._git("hash-object", "-w", "--stdin", stdin=note).strip()
        tree = self._git("mktree", stdin=f"{listed}100644 blob {blob}\t{name}\n").strip()
        parents = ["-p", parent] if parent else []
        commit = self._git("commit-tree", tree, *parents, stdin=f"Checkpoint {name.removesuffix(_SUFFIX)}\n").strip()
        # Fails if the branch has moved since it was read.
        self._git("update-ref", _BRANCH, commit, parent or "0" * len(commit))

    def _git(self, *arguments: str, stdin: str = "") -> str:
        named = {f"GIT_{who}_{what}": "headwater" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        try:
            answer = subprocess.run(
                ["git", "-C", self.where.removeprefix(_GIT), *arguments],
                input=stdin.encode(),
                capture_output=True,
                env={**os.environ, **named},
                check=False,
            )
        except OSError as error:
            raise self._unusable(error.strerror) from None
        if answer.returncode:
            raise self._unusable(_text(answer.stderr))
        return _text(answer.stdout)


def _text(content: bytes) -> str:
    """Decode with replacement, so that an invalid file is refused by name later."""
    return content.decode(errors="replace")
