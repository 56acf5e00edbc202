"""The whole store recomputed, as a process of its own: `python -m headwater.server.tasks.verify_task FOLDER`.

It reads everything there is, which takes the interpreter for minutes; a server has others to answer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater.server.tasks.tasks import STORE_VARIABLE, read_json, write_json, write_problem, write_progress

KIND = "log.verify"


def main(folder: Path) -> int:
    asked: dict[str, Any] = read_json(folder / "asked.json")["asked"]
    told = _ProgressReport(folder)
    try:
        answer = _verify(told, asked)
    except HeadwaterError as error:  # what does not hold is one, and names the first thing
        write_problem(folder, error)
        return 1
    write_json(folder / "result.json", answer)
    return 0


def _verify(told: _ProgressReport, parts: dict[str, bool]) -> dict[str, Any]:
    from headwater.client import Lineage

    with Lineage(os.environ[STORE_VARIABLE], create=False) as store:
        found = store.verify(progress=told, events=parts["events"], graph=parts["graph"], records=parts["records"])
        return {"holds": True, **found._asdict()}


class _ProgressReport:
    """One part after the other, each counted up to its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        write_progress(folder, "Opening the store")

    def __call__(self, part: str, done: int, total: int) -> None:
        write_progress(self._folder, f"{done:,} of {total:,} {part}", done, total)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
