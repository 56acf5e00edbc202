"""A server for requests: in this process where possible, otherwise in a process of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from tests.server.running import ServerProcess


@pytest.fixture
def served_url(sqlite_template: Path, sqlite_url: str) -> str:
    """A store on disk with nothing in it."""
    shutil.copy(sqlite_template, sqlite_url.removeprefix("sqlite:///"))
    return sqlite_url


@pytest.fixture
def client(served_url: str, tmp_path: Path) -> Iterator[TestClient]:
    settings = ServerSettings(workspace=str(tmp_path), rows_location=str(tmp_path / "rows"))
    with TestClient(create_app(served_url, settings), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def server(served_url: str, tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(served_url, log=tmp_path / "server.log") as running:
        yield running
