"""Runs a small Spark job, captures it and queries its lineage, in a process and a temporary folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok
from headwater.doctor.trial_job import SOURCE, STORE, TARGET
from headwater.errors import HeadwaterError, shorten

_CHECK = "trial job"
_REMEDY = "Run HEADWATER_DEBUG=1 headwater doctor --spark to see Spark's output."


def trial(options: DoctorOptions) -> Iterator[Finding]:
    if not options.spark:
        return
    with tempfile.TemporaryDirectory(prefix="headwater-doctor-", ignore_cleanup_errors=True) as folder:
        started = time.monotonic()
        failure = _run(Path(folder), options.patience)
        if failure is not None:
            yield failed(_CHECK, failure, _REMEDY)
            return
        seconds = time.monotonic() - started
        failure = _query_lineage(Path(folder))
    if failure is None:
        yield ok(_CHECK, f"ran on Spark, captured and queried in {seconds:.0f} s")
    else:
        yield failed(_CHECK, failure, _REMEDY)


def _run(folder: Path, patience: float) -> str | None:
    """Run the job; return what went wrong, or None."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "headwater.doctor.trial_job"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Spark's Java is in its group, and must end with it
    )
    try:
        _, stderr = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        _kill(process)
        return f"did not end within {patience:g} s"
    if os.environ.get("HEADWATER_DEBUG", "") not in ("", "0"):
        sys.stderr.write(stderr)
    if process.returncode:
        last = stderr.strip().splitlines()[-1:] or [f"it ended with {process.returncode}"]
        return shorten(last[0])
    return None


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def _query_lineage(folder: Path) -> str | None:
    """Query the lineage of the job; return what is missing, or None."""
    from headwater.store.store import Store

    try:
        with Store(f"sqlite:///{folder / STORE}", create=False) as store:
            written = [dataset.dataset for dataset in store.datasets(TARGET)]
            read = [node.endpoint for dataset in written for node in store.upstream(dataset).nodes]
    except HeadwaterError as error:
        return str(error)
    if any(getattr(endpoint, "name", "").endswith(SOURCE) for endpoint in read):
        return None
    return "it ran, but its lineage was not captured"
