"""A read-only database still answers, and refuses writes with a clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from headwater.errors import StoreReadOnly, StoreUnavailable
from headwater.store.store import Store
from tests.store.one_line import PASSWORD, refused
from tests.store.short_answers import links, row_counts
from tests.support.events import run_event
from tests.support.postgres import PostgresServer

Address = Callable[[bool], str]
"""Of a read-only database; True: with a store and one event in it."""


@pytest.fixture(params=["sqlite", "a default of the database", "a role without rights"])
def read_only(request: pytest.FixtureRequest, tmp_path: Path) -> Address:
    if request.param == "sqlite":

        def read_only_file(filled: bool) -> str:
            (tmp_path / "store.db").touch()
            fill(f"sqlite:///{tmp_path}/store.db", filled)
            return f"sqlite:///file:{tmp_path}/store.db?mode=ro&uri=true"

        return read_only_file
    server: PostgresServer = request.getfixturevalue("postgres")
    database: str = request.getfixturevalue("new_postgres_database")("template0")
    url = server.plain_url(database)

    def by_default(filled: bool) -> str:
        fill(url, filled)
        execute(url, f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        return url

    def by_role(filled: bool) -> str:
        fill(url, filled)
        execute(url, f"CREATE ROLE reader_of_{database} LOGIN PASSWORD '{PASSWORD}'")
        execute(url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_of_{database}")
        return url.replace("postgres@", f"reader_of_{database}:{PASSWORD}@")

    return by_role if "role" in request.param else by_default


def fill(url: str, filled: bool) -> None:
    if filled:
        with Store(url) as store:
            store.ingest(run_event(inputs=["a"], outputs=["b"]))


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def test_queries_work(read_only: Address) -> None:
    with Store(read_only(True)) as store:
        assert links(store) == {("a", "b")}
        assert store.verify()[0] == 1


def test_writes_are_refused_and_queries_still_work(read_only: Address) -> None:
    with Store(read_only(True)) as store:
        before = row_counts(store)
        for _ in range(2):
            with refused(StoreReadOnly, "takes no writes"):
                store.ingest(run_event(run="new", inputs=["c"], outputs=["d"]))
            assert row_counts(store) == before
        assert links(store) == {("a", "b")}


def test_no_store_is_created(read_only: Address) -> None:
    with refused(StoreReadOnly, "takes no writes"):
        Store(read_only(False))


def test_a_missing_read_only_file(tmp_path: Path) -> None:
    with refused(StoreUnavailable, "nowhere.db"):
        Store(f"sqlite:///file:{tmp_path}/nowhere.db?mode=ro&uri=true")
    assert list(tmp_path.iterdir()) == []
