"""Laboratories for the oracles: one for each database, for a whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracles.labs import FileLab, Lab, MemoryLab, PostgresLab
from tests.support.postgres import PostgresServer

DATABASE = "oracles"


@pytest.fixture(scope="session")
def memory_lab() -> Iterator[Lab]:
    lab = MemoryLab()
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def file_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder: Path = tmp_path_factory.mktemp("oracles")
    lab = FileLab(folder)
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def postgres_lab(postgres: PostgresServer) -> Iterator[Lab]:
    """Not run, with the reason, where there is no PostgreSQL."""
    postgres.create_database(DATABASE)
    lab = PostgresLab(postgres.plain_url(DATABASE), lambda: postgres.drop_database(DATABASE))
    yield lab
    lab.close()
