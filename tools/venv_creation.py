"""Making a Python environment, or making it anew."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools.console import DevError, last_line, say, step
from tools.pip import base_python, check_pip_of
from tools.processes import answer_of
from tools.stamps import write_stamp
from tools.venvs import Venv


def make_venv(venv: Venv) -> None:
    if venv.folder.exists():
        clear_venv(venv)
    venv.folder.mkdir(exist_ok=True)
    write_stamp(venv, {})
    with step(f"making {venv.name} with Python {sys.version.split()[0]}"):
        create_venv(venv.folder)


def clear_venv(venv: Venv) -> None:
    if not venv.stamp.exists():
        raise DevError(f"{venv.folder} was not made by ./dev: move it away, then try again")
    say(f"- {venv.name} is unfinished, or not what the lock files say now: making it anew")
    write_stamp(venv, {})
    for entry in sorted(venv.folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != venv.stamp:
            entry.unlink()


def create_venv(folder: Path) -> None:
    """Debian has no ensurepip unless python3-venv is installed; then the pip of this Python does the work."""
    python = base_python()
    if answer_of([python, "-m", "venv", str(folder)]).returncode == 0:
        return
    bare = answer_of([python, "-m", "venv", "--without-pip", str(folder)])
    if bare.returncode:
        raise DevError(f"{python} cannot make a venv: {last_line(bare.stderr or bare.stdout)}")
    check_pip_of(python)
    say(f"  {python} cannot put pip into a venv (it lacks ensurepip): using its own pip")
