"""Keys to sign with, which are never those of whoever runs the tests; a store for what no database does differently."""

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
    """In the place where keys are looked for."""
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
