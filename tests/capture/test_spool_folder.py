"""Where events wait by default: never in the working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

import headwater as hw
from headwater.capturing import spool_folder
from headwater.store.engine.database import file_at


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_SPOOL", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}/state")


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        ("sqlite:///{0}/lineage.db", "{0}/lineage.db.spool"),
        ("sqlite:///{0}/lineage.db?timeout=3", "{0}/lineage.db.spool"),
        ("sqlite+pysqlite:///{0}/lineage.db", "{0}/lineage.db.spool"),
        ("sqlite:///{0}/.headwater/lineage.db", "{0}/.headwater/spool"),
        ("postgresql://user@host/lineage", "{0}/state/headwater/spool"),
        ("memory://", "{0}/state/headwater/spool"),
        (None, "{0}/state/headwater/spool"),
    ],
)
def test_folders(tmp_path: Path, address: str | None, folder: str) -> None:
    store = address and address.format(tmp_path)
    assert spool_folder(store) == Path(folder.format(tmp_path))
    if store and store.startswith("sqlite"):
        assert spool_folder(store).parent == (file_at(store) or Path()).parent


def test_of_a_store_that_is_open(tmp_path: Path) -> None:
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as lin:
        assert spool_folder(lin) == tmp_path / "lineage.db.spool"


def test_a_folder_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_SPOOL", f"{tmp_path}/named")
    assert spool_folder(f"sqlite:///{tmp_path}/lineage.db") == tmp_path / "named"
