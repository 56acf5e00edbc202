"""The schema: created by migrations, completely or not at all, the same on both databases and in the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import inspect, select, text

from headwater.store.engine.database import Database
from headwater.store.schema import migrations
from headwater.store.schema.migrations import HEAD, REVISIONS, VERSION_TABLE
from headwater.store.schema.tables import metadata
from headwater.store.schema.upgrade import upgrade
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.store.short_answers import row_counts

if TYPE_CHECKING:  # not imported by every run that collects this file
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory


def scripts() -> ScriptDirectory:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return ScriptDirectory.from_config(config)


def test_the_revisions_are_those_in_the_folder() -> None:
    newest_first = [script.revision for script in scripts().walk_revisions()]
    assert tuple(reversed(newest_first)) == REVISIONS
    assert scripts().get_heads() == [HEAD]
    assert REVISIONS[-1] == HEAD


def test_the_migrated_schema_is_the_one_in_the_code(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"compare_type": True, "compare_server_default": True, "version_table": VERSION_TABLE}
    with store._database.read() as conn:
        context = MigrationContext.configure(conn, opts=options)
        assert compare_metadata(context, metadata) == []


def test_the_schema_in_detail(store: Store) -> None:
    """Columns with their order and nullability, primary keys, indexes and foreign keys."""
    with store._database.read() as conn:
        found = inspect(conn)
        assert set(found.get_table_names()) == {*metadata.tables, VERSION_TABLE}
        for name, table in metadata.tables.items():
            columns = [(c["name"], c["nullable"]) for c in found.get_columns(name)]
            assert columns == [(c.name, bool(c.nullable)) for c in table.c], name
            assert found.get_pk_constraint(name)["constrained_columns"] == [c.name for c in table.primary_key], name
            unique = {i["name"] for i in found.get_unique_constraints(name)}
            indexes = {i["name"]: i["column_names"] for i in found.get_indexes(name) if i["name"] not in unique}
            assert indexes == {i.name: [c.name for c in i.columns] for i in table.indexes}, name
            keys = {(k["constrained_columns"][0], k["referred_table"]) for k in found.get_foreign_keys(name)}
            assert keys == {(k.parent.name, k.column.table.name) for k in table.foreign_keys}, name


def test_no_name_is_too_long_for_postgresql() -> None:
    """It would truncate the name silently."""
    names = [str(index.name) for table in metadata.tables.values() for index in table.indexes]
    names += [str(constraint.name) for table in metadata.tables.values() for constraint in table.constraints]
    assert len(names) > 40
    assert [name for name in names if len(name) > 63 or name == "None"] == []


def test_the_version_is_recorded(empty_url: str) -> None:
    database = Database(empty_url)
    assert upgrade(database) == (None, HEAD)
    with database.read() as conn:
        assert conn.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == [HEAD]
    database.close()


@pytest.mark.parametrize("at", ["at the beginning", "in the middle", "at the end"])
def test_a_migration_that_fails_leaves_nothing(empty_url: str, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction: tables, triggers and the record of the version are committed together or not at all."""
    from alembic.operations import Operations

    real = Operations.create_table
    tables = ["audit", "run", "lineage"]
    failing = tables[["at the beginning", "in the middle", "at the end"].index(at)]

    def create_table(self: Operations, name: str, *args: object, **kwargs: object) -> object:
        made = real(self, name, *args, **kwargs)  # type: ignore[arg-type]
        if name == failing:
            raise RuntimeError("injected")
        return made

    monkeypatch.setattr(Operations, "create_table", create_table)
    with pytest.raises(RuntimeError, match="injected"):
        Store(empty_url)
    database = Database(empty_url)
    with database.read() as conn:
        assert inspect(conn).get_table_names() == []
        functions = "SELECT count(*) FROM pg_proc WHERE proname LIKE 'audit%'"
        objects = "SELECT count(*) FROM sqlite_master" if database.is_sqlite else functions
        assert conn.execute(text(objects)).scalar() == 0
    database.close()
    monkeypatch.undo()
    with Store(empty_url) as store:
        assert set(row_counts(store).values()) == {0}


@pytest.mark.parametrize("count", [3, pytest.param(8, marks=pytest.mark.long)])
def test_several_processes_open_an_empty_database_at_once(empty_url: str, count: int) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "tests.store.writers", "open", empty_url, str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout == '"opened"\n' * count
    database = Database(empty_url, create=False)
    with database.read() as conn:
        assert conn.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == [HEAD]
        assert set(inspect(conn).get_table_names()) == {*metadata.tables, VERSION_TABLE}
        assert conn.execute(select(metadata.tables["audit"])).all() == []
    database.close()


def test_opening_a_store_that_is_up_to_date_does_not_import_alembic(sqlite_url: str) -> None:
    """It would cost every command a third of a second."""
    Store(sqlite_url).close()
    script = (
        "import sys; from headwater.store.store import Store\n"
        "Store(sys.argv[1]).close(); print('alembic' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", script, sqlite_url], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
