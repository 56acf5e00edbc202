"""Signing keys of the tests, never those of the user who runs them, and a store for tests that do not depend on the
database."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.support.spark import TINY_DATA, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyRing:
    """The key file in the default location."""
    monkeypatch.setenv("HEADWATER_KEY", str(tmp_path / "key.pem"))
    return KeyRing.create(tmp_path / "key.pem")


@pytest.fixture
def one_store(sqlite_template: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(sqlite_template, tmp_path / "store.db")
    with Store(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(TINY_DATA) as session:
        yield session
