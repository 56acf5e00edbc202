"""A store of another version of Headwater."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

from headwater.errors import StoreOutdated, StoreTooNew
from headwater.store.engine.database import Database
from headwater.store.schema import upgrade as upgrading
from headwater.store.schema.migrations import HEAD, VERSION_TABLE
from headwater.store.schema.upgrade import upgrade
from headwater.store.store import Store
from tests.store.one_line import refused
from tests.store.short_answers import row_counts
from tests.support.events import run_event

SetVersion = Callable[[str], None]


@pytest.fixture
def set_version(durable_url: str) -> SetVersion:
    """Creates a store with one event and sets its version."""
    with Store(durable_url) as store:
        store.ingest(run_event(inputs=["a"], outputs=["b"]))

    def change(version: str) -> None:
        database = Database(durable_url)
        with database.write() as conn:
            conn.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :version"), {"version": version})
        database.close()

    return change


def test_a_store_of_this_version_opens(durable_url: str, set_version: SetVersion) -> None:
    set_version(HEAD)
    with Store(durable_url, create=False) as store:
        assert row_counts(store)["event"] == 1


def test_a_newer_store_is_refused_and_unchanged(durable_url: str, set_version: SetVersion) -> None:
    set_version("9999")
    for create in (True, False):
        with refused(StoreTooNew, "9999", HEAD, "Upgrade Headwater"):
            Store(durable_url, create=create)
    set_version(HEAD)
    with Store(durable_url) as store:
        assert (row_counts(store)["event"], store.verify()[0]) == (1, 1)


def test_a_newer_store_is_not_upgraded(durable_url: str, set_version: SetVersion) -> None:
    set_version("9999")
    database = Database(durable_url)
    with refused(StoreTooNew, "9999"):
        upgrade(database)
    database.close()


def test_an_older_store_names_the_upgrade_command(
    durable_url: str, set_version: SetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrading, "REVISIONS", ("0000", HEAD))
    set_version("0000")
    for create in (True, False):
        with refused(StoreOutdated, "0000", HEAD, "headwater db upgrade"):
            Store(durable_url, create=create)


def test_upgrading_a_current_store_does_nothing(durable_url: str, set_version: SetVersion) -> None:
    set_version(HEAD)
    database = Database(durable_url)
    assert upgrade(database) == (HEAD, HEAD)
    database.close()
    with Store(durable_url) as store:
        assert row_counts(store)["event"] == 1
