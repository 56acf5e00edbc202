"""The whole store recomputed, as a process of its own: `python -m headwater.server.verify_task FOLDER`.

It reads everything there is, which takes the interpreter for minutes; a server has others to answer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater.server.tasks import STORE, read_json, write_json, write_problem, write_progress

KIND = "log.verify"


def main(folder: Path) -> int:
    asked: dict[str, Any] = read_json(folder / "asked.json")["asked"]
    told = _Told(folder)
    try:
        answer = _verify(told, asked["events"])
    except HeadwaterError as error:  # what does not hold is one, and names the first thing
        write_problem(folder, error)
        return 1
    write_json(folder / "result.json", answer)
    return 0


def _verify(told: _Told, events: bool) -> dict[str, Any]:
    from headwater.store.store import Store

    with Store(os.environ[STORE], create=False) as store:
        return {"holds": True, **store.verify(events=events, progress=told)._asdict()}


class _Told:
    """First the entries are counted up to their end, then the events."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._what = "entries of the log"
        write_progress(folder, "Opening the store")

    def __call__(self, done: int, total: int) -> None:
        write_progress(self._folder, f"{done:,} of {total:,} {self._what}", done, total)
        if done >= total:
            self._what = "events"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
