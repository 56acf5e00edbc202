"""Writes the column `time` of the table of oracles in CONTRIBUTING.md: `python -m tests.harness.oracle_times`.

A time is the sum of the seconds in `seconds.json` of the test files that a row names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.harness.grouping import recorded_seconds

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
HEADER = "| oracle | covers | short run | time | added by `--all` |"
TIME = HEADER.split("|").index(" time ")
TESTS = re.compile(r"`(tests/[^`]*)`")


def oracle_rows(text: str) -> Iterator[str]:
    """The rows of the table, without its header."""
    lines = text.splitlines()
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            return
        yield line


def named_tests(row: str) -> list[str]:
    """Files and folders of tests, as the first cell names them."""
    return TESTS.findall(row.split("|")[1])


def files_named(name: str, root: Path) -> list[str]:
    if name.endswith(".py"):
        return [name]
    return sorted(str(path.relative_to(root)) for path in (root / name).rglob("test_*.py"))


def seconds_of(row: str, recorded: Mapping[str, float], root: Path) -> float:
    files = [file for name in named_tests(row) for file in files_named(name, root)]
    missing = [file for file in files if file not in recorded]
    if missing:
        paths = " ".join(missing)
        raise LookupError(f"seconds.json has no time of {paths}: HEADWATER_RECORD_SECONDS=1 ./dev test {paths}")
    return sum(recorded[file] for file in files)


def with_times(text: str, recorded: Mapping[str, float], root: Path = ROOT) -> str:
    """The page with a time in every row; LookupError for a test file without a recorded one."""
    for row in oracle_rows(text):
        cells = row.split("|")
        cells[TIME] = f" {max(1, round(seconds_of(row, recorded, root)))} s "
        text = text.replace(row, "|".join(cells))
    return text


def main() -> None:
    PAGE.write_text(with_times(PAGE.read_text(), recorded_seconds()["files"]))


if __name__ == "__main__":
    main()
