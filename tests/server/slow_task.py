"""A task for tests: `python -m tests.server.slow_task FOLDER` works in small steps."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from headwater.errors import RowsError
from headwater.server.app.problems import problem_of
from headwater.server.tasks.tasks import read_json, write_json


def main(folder: Path) -> None:
    asked = read_json(folder / "input.json")["input"]
    if "refuse" in asked:
        problem = problem_of(RowsError(asked["refuse"]))
        write_json(folder / "problem.json", {"code": problem.code, "detail": problem.detail})
        return
    if "die" in asked:
        raise RuntimeError("secret")
    for step in range(5):
        write_json(folder / "progress.json", {"text": "working", "done": step, "total": 5})
        time.sleep(asked.get("seconds", 0) / 5)
    write_json(folder / "result.json", {"answer": asked.get("answer")})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
