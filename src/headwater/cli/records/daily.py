"""The day's compaction, as a worker has it done: by a process of its own, because Spark is large and may fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from headwater.cli.failures import CliError
from headwater.cli.text import count_of


def compact_day(store: str, archive: str | None) -> str:
    """One line on what was done."""
    env = {**os.environ, "HEADWATER_STORE": store}  # not an argument: it may hold a password
    command = [sys.executable, "-m", "headwater", "records", "compact", "--json"]
    if archive is not None:
        command += ["--archive", archive]
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        raise CliError(f"{said[-1].removeprefix('Error: ')} Records stay hot until they are archived.")
    answer = json.loads(done.stdout)
    archived, expired = count_of(answer["archived"], "record"), count_of(answer["expired"], "hot record")
    return f"Compacted: {archived} archived, {count_of(answer['traces'], 'trace')}; {expired} expired."
