"""The day's compaction, as a worker has it done: by a process of its own, because Spark is large and may fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from headwater.cli.failures import Mistake
from headwater.cli.text import counted


def compact_day(store: str, archive: str | None) -> str:
    """One line on what was done."""
    env = {**os.environ, "HEADWATER_STORE": store}  # not an argument: it may hold a password
    command = [sys.executable, "-m", "headwater", "records", "compact", "--json"]
    if archive is not None:
        command += ["--archive", archive]
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        raise Mistake(f"{said[-1].removeprefix('Error: ')} Records stay hot until they are archived.")
    answer = json.loads(done.stdout)
    archived, expired = counted(answer["archived"], "record"), counted(answer["expired"], "hot record")
    return f"Compacted: {archived} archived, {counted(answer['traces'], 'trace')}; {expired} expired."
