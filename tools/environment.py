"""The set-up: from lock files to an environment to run in."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tools.console import DevError, say, step
from tools.java import find_or_install_java
from tools.page import make_page
from tools.paths import PYPROJECT, ROOT
from tools.pip import install_lock, install_packages, install_project
from tools.processes import Environment, child_environment
from tools.services import install_dbt, install_postgres
from tools.stamps import file_digest, packages_digest, read_stamp, write_stamp
from tools.venv_creation import make_venv
from tools.venvs import MAIN, Venv

if sys.platform != "win32":
    import fcntl

PART_TITLES = {"dbt": "dbt", "java": "Java 17 or 21", "page": "the web page", "postgres": "PostgreSQL"}


def set_up(venv: Venv = MAIN, extras: tuple[Path, ...] = ()) -> None:
    """Bring a venv to what the lock files say; a fraction of a second when it is there already.

    The stamp tells whether it is. It is emptied before the first change and filled after the last, so an
    interrupted set-up never passes for a good one.
    """
    if venv.newest_python is not None and sys.version_info[:2] > venv.newest_python:
        newest, this = (".".join(map(str, version)) for version in (venv.newest_python, sys.version_info[:2]))
        raise DevError(
            f"{venv.name} works with Python {newest} at most, and this is {this}: run ./dev with an older one"
        )
    with only_one_set_up():
        stamp = read_stamp(venv)
        if stamp.get("packages") != packages_digest(venv):
            started = time.monotonic()
            make_venv(venv)
            install_packages(venv)
            stamp = {"packages": packages_digest(venv), "missing": {}}
            write_stamp(venv, stamp)
            say(f"Set up {venv.name} in {time.monotonic() - started:.0f} s.")
        if stamp.get("project") != file_digest(PYPROJECT):
            install_project(venv)
            stamp["project"] = file_digest(PYPROJECT)
            write_stamp(venv, stamp)
        for lock in extras:
            if stamp.get(lock.name) != file_digest(lock):
                with step(f"installing {lock.name} into {venv.name}"):
                    install_lock(venv, lock)
                stamp[lock.name] = file_digest(lock)
                write_stamp(venv, stamp)


def set_up_to_run(
    venv: Venv = MAIN, extras: tuple[Path, ...] = (), retry_missing: bool = False, dbt: bool = False
) -> Environment:
    """The set-up with Java, PostgreSQL and the page, and the environment to run in. What cannot be had is named."""
    set_up(venv, extras)
    with only_one_set_up():
        stamp = read_stamp(venv)
        if retry_missing:
            stamp["missing"] = {}
        java_home = find_or_install_java(venv, stamp)
        install_postgres(venv, stamp)
        if venv is MAIN:
            make_page(stamp)
        if dbt:
            install_dbt(stamp)
        write_stamp(venv, stamp)
    missing: dict[str, str] = stamp["missing"]
    for part, reason in sorted(missing.items()):
        say(f"Not available: {PART_TITLES[part]}. Tests that need it will be reported as not run: {reason}")
    return child_environment(venv, java_home, missing)


@contextlib.contextmanager
def only_one_set_up() -> Iterator[None]:
    """Two terminals may run ./dev at once: the second waits. If we are killed, the kernel frees the lock when
    the pip that we started, which inherits it, has ended too."""
    with (ROOT / "dev").open() as dev:
        if sys.platform != "win32":
            os.set_inheritable(dev.fileno(), True)
            try:
                fcntl.flock(dev, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Waiting for another ./dev to finish its set-up.")
                fcntl.flock(dev, fcntl.LOCK_EX)
        yield
