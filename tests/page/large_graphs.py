"""Large or unusual graphs for the page: many datasets, many columns, hostile names. Plain events, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tests.support.events import Json, column_lineage, run_event, schema, used

HOSTILE = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "'\"><svg/onload=document.title='owned'>",
    "../../etc/passwd",
    "a" * 10_000,
    "\u202eevil\u202c \u0007bell",
    "%3Cb%3E&amp;&lt;i&gt;",
    "name with spaces\tand\ttabs",
]


def hostile() -> Iterator[Json]:
    """Each name as a dataset, a column and a job; all of them flow into `honest`."""
    for number, name in enumerate(HOSTILE):
        told = used(name, facets={"schema": schema(name.replace(":", ";"))})
        sources = {"total": [(name, name.replace(":", ";"), "DIRECT", "AGGREGATION")]}
        honest = used("honest", facets={"schema": schema("total:double"), "columnLineage": column_lineage(sources)})
        yield run_event(run=f"hostile-{number}", job=name, inputs=[told], outputs=[honest], minute=number)
    yield run_event(
        "FAIL", run="hostile-failed", job=HOSTILE[0], minute=50,
        run_facets={"errorMessage": {"message": HOSTILE[1] * 20, "programmingLanguage": "PYTHON"}},
    )  # fmt: skip


def wide(columns: int = 2_000) -> Iterator[Json]:
    names = [f"column_{number:04}" for number in range(columns)]
    narrow = used("narrow", facets={"schema": schema(*names[:10])})
    lineage = column_lineage(
        {name: [("narrow", names[at % 10], "DIRECT", "IDENTITY")] for at, name in enumerate(names)}
    )
    broad = used("wide", facets={"schema": schema(*names), "columnLineage": lineage})
    yield run_event(run="wide", job="widen", inputs=[narrow], outputs=[broad], minute=60)


def many(datasets: int = 5_000, edges: int = 10_000, namespaces: int = 12) -> Iterator[Json]:
    """A layered graph: every dataset is made of some datasets of the previous layer."""
    reads = max(edges // datasets, 1)
    for number in range(1, datasets):
        sources = {(number * 7919 + step * 104_729) % number for step in range(reads)}
        yield run_event(
            run=f"many-{number}",
            job=f"make-{number}",
            inputs=[used(f"table-{source}", namespace=f"team-{source % namespaces}") for source in sorted(sources)],
            outputs=[used(f"table-{number}", namespace=f"team-{number % namespaces}")],
            minute=100 + number / 100,
        )


def fan(cards: int = 301, columns: int = 3) -> Iterator[Json]:
    """`centre` and its neighbourhood up to three hops: a tree in each direction, column by column from card to card."""
    names = [f"column_{number}" for number in range(columns)]
    up = (cards - 1) // 2
    for side, held in (("up", up), ("down", cards - 1 - up)):
        for number, parent, children in _branches(side, held):
            if side == "up":
                yield _copied(f"{side}-{number}", children, [parent], names)
            else:
                yield _copied(f"{side}-{number}", [parent], children, names)


def _branches(side: str, held: int) -> Iterator[tuple[int, str, list[str]]]:
    """The children of each node: eight, the number that the page shows without a click, and fewer at the third hop."""
    names = iter(f"{side}-{number:03}" for number in range(held))
    level, number = ["centre"], 0
    while level:
        reached: list[str] = []
        for parent in level:
            children = list(islice(names, 8))
            if children:
                yield number, parent, children
            reached += children
            number += 1
        level = reached


def _copied(job: str, sources: list[str], targets: list[str], columns: list[str]) -> Json:
    told = {"schema": schema(*(f"{name}:string" for name in columns))}
    lineage = column_lineage({name: [(source, name, "DIRECT", "IDENTITY") for source in sources] for name in columns})
    return run_event(
        run=job, job=job, minute=200,
        inputs=[used(source, facets=told) for source in sources],
        outputs=[used(target, facets={**told, "columnLineage": lineage}) for target in targets],
    )  # fmt: skip
