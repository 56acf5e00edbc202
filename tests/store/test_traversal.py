"""The extent of a walk: depth, the cap, cycles and diamonds."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.model.answers import Direction
from headwater.store.store import Store
from tests.store.short_answers import depths, names
from tests.support.events import chain, column_lineage, read_in_part, run_event, used, written_in_part


def link(store: Store, *pairs: str) -> None:
    """`ab` is a run that read a and wrote b."""
    store.ingest_many(
        run_event(run=pair, job=pair, inputs=[pair[0]], outputs=[pair[1]], minute=i) for i, pair in enumerate(pairs)
    )


def test_depth_is_the_number_of_hops(store: Store) -> None:
    link(store, "ab", "bc", "cd")
    assert depths(store.upstream("d")) == {"c": 1, "b": 2, "a": 3}
    assert depths(store.downstream("a")) == {"b": 1, "c": 2, "d": 3}


def test_a_limiting_depth_is_reported_as_truncated(store: Store) -> None:
    link(store, "ab", "bc", "cd")
    cut = store.upstream("d", depth=2)
    assert (names(cut), cut.truncated, cut.max_depth) == (["c", "b"], True, 2)
    whole = store.upstream("d", depth=3)
    assert (names(whole), whole.truncated) == (["c", "b", "a"], False)


def test_the_cap_of_one_hundred_on_a_chain_of_120(store: Store) -> None:
    store.ingest_many(chain(120))
    answer = store.upstream("step-120")
    assert (len(answer.nodes), answer.truncated, answer.max_depth) == (100, True, 100)
    assert (answer.nodes[-1].endpoint.name, answer.nodes[-1].depth) == ("step-20", 100)
    assert len(answer.nodes[-1].path) == 100
    down = store.downstream("step-0", depth=500)
    assert (len(down.nodes), down.truncated, down.max_depth) == (100, True, 100)
    assert len(store.impact("step-0").affected) == 100
    assert store.impact("step-0").truncated


def test_a_chain_of_exactly_one_hundred_is_complete(store: Store) -> None:
    store.ingest_many(chain(100))
    answer = store.upstream("step-100")
    assert (len(answer.nodes), answer.truncated) == (100, False)


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_one_is_refused(store: Store, depth: int) -> None:
    link(store, "ab")
    with pytest.raises(QueryError, match=f"The depth must be 1 or more, not {depth}"):
        store.upstream("b", depth=depth)


def test_a_column_and_a_partition_at_once_are_refused(store: Store) -> None:
    link(store, "ab")
    with pytest.raises(QueryError, match="a column or for a partition"):
        store.upstream("b", column="c", partition="p")


@pytest.mark.parametrize("direction", list(Direction))
def test_a_self_loop_ends(store: Store, direction: Direction) -> None:
    link(store, "ab", "bb", "bc")
    answer = store.upstream("b") if direction is Direction.UPSTREAM else store.downstream("b")
    assert (names(answer), answer.in_cycle) == (["a"] if direction is Direction.UPSTREAM else ["c"], True)


@pytest.mark.parametrize("direction", list(Direction))
def test_a_cycle_of_two_ends(store: Store, direction: Direction) -> None:
    link(store, "ab", "ba")
    answer = store.upstream("a") if direction is Direction.UPSTREAM else store.downstream("a")
    assert (names(answer), answer.in_cycle, answer.truncated) == (["b"], True, False)


def test_a_cycle_on_the_path_is_not_a_cycle_of_the_start(store: Store) -> None:
    link(store, "ab", "ba", "bc")
    answer = store.upstream("c")
    assert (depths(answer), answer.in_cycle) == ({"b": 1, "a": 2}, False)


def test_a_cycle_at_the_depth_limit_is_detected(store: Store) -> None:
    link(store, "ab", "ba")
    answer = store.downstream("a", depth=1)
    assert (names(answer), answer.in_cycle, answer.truncated) == (["b"], True, False)


def test_a_column_self_loop_ends(store: Store) -> None:
    said = column_lineage({"c": [("t", "c"), ("a", "c")]})
    store.ingest(run_event(inputs=["t", "a"], outputs=[used("t", facets={"columnLineage": said})]))
    answer = store.upstream("t", column="c")
    assert (names(answer), answer.in_cycle) == (["a#c"], True)


def test_a_partition_cycle_ends(store: Store) -> None:
    """Today's partition is made of yesterday's: no cycle. Rewriting a partition from itself is one."""
    store.ingest(run_event(run="1", inputs=[read_in_part("t", "p1")], outputs=[written_in_part("t", "p2")], minute=1))
    answer = store.upstream("t", partition="p2")
    assert (names(answer), answer.in_cycle) == (["t@p1"], False)
    store.ingest(run_event(run="2", inputs=[read_in_part("t", "p1")], outputs=[written_in_part("t", "p1")], minute=2))
    answer = store.upstream("t", partition="p1")
    assert (names(answer), answer.in_cycle) == ([], True)


def test_a_diamond_has_each_node_once(store: Store) -> None:
    link(store, "ab", "ac", "bd", "cd", "de")
    answer = store.upstream("e")
    assert names(answer) == ["d", "b", "c", "a"]
    assert depths(answer) == {"d": 1, "b": 2, "c": 2, "a": 3}


def test_the_shortest_path_gives_the_depth(store: Store) -> None:
    link(store, "ab", "bc", "cd", "ad")
    assert depths(store.upstream("d")) == {"a": 1, "c": 1, "b": 2}


def test_diamonds_in_a_row_do_not_multiply(store: Store) -> None:
    """Thirty diamonds have a billion paths and ninety nodes."""
    events = []
    for i in range(30):
        for side in "lr":
            events.append(run_event(run=f"o{i}{side}", job=f"o{i}{side}", inputs=[f"n{i}"], outputs=[f"{side}{i}"]))
            events.append(run_event(run=f"i{i}{side}", job=f"i{i}{side}", inputs=[f"{side}{i}"], outputs=[f"n{i + 1}"]))
    store.ingest_many(events)
    answer = store.upstream("n30")
    assert len(answer.nodes) == 90
    assert answer.nodes[-1].endpoint.name == "n0"
    assert answer.nodes[-1].depth == 60


def test_nodes_come_nearest_first_then_by_name(store: Store) -> None:
    link(store, "cx", "ax", "bx", "za", "yb")
    assert names(store.upstream("x")) == ["a", "b", "c", "y", "z"]


def test_a_path_runs_along_edges(store: Store) -> None:
    link(store, "ab", "bc", "cd", "ad")
    for node in store.upstream("d").nodes:
        assert [step.depth for step in node.path] == list(range(1, node.depth + 1))
        assert node.path[-1] is node
    by_name = {node.endpoint.name: node for node in store.upstream("d").nodes}
    assert [step.endpoint.name for step in by_name["b"].path] == ["c", "b"]


def test_a_dataset_without_edges_has_an_empty_answer(store: Store) -> None:
    store.ingest(run_event(inputs=["alone"]))
    answer = store.upstream("alone")
    assert (answer.nodes, answer.truncated, answer.in_cycle) == ((), False, False)
