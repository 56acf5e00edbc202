"""Scratch stores for the oracles: one per database, for a whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracles.scratch_stores import FileLab, MemoryLab, PostgresLab, ScratchStore
from tests.support.postgres import PostgresServer

DATABASE = "oracles"
DATABASE_OF_HUBS = "oracles_of_hubs"
FEW_EDGES = 3
"""So few that two inputs and two outputs have a hub, and one of each has none."""


@pytest.fixture(scope="session")
def memory_lab() -> Iterator[ScratchStore]:
    lab = MemoryLab()
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def file_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScratchStore]:
    folder: Path = tmp_path_factory.mktemp("oracles")
    lab = FileLab(folder)
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def postgres_lab(postgres: PostgresServer) -> Iterator[ScratchStore]:
    """Reported as not run, with the reason, if there is no PostgreSQL."""
    postgres.create_database(DATABASE)
    lab = PostgresLab(postgres.plain_url(DATABASE), lambda: postgres.drop_database(DATABASE))
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def hub_lab() -> Iterator[ScratchStore]:
    """A store with few direct edges."""
    lab = MemoryLab(FEW_EDGES)
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def postgres_hub_lab(postgres: PostgresServer) -> Iterator[ScratchStore]:
    postgres.create_database(DATABASE_OF_HUBS)
    url = postgres.plain_url(DATABASE_OF_HUBS)
    lab = PostgresLab(url, lambda: postgres.drop_database(DATABASE_OF_HUBS), FEW_EDGES)
    yield lab
    lab.close()
