"""A store, and its server over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.client import Lineage
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from tests.server.running import in_this_process


@contextmanager
def served(url: str, folder: Path, **options: Any) -> Iterator[tuple[Any, Lineage]]:
    """A client of a server, and the store behind it as the server itself opens it."""
    app = create_app(url, ServerSettings(workspace=str(folder)))
    with in_this_process(app) as port, headwater.connect(f"http://127.0.0.1:{port}", **options) as remote:
        yield remote, app.state.service.store


@pytest.fixture(autouse=True)
def _no_key_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_API_KEY", raising=False)
