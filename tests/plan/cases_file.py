"""The files of cases: a title, a query, the lineage it has.

    == a title
    SELECT sum(amount) AS total FROM orders
    --
    total <- orders.amount AGGREGATION: sum(amount)

A query that begins with ``df =`` is Python. A line of the lineage is ``column <- table.field SUBTYPE: logic``; ``*`` is
the whole of the output, ``column <-`` one that comes from nothing, ``! operator (columns): reason`` a gap.

With HEADWATER_REWRITE_CASES=1 the files are rewritten with what came out, to be read and judged in the difference;
without it they are never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    file: str
    title: str
    query: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"


def read_cases() -> list[Case]:
    cases = []
    for file in sorted(FOLDER.glob("*.txt")):
        for block in file.read_text().split("\n== ")[1:] if file.exists() else ():
            title, rest = block.split("\n", 1)
            query, _, expected = rest.partition("\n--")
            cases.append(Case(file.stem, title.strip(), query.strip(), tuple(expected.strip().splitlines())))
    return cases


def rewrite(file: str, came_out: Mapping[str, list[str]]) -> None:
    """Puts what came out into a file, by title; the rest of it stays."""
    path = FOLDER / f"{file}.txt"
    head = path.read_text().split("\n== ")[0]
    blocks = [head.rstrip("\n")]
    for case in read_cases():
        if case.file == file:
            lines = came_out.get(case.title, list(case.expected))
            blocks.append(f"\n== {case.title}\n{case.query}\n--\n" + "\n".join(lines))
    path.write_text("\n".join(blocks) + "\n")
