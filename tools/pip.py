"""Installing with pip what a lock file lists, each package with its hash."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tools.console import DevError, step
from tools.locks import LOCK_RECIPES
from tools.paths import BUILD_LOCK, ROOT
from tools.processes import answer_of, run_or_fail
from tools.venvs import Venv

OLDEST_PIP = (22, 3)  # the first with `pip --python`, needed only where venv cannot bring a pip of its own


def base_python() -> str:
    """The Python behind an active venv: the active one may be ours, about to be made anew."""
    return getattr(sys, "_base_executable", None) or sys.executable


def check_pip_of(python: str) -> None:
    version = pip_version(python)
    if version is None:
        raise DevError(f"{python} has neither ensurepip nor pip: install your system's python3-venv or python3-pip")
    if version < OLDEST_PIP:
        raise DevError(
            f"{python} has no ensurepip, and its pip {version[0]}.{version[1]} is older than "
            f"{OLDEST_PIP[0]}.{OLDEST_PIP[1]}: install your system's python3-venv, or a newer pip"
        )


def pip_version(python: str) -> tuple[int, int] | None:
    answer = answer_of([python, "-m", "pip", "--version"])
    version = re.match(r"pip (\d+)\.(\d+)", answer.stdout)
    return None if answer.returncode or version is None else (int(version[1]), int(version[2]))


def pip(python: Path) -> list[str]:
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    if pip_version(str(python)) is None:
        return [base_python(), "-m", "pip", "--python", str(python), *quiet]
    return [str(python), "-m", "pip", *quiet]


def locked_install(venv: Venv, lock: Path) -> list[str]:
    """Without build isolation: what has to be built (pyspark) is built with pinned tools, not the newest."""
    options = ["--require-hashes", "--no-build-isolation"]
    if "--no-deps" in LOCK_RECIPES[lock]:
        options.append("--no-deps")
    if "--only-binary" in LOCK_RECIPES[lock]:
        options += ["--only-binary", ":all:"]
    return [*pip(venv.python), "install", *options, "-r", str(lock)]


def install_lock(venv: Venv, lock: Path) -> None:
    run_or_fail(locked_install(venv, lock), f"pip could not install {lock.name}")


def install_optional(venv: Venv, lock: Path) -> str | None:
    """None, or the reason if this system has no such package. Other failures, such as a wrong hash, are raised."""
    answer = answer_of(locked_install(venv, lock))
    if answer.returncode == 0:
        return None
    absent = re.search(r"No matching distribution found for \S+", answer.stderr)
    if absent is None:
        raise DevError(f"pip could not install {lock.name}:\n{(answer.stderr or answer.stdout).strip()}")
    return f"{absent[0]} on this system"


def install_packages(venv: Venv) -> None:
    with step("installing the build tools"):
        install_lock(venv, BUILD_LOCK)
    with step("installing what Headwater, its tests and its checks need (Spark is 456 MB the first time)"):
        install_lock(venv, venv.lock)


def install_project(venv: Venv) -> None:
    """Editable, by pip rather than by a .pth file of our own: the `headwater` command, its Windows form and
    `importlib.metadata` are then what a user gets. The build backend is in the lock; nothing is fetched."""
    with step("installing headwater itself, editable"):
        run_or_fail(
            [*pip(venv.python), "install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
            "pip could not install headwater itself",
        )
