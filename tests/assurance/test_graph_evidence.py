"""`verify` names any change of a table that events are folded into: flipped, deleted, inserted, exchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from headwater.errors import EvidenceBroken
from headwater.store.fold import refold
from headwater.store.fold.named_rows import LEFT_OUT
from headwater.store.log.verify_graph import COMPARED
from headwater.store.schema.tables import metadata
from headwater.store.store import Store
from tests.assurance.test_every_byte import flipped, raw, size_of
from tests.support.events import column_lineage, dataset_event, job_event, run_event, used

LINKS = {"identifiers": [{"namespace": "catalog", "name": "daily", "type": "TABLE"}]}
TABLES = [table.name for table in COMPARED]


def fill(store: Store) -> None:
    """Fills every table and column of the graph."""
    facets = {
        "schema": {"fields": [{"name": "id", "type": "long"}]},
        "ownership": {"owners": [{"name": "team"}]},
        "symlinks": LINKS,
        "version": {"datasetVersion": "7"},
        "columnLineage": column_lineage({"id": [("orders", "id", "DIRECT", "IDENTITY")]}),
    }
    parent = {
        "parent": {"run": {"runId": "p"}, "job": {"namespace": "s", "name": "p"}},
        "nominalTime": {"nominalStartTime": "2026-11-15T06:00:00Z", "nominalEndTime": "2026-11-15T07:00:00Z"},
    }
    store.ingest_many(
        [
            run_event("START", run="one", inputs=["orders"], run_facets=parent),
            run_event("COMPLETE", run="one", minute=1, inputs=["orders", "rates"],
                      outputs=[used("daily", facets=facets)], job_facets={"ownership": {"owners": [{"name": "them"}]}}),
            run_event("COMPLETE", run="two", minute=2, inputs=["orders"], outputs=[used("daily", facets=facets)]),
            job_event(job="declared", inputs=["daily"], outputs=["weekly"], minute=3),
            dataset_event(used("rates", facets={"schema": {"fields": [{"name": "rate", "type": "double"}]}}), minute=4),
            run_event("COMPLETE", run="three", job="other", minute=5, inputs=["daily"], outputs=["weekly", "monthly"]),
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> Iterator[Store]:
    """One for all tests: each restores it."""
    with Store("memory://") as store:
        fill(store)
        yield store


def rows(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    keys = ", ".join(column.name for column in metadata.tables[table].primary_key)
    return connection.execute(f"SELECT * FROM {table} ORDER BY {keys}").fetchall()


def put(connection: sqlite3.Connection, table: str, values: list[tuple[Any, ...]]) -> None:
    connection.execute(f"DELETE FROM {table}")
    marks = ", ".join("?" * len(metadata.tables[table].c))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def assert_detected(store: Store, table: str, values: list[tuple[Any, ...]]) -> None:
    """With these rows in place of the table's rows, `verify` fails, whichever table it names. Rows that the database
    refuses are skipped."""
    connection = raw(store)
    before = rows(connection, table)
    try:
        put(connection, table, values)
        with pytest.raises(EvidenceBroken) as found:
            store.verify()
        assert str(found.value).isprintable()
    except sqlite3.IntegrityError:
        pass
    finally:
        put(connection, table, before)


def test_the_graph_verifies(graph: Store) -> None:
    found = graph.verify()
    assert found.graph == sum(len(rows(raw(graph), table)) for table in TABLES)
    assert graph.verify(graph=False).graph is None
    assert graph.verify(events=False).graph is None
    for table in [*TABLES, "label", "content"]:
        assert rows(raw(graph), table), table


@pytest.mark.parametrize("table", [*TABLES, "label", "content"])
def test_a_changed_value_is_detected(graph: Store, table: str) -> None:
    before = rows(raw(graph), table)
    for place, column in enumerate(metadata.tables[table].c.keys()):
        if column == "contested" or (column == "id" and table in ("edge", "column_edge", "lineage")):
            continue  # a hint, below; and ids that nothing refers to
        chosen = [row for row in before if row[place] is not None] or before
        for row in dict.fromkeys((chosen[0], chosen[-1])):
            value = flipped(row[place], 0, 0) if size_of(row[place]) else (1 if row[place] is None else "x")
            if isinstance(value, bytes) and isinstance(row[place], str):
                value = value.decode()
            assert_detected(
                graph, table, [(*one[:place], value, *one[place + 1 :]) if one is row else one for one in before]
            )
    graph.verify()


@pytest.mark.parametrize("table", TABLES)
def test_a_deleted_row_is_detected(graph: Store, table: str) -> None:
    before = rows(raw(graph), table)
    for row in (before[0], before[-1]):
        assert_detected(graph, table, [one for one in before if one is not row])


@pytest.mark.parametrize("table", ["lineage", "edge", "column_edge", "version"])
def test_an_inserted_row_is_detected(graph: Store, table: str) -> None:
    before = rows(raw(graph), table)
    for row in (before[0], before[-1]):
        assert_detected(graph, table, [*before, (10_000, *row[1:])])


@pytest.mark.parametrize("table", TABLES)
def test_exchanged_values_are_detected(graph: Store, table: str) -> None:
    before = rows(raw(graph), table)
    known = {column.name for column in metadata.tables[table].primary_key}
    for place, column in enumerate(metadata.tables[table].c.keys()):
        first, other = before[0], next((row for row in reversed(before) if row[place] != before[0][place]), None)
        if other is None or column in known or column == "contested":
            continue
        new = {first: other[place], other: first[place]}
        assert_detected(graph, table, [(*row[:place], new.get(row, row[place]), *row[place + 1 :]) for row in before])
    graph.verify()


def test_the_culprit_is_named(graph: Store) -> None:
    connection = raw(graph)
    before = rows(connection, "edge")
    connection.execute("UPDATE edge SET basis = 'guess' WHERE id = 1")
    with pytest.raises(EvidenceBroken) as found:
        graph.verify()
    assert found.value.what == "The table edge"
    assert "upstream warehouse/orders, downstream warehouse/daily" in found.value.reason
    assert "has the basis 'guess', by the events it is '" in found.value.reason
    connection.execute("DELETE FROM edge WHERE id = 1")
    with pytest.raises(EvidenceBroken, match=r"is missing$"):
        graph.verify()
    put(connection, "edge", [*before, (99, *before[0][1:5], *before[0][5:7], "x", 1, 2)])
    with pytest.raises(EvidenceBroken, match=r"does not follow from the events$"):
        graph.verify()
    put(connection, "edge", before)


def test_a_missing_mark_is_detected(graph: Store) -> None:
    connection = raw(graph)
    graph.ingest(run_event("COMPLETE", run="four", minute=9, inputs=[used("rates", facets={})], outputs=["rivals"]))
    graph.ingest(
        dataset_event(
            used(
                "rivals",
                facets={"symlinks": {"identifiers": [{"namespace": "catalog", "name": "daily", "type": "TABLE"}]}},
            ),
            minute=10,
        )
    )
    graph.verify()
    marked = connection.execute("SELECT id FROM dataset WHERE contested = 1").fetchall()
    assert marked
    connection.execute("UPDATE dataset SET contested = 0")
    with pytest.raises(EvidenceBroken, match="its contested is not set"):
        graph.verify()
    for number in marked:
        connection.execute("UPDATE dataset SET contested = 1 WHERE id = ?", number)
    graph.verify()


def test_every_table_is_covered_or_named_as_not_covered() -> None:
    """A new table must be added to one of the two."""
    log = {"audit", "log_tile", "checkpoint", "certificate", "event"}
    checked_alone = {"label", "content", "graph_limit"}
    not_covered = {"exchange_secret", "access_key", "access_session", "capture_key"}
    records = {name for name in metadata.tables if name.startswith("record_")}
    assert set(metadata.tables) == {*log, *checked_alone, *not_covered, *records, *TABLES}
    assert set(LEFT_OUT) <= set(TABLES)


def test_in_a_separate_process_and_on_postgresql(durable_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refold, "_WORTH_A_PROCESS", 1)
    with Store(durable_url) as store:
        fill(store)
        told = []
        found = store.verify(progress=lambda part, done, total: told.append((part, done, total)))
        assert found.graph
        assert told[-1] == ("events folded again", found.events, found.events)
        for damage in (
            "UPDATE content SET body = '[]' WHERE digest = (SELECT upstream_digest FROM version WHERE id = 1)",
            "UPDATE event SET dataset_id = 1 WHERE id = 1",
            "UPDATE edge SET basis = 'guess' WHERE id = 1",
            "UPDATE run SET state = 'FAIL' WHERE id = 1",
        ):
            with store._database.write() as conn:
                name = damage.split()[1]
                conn.execute(text(f"CREATE TABLE aside AS SELECT * FROM {name}"))
                conn.execute(text(damage))
            with pytest.raises(EvidenceBroken):
                store.verify()
            with store._database.write() as conn:
                changed = {"content": "body", "event": "dataset_id", "edge": "basis", "run": "state"}[name]
                key = "digest" if name == "content" else "id"
                conn.execute(
                    text(
                        f"UPDATE {name} SET {changed} = (SELECT {changed} FROM aside WHERE aside.{key} = {name}.{key})"
                    )
                )
                conn.execute(text("DROP TABLE aside"))
        store.verify()
