"""Store URLs that are invalid, or lead to nothing or to a database of another application."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import create_engine, inspect

from headwater.errors import StoreMissing, StoreNotOurs, StoreUnavailable, StoreUrlInvalid
from headwater.store.engine.database import Database
from headwater.store.store import Store
from tests.store.one_line import PASSWORD, refused
from tests.support.events import run_event
from tests.support.postgres import PostgresServer


@pytest.mark.parametrize(
    "url", ["", "store.db", "/var/lib/store.db", "sqlite", "not a url", "no\nurl", "://", "x" * 9_000]
)
def test_an_invalid_url(url: str) -> None:
    with refused(StoreUrlInvalid, "is not a store address", "sqlite:///", "postgresql://", "memory://"):
        Store(url)


@pytest.mark.parametrize("scheme", ["mysql", "http", "https", "ftp", "mongodb+srv", "oracle", "duckdb"])
def test_an_unknown_scheme(scheme: str) -> None:
    with refused(StoreUrlInvalid, "postgresql://"):
        Store(f"{scheme}://user:{PASSWORD}@host/database")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{PASSWORD}@host:port/database",
        f"postgresql://user:{PASSWORD}@@host:1x/database",
        f"postgresql://host:1x/database?password={PASSWORD}",
    ],
)
def test_an_unreadable_url_never_shows_its_password(url: str) -> None:
    with refused(StoreUrlInvalid):
        Store(url)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{PASSWORD}@127.0.0.1:1/database",
        f"postgresql://user@127.0.0.1:1/database?password={PASSWORD}",
        f"postgresql://user@127.0.0.1:1/database?sslpassword={PASSWORD}&password={PASSWORD}",
        f"postgres://user:{PASSWORD}@localhost:1/database",
        f"postgresql+psycopg://user:{PASSWORD}@127.0.0.1:1/database",
    ],
)
def test_no_server_there(url: str) -> None:
    with refused(StoreUnavailable, "does not answer", "onnection"):
        Store(url)
    assert PASSWORD not in str(Database(url))
    assert PASSWORD not in repr(Database(url))


def test_no_such_host() -> None:
    with refused(StoreUnavailable, "no-such-host.invalid"):
        Store(f"postgresql://user:{PASSWORD}@no-such-host.invalid/database")


def test_no_such_database(postgres: PostgresServer) -> None:
    with refused(StoreMissing, "There is no database at", "no_such_database"):
        Store(postgres.plain_url("no_such_database"))


def test_no_such_role(postgres: PostgresServer) -> None:
    with refused(StoreUnavailable, "nobody_knows_me"):
        Store(postgres.plain_url("postgres").replace("postgres@", f"nobody_knows_me:{PASSWORD}@"))


def test_an_option_that_the_driver_does_not_know(postgres: PostgresServer) -> None:
    with refused(StoreUrlInvalid, "colour"):
        Store(f"{postgres.plain_url('postgres')}&colour=blue")


@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_a_wrong_password() -> None:
    with PostgresServer() as server:
        with psycopg.connect(server.plain_url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}-but-right'".encode())
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
            connection.execute("SELECT pg_reload_conf()")
        url = server.plain_url("postgres")
        with refused(StoreUnavailable, "password authentication failed", "guarded"):
            Store(url.replace("postgres@", f"guarded:{PASSWORD}@"))
        with refused(StoreUnavailable, "no password supplied"):
            Store(url.replace("postgres@", "guarded@"))


def test_a_directory(tmp_path: Path) -> None:
    with refused(StoreUnavailable, str(tmp_path)):
        Store(f"sqlite:///{tmp_path}")
    assert list(tmp_path.iterdir()) == []


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with refused(StoreUnavailable, "Cannot make a store at"):
        Store(f"sqlite:///{tmp_path}/file/store.db")


def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are notes and no database, though there are many of them. " * 100)
    before = file.read_bytes()
    with refused(StoreUnavailable, "notes.txt", "cannot be read as a database"):
        Store(f"sqlite:///{file}")
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_a_missing_folder_is_created(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/a/b/store.db") as store:
        store.ingest(run_event())
    assert (tmp_path / "a/b/store.db").is_file()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").touch()
    with Store(f"sqlite:///{tmp_path}/store.db") as store:
        assert store.datasets() == []


@pytest.mark.parametrize("name", ["sp ace.db", "per%cent.db", "qu'ote.db", "größe.db", "#hash.db"])
def test_file_names_are_data(tmp_path: Path, name: str) -> None:
    with Store(f"sqlite:///{tmp_path}/{quote(name)}") as store:
        store.ingest(run_event())
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name]


def test_nothing_is_created_without_create(tmp_path: Path) -> None:
    with refused(StoreMissing, "There is no store at", "missing.db"):
        Store(f"sqlite:///{tmp_path}/folder/missing.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_is_not_changed_without_create(empty_url: str) -> None:
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).touch()
    with refused(StoreMissing, "There is no store at"):
        Store(empty_url, create=False)
    assert tables(empty_url) == []


@pytest.mark.parametrize(
    "kind", ["TABLE event (x integer)", "TABLE audit (x integer)", "VIEW dataset AS SELECT 1 AS x"]
)
def test_a_database_of_another_application(empty_url: str, kind: str) -> None:
    name = kind.split()[1]
    execute(empty_url, f"CREATE {kind}")
    before = tables(empty_url)
    for create in (True, False):
        with refused(StoreNotOurs, "is not a Headwater store", name, "a database or schema of its own"):
            Store(empty_url, create=create)
    assert tables(empty_url) == before


def test_other_tables_with_other_names_are_allowed(empty_url: str) -> None:
    execute(empty_url, "CREATE TABLE customers (x integer)")
    with Store(empty_url) as store:
        store.ingest(run_event(inputs=["a"]))
    assert "customers" in tables(empty_url)


def execute(url: str, statement: str) -> None:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.execute(statement)
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as session:
            session.execute(statement.encode())


def tables(url: str) -> list[str]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    found = inspect(engine).get_table_names() + inspect(engine).get_view_names()
    engine.dispose()
    return sorted(found)
