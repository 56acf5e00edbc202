"""Laboratories for the oracles: one for each database, for a whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracles.scratch_stores import FileLab, Lab, MemoryLab, PostgresLab
from tests.support.postgres import PostgresServer

DATABASE = "oracles"
DATABASE_OF_HUBS = "oracles_of_hubs"
FEW_EDGES = 3
"""So few that two inputs and two outputs have a hub, and one of each has none."""


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


@pytest.fixture(scope="session")
def hub_lab() -> Iterator[Lab]:
    """Where few edges are direct."""
    lab = MemoryLab(FEW_EDGES)
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def postgres_hub_lab(postgres: PostgresServer) -> Iterator[Lab]:
    postgres.create_database(DATABASE_OF_HUBS)
    url = postgres.plain_url(DATABASE_OF_HUBS)
    lab = PostgresLab(url, lambda: postgres.drop_database(DATABASE_OF_HUBS), FEW_EDGES)
    yield lab
    lab.close()
