"""Runs the tests: `./dev test` calls this in the project's environment.

Without paths, or with several, the tests run in three worker processes: on two cores the third has work while the
others wait for a JVM, a database or a browser. A single file runs in this process, where --pdb and -s work.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.harness.changes import affected_tests
from tests.harness.java import java_options

ROOT = Path(__file__).parents[2]
WORKERS = 3
WORKERS_ON_SPARK = 2  # where every worker has a Spark of its own
MEMORY_FOLDER = Path("/dev/shm")
MEMORY_NEEDED = 6 << 30  # bytes that must be free there
BUSY_PROCESSES = 4
STRESS_REPETITIONS = 20


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="./dev test", allow_abbrev=False, description="Other arguments go to pytest.")
    parser.add_argument("--quick", action="store_true", help="no Spark, no browser, no PostgreSQL, nothing slow")
    parser.add_argument("--all", action="store_true", help="with the long oracles")
    parser.add_argument("--changed", action="store_true", help="only tests that the changes since HEAD can reach")
    parser.add_argument("--stress", metavar="TEST", help="repeat one test, with four busy processes beside it")
    parser.add_argument("--only-spark", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_known_args(arguments)


def main(arguments: list[str]) -> int:
    options, rest = parse(arguments)
    markers = [name for name, wanted in (("spark", options.only_spark), ("not long", not options.all)) if wanted]
    command = ["-m", " and ".join(markers)] if markers else []
    if options.quick:
        command.append("--quick")
    if options.stress:
        with busy_processes():
            repeated = [f"--repeat={STRESS_REPETITIONS}", f"--only={options.stress}", options.stress.split("[")[0]]
            return run_pytest([*command, *repeated, *rest])
    if options.changed:
        reached = affected_tests(ROOT)
        if not reached:
            print("No test can be reached from what has changed since HEAD.")
            return 0
        print(f"{len(reached)} files of tests can be reached from what has changed since HEAD.", flush=True)
        rest += reached
    paths = [argument for argument in rest if (ROOT / argument.split("::")[0]).exists()]
    alone = len(paths) == 1 and paths[0].split("::")[0].endswith(".py")
    if not alone and not any(argument.startswith("-n") for argument in rest):
        workers = WORKERS_ON_SPARK if options.only_spark else WORKERS
        command += ["-n", str(workers), "--dist", "loadgroup", "--no-loadscope-reorder"]
    return run_pytest([*command, *rest])


def run_pytest(arguments: list[str]) -> int:
    """Temporary files of tests are kept in memory where possible: fsync takes most of the time of small commits."""
    with temporary_folder() as folder:
        environment = {**os.environ, "TMPDIR": str(folder)}
        if "JAVA_HOME" in environment and "--quick" not in arguments:
            environment["SPARK_SUBMIT_OPTS"] = java_options()
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False
        ).returncode


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    in_memory = MEMORY_FOLDER.is_dir() and os.access(MEMORY_FOLDER, os.W_OK)
    if in_memory:
        in_memory = shutil.disk_usage(MEMORY_FOLDER).free >= MEMORY_NEEDED
    folder = Path(tempfile.mkdtemp(prefix="headwater-tests-", dir=MEMORY_FOLDER if in_memory else None))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user in a folder below
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def busy_processes() -> Iterator[None]:
    """Creates load, for a test that must not depend on time."""
    with contextlib.ExitStack() as stack:
        for _ in range(BUSY_PROCESSES):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
