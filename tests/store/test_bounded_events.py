"""The rows that one event adds to the graph are bounded, also with stated lineage; the answers stay sound."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import func, select

from headwater.errors import EventRefused, UnknownPartition
from headwater.formats.openlineage.event import MAX_ALIASES, read_event
from headwater.store.fold.writes import MAX_PARTITION_ROWS
from headwater.store.schema.tables import lineage, version
from headwater.store.store import Store
from tests.store.short_answers import names
from tests.support.events import (
    Json,
    column_lineage,
    dataset_event,
    job_event,
    read_in_part,
    run_event,
    symlinks,
    used,
    written_in_part,
)

UPSTREAMS, PARTITIONS = 600, 600
SOURCES = [f"s{number:03}" for number in range(UPSTREAMS)]


def stated(*sources: str) -> Json:
    return column_lineage({"id": [(source, "id", "DIRECT", "IDENTITY") for source in sources]})


def wide(name: str, partitions: int, *sources: str) -> Json:
    parts = [f"p{number}" for number in range(partitions)]
    return written_in_part(name, *parts, columnLineage=stated(*sources))


def rows(store: Store) -> int:
    with store._database.read() as conn:
        return sum(conn.execute(select(func.count()).select_from(table)).scalar_one() for table in (version, lineage))


@pytest.mark.parametrize("kind", ["run", "job", "dataset"])
def test_stated_upstreams_by_partitions_are_bounded(durable_url: str, kind: str) -> None:
    """600 upstreams and 600 partitions in 0.1 MB would be 360,000 rows of lineage."""
    target = wide("x", PARTITIONS, *SOURCES)
    event = {
        "run": lambda: run_event(inputs=SOURCES, outputs=[target]),
        "job": lambda: job_event(inputs=SOURCES, outputs=[target]),
        "dataset": lambda: dataset_event(target),
    }[kind]()
    with Store(durable_url) as store:
        store.ingest(event)
        assert rows(store) <= MAX_PARTITION_ROWS
        assert names(store.upstream("x")) == SOURCES
        assert names(store.downstream("s007")) == ["x"]
        assert names(store.upstream("x", "id")) == [f"{source}#id" for source in SOURCES]
        store.verify()


def test_only_the_largest_counts_as_whole(store: Store) -> None:
    """The other output keeps its partitions, and so do all outputs of a run below the limit."""
    small = wide("small", 3, "s001", "s002")
    store.ingest(run_event(run="one", inputs=SOURCES, outputs=[wide("x", PARTITIONS, *SOURCES), small]))
    run = store.run(store.runs()[0].run_id)
    assert {edge.partition for edge in run.edges if edge.downstream.name == "small"} == {"p0", "p1", "p2"}
    assert {edge.partition for edge in run.edges if edge.downstream.name == "x"} == {None}
    below = MAX_PARTITION_ROWS // PARTITIONS - 1
    store.ingest(run_event(run="two", job="other", minute=1, outputs=[wide("y", PARTITIONS, *SOURCES[:below])]))
    assert names(store.upstream("y", partition="p7")) == SOURCES[:below]
    with store._database.read() as conn:
        written = select(func.count()).select_from(version).where(version.c.partition_id.is_not(None))
        assert conn.execute(written).scalar_one() == 3 + PARTITIONS


def test_a_partition_has_the_upstreams_of_its_whole_dataset(store: Store) -> None:
    """The partition of the wide run is not recorded, but the edges of the whole dataset apply to each partition."""
    store.ingest(run_event(run="one", job="small", inputs=["a"], outputs=[written_in_part("x", "p0")]))
    store.ingest(run_event(run="two", minute=1, inputs=SOURCES, outputs=[wide("x", PARTITIONS, *SOURCES)]))
    assert set(names(store.upstream("x", partition="p0"))) == {"a", *SOURCES}
    with pytest.raises(UnknownPartition, match="Partition 'p1' is not in warehouse/x"):
        store.upstream("x", partition="p1")


def test_partitions_of_inputs_are_recorded_for_a_whole_output(store: Store) -> None:
    read = [read_in_part(source, "q1", "q2") for source in SOURCES]
    store.ingest(run_event(inputs=read, outputs=[wide("x", PARTITIONS, *SOURCES)]))
    run = store.run(store.runs()[0].run_id)
    assert {(edge.partition, edge.upstream_partition) for edge in run.edges} == {(None, "q1"), (None, "q2")}
    assert rows(store) == 1 + 2 * UPSTREAMS


def test_others_write_between_the_batches_of_a_stream(durable_url: str) -> None:
    """Each batch is a transaction: while the next one is read, the lock is free, and stored events are visible."""
    events = [run_event(run=str(number), inputs=["a"], outputs=["b"], minute=number) for number in range(6)]
    with Store(durable_url) as store, Store(durable_url) as other:

        def portions() -> Iterator[list[Json]]:
            yield events[:3]
            assert len(other.runs()) == 3
            other.ingest(run_event(run="other", inputs=["a"], outputs=["c"]))
            yield events[3:]

        assert store.take_stream(portions()) == (6, 0)
        assert len(store.runs()) == 7
        assert names(store.downstream("a")) == ["b", "c"]
        store.verify()


def test_a_stream_that_was_interrupted_is_completed_by_taking_it_again(durable_url: str) -> None:
    events = [run_event(run=str(number), inputs=["a"], outputs=["b"], minute=number) for number in range(6)]

    def interrupted() -> Iterator[list[Json]]:
        yield events[:4]
        raise KeyboardInterrupt

    with Store(durable_url) as store:
        with pytest.raises(KeyboardInterrupt):
            store.take_stream(interrupted())
        assert len(store.runs()) == 4
        store.verify()
        assert store.take_stream([events[:3], events[3:]]) == (2, 4)
        assert len(store.runs()) == 6
        store.verify()


@pytest.mark.parametrize("number", [MAX_ALIASES, MAX_ALIASES + 1])
def test_an_event_with_too_many_names_of_datasets_is_refused(number: int) -> None:
    """All datasets of the event are counted together."""
    half = [f"one-{place}" for place in range(number // 2)]
    rest = [f"two-{place}" for place in range(number - number // 2)]
    event = run_event(
        inputs=[used("a", facets={"symlinks": symlinks(*half)})],
        outputs=[used("b", facets={"symlinks": symlinks(*rest)})],
    )
    if number <= MAX_ALIASES:
        assert len(read_event(event).datasets) == 2
        return
    with pytest.raises(EventRefused, match=r"5,001 aliases of datasets \(symlinks\); one event has at most 5,000"):
        read_event(event)
