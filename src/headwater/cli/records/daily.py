"""The daily compaction of a worker, in a process of its own, because Spark is large and may fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from headwater.cli.failures import CliError
from headwater.cli.text import count_of


def compact_day(store: str, archive: str | None) -> str:
    """Run the compaction; returns a line for the log."""
    env = {**os.environ, "HEADWATER_STORE": store}  # not an argument: it may hold a password
    command = [sys.executable, "-m", "headwater", "records", "compact", "--json"]
    if archive is not None:
        command += ["--archive", archive]
    process = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        errors = process.stderr.strip().splitlines() or ["it ended without a message"]
        raise CliError(f"{errors[-1].removeprefix('Error: ')} Records stay hot until they are archived.")
    answer = json.loads(process.stdout)
    archived, expired = count_of(answer["archived"], "record"), count_of(answer["expired"], "hot record")
    return f"Compacted: {archived} archived, {count_of(answer['traces'], 'trace')}; {expired} expired."
