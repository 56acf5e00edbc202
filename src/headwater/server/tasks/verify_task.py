"""Verifies the whole store, in a process of its own: `python -m headwater.server.tasks.verify_task FOLDER`.

This takes minutes of processor time, in which the server has to answer other requests.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.server.tasks.tasks import STORE_VARIABLE, read_json, write_json, write_problem, write_progress

KIND = "log.verify"


def main(folder: Path) -> int:
    parts: dict[str, bool] = read_json(folder / "input.json")["input"]
    progress = _ProgressReport(folder)
    try:
        answer = _verify(progress, parts)
    except HeadwaterError as error:  # a failed verification is one, and names the first failure
        write_problem(folder, error)
        return 1
    write_json(folder / "result.json", answer)
    return 0


def _verify(progress: _ProgressReport, parts: dict[str, bool]) -> dict[str, object]:
    from headwater.client import Lineage

    with Lineage(os.environ[STORE_VARIABLE], create=False) as store:
        verified = store.verify(
            progress=progress, events=parts["events"], graph=parts["graph"], records=parts["records"]
        )
        return {"holds": True, **verified._asdict()}


class _ProgressReport:
    """Writes the progress of each part of the verification."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        write_progress(folder, "Opening the store")

    def __call__(self, part: str, done: int, total: int) -> None:
        write_progress(self._folder, f"{done:,} of {total:,} {part}", done, total)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
