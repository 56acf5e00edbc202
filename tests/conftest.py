"""Stores for tests: a test with the fixture ``store`` or ``store_url`` runs on every database.

A test that cannot run is reported as not run, with its reason; it never just passes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from headwater.store.store import Store
from tests.support import why_missing
from tests.support.daily_revenue import DailyRevenue, run_daily_revenue
from tests.support.postgres import PostgresServer, PostgresUnavailable
from tests.support.postgres_pool import PostgresPool
from tests.support.spark import activate, stop_application

pytest_plugins = ["tests.harness.grouping", "tests.harness.summary"]

ROOT = Path(__file__).parents[1]
SHARED = "../shared/data/openlineage"


def pytest_configure(config: pytest.Config) -> None:
    """Ignores two warnings that an older pyspark itself causes; with the newest they are errors."""
    spark = tuple(int(part) for part in version("pyspark").split(".")[:2])
    if spark < (4, 0):
        config.addinivalue_line("filterwarnings", "ignore:distutils Version classes are deprecated:DeprecationWarning")
    if spark < (4, 3):
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")
    # A worker of xdist runs code and no file; capture names the program's file, which is pytest's without xdist.
    main = sys.modules["__main__"]
    main.__file__ = getattr(main, "__file__", None) or pytest.__file__


@pytest.fixture(autouse=True)
def _active_session(request: pytest.FixtureRequest) -> None:
    """Each folder has a Spark session of its own, which its tests use."""
    if "spark" in request.fixturenames:
        activate(request.getfixturevalue("spark"))


def pytest_sessionfinish() -> None:
    stop_application()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests of a process."""
    server = PostgresServer()
    try:
        if (reason := why_missing("postgres")) is not None:
            raise PostgresUnavailable(reason)
        server.start()
    except PostgresUnavailable as unavailable:
        pytest.skip(f"not run: no PostgreSQL: {unavailable}")
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_pool(postgres: PostgresServer) -> Iterator[PostgresPool]:
    pool = PostgresPool(postgres)
    yield pool
    pool.close()


@pytest.fixture
def new_postgres_database(postgres_pool: PostgresPool) -> Iterator[Callable[..., str]]:
    """Provides a database and returns its name: a store, or a copy of ``template``."""
    lent: list[str] = []
    made: list[str] = []

    def lend(template: str | None = None) -> str:
        name = postgres_pool.lend() if template is None else postgres_pool.create(template)
        (lent if template is None else made).append(name)
        return name

    yield lend
    for name in lent:
        postgres_pool.take_back(name)
    for name in made:
        postgres_pool.server.drop_database(name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, to be copied: faster than migrating each time."""
    file = tmp_path_factory.mktemp("template") / "store.db"
    Store(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The file does not exist yet."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def postgres_url(postgres: PostgresServer, new_postgres_database: Callable[..., str]) -> str:
    return postgres.plain_url(new_postgres_database())


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """Each kind of database. `memory://` is SQLite's code without a file: tests/store/test_in_memory.py tests it."""
    return _durable(request)


@pytest.fixture(params=["sqlite", "postgresql"])
def durable_url(request: pytest.FixtureRequest) -> str:
    """Each kind of database that persists, for tests that open it twice."""
    return _durable(request)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest) -> str:
    """Each kind of database, without any tables."""
    if request.param == "sqlite":
        url: str = request.getfixturevalue("sqlite_url")
        return url
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.plain_url(request.getfixturevalue("new_postgres_database")("template0"))


def _durable(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), url.removeprefix("sqlite:///"))
    return url


@pytest.fixture(scope="session")
def statements() -> dict[str, tuple[Any, Any]]:
    """Compiled statements by the kind of database."""
    return {}


@pytest.fixture
def store(store_url: str, statements: dict[str, tuple[Any, Any]]) -> Iterator[Store]:
    """SQLAlchemy compiles a statement once per engine, which is half the time of a small test; here they are shared."""
    with Store(store_url) as opened:
        engine = opened._database.engine
        own = engine.dialect, engine._compiled_cache
        engine.dialect, engine._compiled_cache = statements.setdefault(engine.name, own)
        yield opened


@pytest.fixture(scope="session")
def daily_revenue(tmp_path_factory: pytest.TempPathFactory) -> DailyRevenue:
    """The example, run once for all tests that read its results."""
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    return run_daily_revenue(tmp_path_factory.mktemp("daily_revenue"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """OpenLineage's own test data; its MANIFEST.md describes it."""
    folder = ROOT / SHARED
    if not folder.is_dir():
        pytest.skip(f"not run: {SHARED} is not there")
    return folder
