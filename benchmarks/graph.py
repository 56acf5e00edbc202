"""Closures of a DAG of a million edges, beside loading its edges and walking them in memory.

    ./dev bench graph [sqlite postgresql]

The other contestant is rustworkx, a graph library in Rust: it reads the edges from the same database (with the bare
driver, the fastest way there is), builds its graph and collects the ancestors, as bare numbers. Ours is timed twice:
the closure, with the depth of each node and the edge it was reached by, which is what the other one gives and more; and
the whole answer of ``store.upstream``, with names, jobs, runs and paths. Then the same answer in a growing graph.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import rustworkx as rx

from benchmarks.dag import Shape, lay
from benchmarks.harness import console, databases, interleaved, median_ms, show
from headwater.model.answers import Direction, Grain
from headwater.store.access.view import View
from headwater.store.engine.database import Database
from headwater.store.query.traverse import UNLIMITED, Reach, Walk, reach
from headwater.store.schema.tables import OPEN
from headwater.store.store import Store

MILLION = Shape(clusters=20, layers=41, width=250, reads=5)
SMALL = Shape(clusters=1, layers=41, width=25, reads=10)
TARGETS = (10, 1_000, 10_000)
ROUNDS = 7
_EDGES = f"SELECT upstream_id, downstream_id FROM edge WHERE valid_to = {OPEN}"


def load_graph(database: Database) -> rx.PyDiGraph[None, None]:
    with database.read() as conn:
        cursor = conn.connection.cursor()
        cursor.execute(_EDGES)
        edges = cursor.fetchall()
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph()
    graph.extend_from_edge_list(edges)
    return graph


def start_nodes(shape: Shape, graph: rx.PyDiGraph[None, None]) -> dict[int, int]:
    """For each target the dataset of the first cluster whose closure is nearest to it in size."""
    cluster = range(1, shape.layers * shape.width + 1)
    sizes = {node: len(rx.ancestors(graph, node)) for node in cluster[:: max(1, len(cluster) // 400)]}
    sizes |= {node: len(rx.ancestors(graph, node)) for node in (*cluster[: 3 * shape.width], cluster[-1])}
    return {target: min(sizes, key=lambda node: abs(sizes[node] - target)) for target in TARGETS}


def closures(names: Sequence[str]) -> None:
    rows: list[Sequence[object]] = []
    with databases(names) as urls:
        for kind, (url,) in urls.items():
            console.print(f"{kind}: laying {MILLION.nodes:,} datasets …")
            edges = lay(url, MILLION)
            database, store = Database(url), Store(url)
            graph = load_graph(database)
            starts = start_nodes(MILLION, graph).values()
            rows += [[kind, f"{edges:,}", *_compared(database, store, graph, node)] for node in starts]
            store.close()
            database.close()
    columns = (
        "database",
        "edges",
        "closure",
        "closure ms",
        "answer ms",
        "load ms",
        "walk ms",
        "by closure",
        "by answer",
    )
    show(f"upstream closure, median of {ROUNDS}; load + walk in memory over ours", columns, rows)


def _compared(database: Database, store: Store, graph: rx.PyDiGraph[None, None], node: int) -> list[object]:
    name = f"bench/{MILLION.name(node - 1)}"
    walk = Walk(Grain.DATASET, Direction.UPSTREAM)

    def closure() -> Reach:
        with database.read() as conn:
            return reach(View.all(conn), walk, {(node, None)}, UNLIMITED)

    expected = rx.ancestors(graph, node)
    assert {ref[0] for ref in closure().steps} == expected
    assert len(store.upstream(name).nodes) == len(expected)
    times = interleaved(
        {
            "closure": closure,
            "answer": lambda: store.upstream(name),
            "load": lambda: load_graph(database),
            "walk": lambda: rx.ancestors(graph, node),
        },
        ROUNDS,
    )
    closure_ms, answer_ms, load_ms, walk_ms = (median_ms(times[who]) for who in times)
    in_memory = load_ms + walk_ms
    ratios = f"{in_memory / closure_ms:.1f}x", f"{in_memory / answer_ms:.1f}x"
    return [f"{len(expected):,}", closure_ms, answer_ms, load_ms, walk_ms, *ratios]


def growth(names: Sequence[str]) -> None:
    """The sizes take turns too, so that what differs between them is the graph."""
    rows: list[Sequence[object]] = []
    shapes = [Shape(clusters, SMALL.layers, SMALL.width, SMALL.reads) for clusters in (1, 10, 100)]
    for kind in names:
        with databases([kind], copies=len(shapes)) as urls:
            if kind not in urls:
                continue
            edges = [lay(url, shape) for url, shape in zip(urls[kind], shapes, strict=True)]
            stores = [Store(url) for url in urls[kind]]
            name = f"bench/{SMALL.name(SMALL.nodes - 1)}"
            asked = {f"{count:,}": partial(store.upstream, name) for count, store in zip(edges, stores, strict=True)}
            sizes = [len(ask().nodes) for ask in asked.values()]
            medians = [median_ms(times) for times in interleaved(asked, 3 * ROUNDS).values()]
            for count, size, ours in zip(asked, sizes, medians, strict=True):
                rows.append([kind, count, f"{size:,}", ours, f"{ours / medians[0]:.2f}x"])
            for store in stores:
                store.close()
    show("the same answer in a growing graph", ("database", "edges", "closure", "answer ms", "growth"), rows)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["sqlite", "postgresql"]
    closures(wanted)
    growth(wanted)
