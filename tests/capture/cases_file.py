"""The files of cases: a title, a script that writes, and what is told of it.

    == a title
    orders.select("id").write.parquet(f"{here}/out")
    --
    job out: START COMPLETE
    writes out FILE parquet CREATE rows=4 files=1
    reads orders FILE parquet rows=4 files=1
    id direct <- orders#id IDENTITY

A script is Python, or SQL if it begins with a command of SQL: then statements end with ``;`` and `$here` stands for the
case's folder. The lines are explained in `telling.py`. A title may end with `[spark>=4]` or `[spark<4.3]`; what differs
between versions stands in a block of its own, `-- spark<4`, below the usual one.

With HEADWATER_REWRITE_CASES=1 the files are rewritten with what came out, to be read and judged in the difference;
without it they are never touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"
_CONDITION = re.compile(r"spark(>=|<)(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Case:
    file: str
    title: str
    script: str
    expected: dict[str, list[str]]
    """By condition; "" is the usual block."""

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"

    @property
    def is_sql(self) -> bool:
        return re.match(r"[A-Z]{2,} ", self.script) is not None

    @property
    def condition(self) -> str:
        found = re.search(r"\[(spark.*)\]$", self.title)
        return found[1] if found else ""

    def block(self, spark: str) -> str:
        """The condition of the block that holds for this version."""
        return next((text for text in self.expected if text and holds(text, spark)), "")


def holds(condition: str, spark: str) -> bool:
    match = _CONDITION.fullmatch(condition)
    assert match is not None, f"not a condition: {condition}"
    limit = [int(part) for part in match[2].split(".")]
    version = [int(part) for part in spark.split(".")[: len(limit)]]
    return version >= limit if match[1] == ">=" else version < limit


def read_cases(folder: Path = FOLDER) -> list[Case]:
    return [case for file in sorted(folder.glob("*.txt")) for case in _read(file)]


def _read(file: Path) -> list[Case]:
    cases = []
    for block in f"\n{file.read_text()}".split("\n== ")[1:]:
        title, rest = block.split("\n", 1)
        script, *told = re.split(r"^--(.*)$", rest, flags=re.M)
        expected = {
            condition.strip(): lines.strip().splitlines()
            for condition, lines in zip(told[::2], told[1::2], strict=True)
        }
        cases.append(Case(file.stem, title.strip(), script.strip(), expected))
    return cases


def rewrite(case: Case, spark: str, came_out: list[str], folder: Path = FOLDER) -> None:
    """Puts what came out into the case's file; the rest of it stays."""
    path = folder / f"{case.file}.txt"
    blocks = []
    for known in _read(path):
        expected = known.expected or {"": []}
        if known.title == case.title:
            expected = {**expected, known.block(spark): came_out}
        told = "\n".join("\n".join([f"-- {condition}".rstrip(), *lines]) for condition, lines in expected.items())
        blocks.append(f"== {known.title}\n{known.script}\n{told}\n")
    path.write_text("\n".join(blocks))
