"""A confined task for tests: `python -m tests.server.confined_task FOLDER` reports what it has, or exceeds a limit."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from headwater.errors import QueryError
from headwater.server.tasks.confinement import SCRATCH, TaskLimits, limit_this_process, open_channel
from headwater.server.tasks.tasks import read_json, write_json


def main(folder: Path) -> None:
    asked = read_json(folder / "input.json")["input"]
    limit_this_process(TaskLimits(**asked["limits"]))
    if "write" in asked:
        for number in range(asked["write"]):
            (folder / SCRATCH / f"{number}").write_bytes(b"x" * 2**20)
        time.sleep(600)
    if "child" in asked:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (folder / "child").write_text(str(process.pid))
        time.sleep(600)
    history = open_channel()
    print("what Spark prints")  # to stderr: the channel is not spoiled
    sys.stdout.flush()
    found: dict[str, Any] = {
        "environment": dict(os.environ),
        "descriptors": [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")[:-1]],
        "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE)],
        "keys": sorted(history.trusted_capture_keys()),
        "facets": [one.facet for one in history.output_facets("headwater_rows", dataset=asked["dataset"])],
        "run": [str(one.dataset) for one in history.output_facets("headwater_rows", run_id=asked["run"])],
        "downstream": [str(node.endpoint) for node in history.downstream(asked["source"], depth=1).nodes],
    }
    try:
        history.output_facets("headwater_rows", dataset="nowhere")
    except QueryError as error:
        found["unknown"] = [type(error).__name__, str(error)]
    try:
        history._request(ask="delete", everything=True)
    except QueryError as error:
        found["refused"] = str(error)
    try:
        (folder / SCRATCH / "large").write_bytes(b"x" * (asked["limits"]["disk_megabytes"] * 2**20 + 1))
    except OSError as error:
        found["large"] = error.strerror
    write_json(folder / "result.json", found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
