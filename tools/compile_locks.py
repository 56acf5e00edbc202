"""`./dev lock`: uv compiles the lock files from pyproject.toml."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tools.arguments import no_more, take_flag
from tools.console import DevError, step
from tools.locks import LOCK_RECIPES
from tools.paths import MAIN_LOCK, ROOT
from tools.pip import pip
from tools.processes import run_or_fail
from tools.venv_creation import create_venv
from tools.venvs import Venv


def lock_command(args: list[str]) -> int:
    upgrade = ["--upgrade"] if take_flag(args, "--upgrade") else []
    no_more(args)
    with tempfile.TemporaryDirectory(prefix="headwater-lock-") as scratch:
        uv = shutil.which("uv") or install_uv(Venv(Path(scratch) / "venv", MAIN_LOCK))
        for lock, recipe in LOCK_RECIPES.items():
            with step(f"making {lock.name}"):
                make_lock(uv, lock, [*recipe, *upgrade])
    return 0


def install_uv(venv: Venv) -> str:
    with step("installing uv into a throw-away venv"):
        create_venv(venv.folder)
        run_or_fail([*pip(venv.python), "install", "uv"], "pip could not install uv")
    return str(venv.bin / "uv")


def make_lock(uv: str, lock: Path, recipe: list[str]) -> None:
    """Universal, for every system and Python we support; without the lines that tell about this machine."""
    scope = ["--universal", "--python-version", "3.11", "--no-python-downloads", "--generate-hashes"]
    silent = ["--quiet", "--no-header", "--no-annotate"]
    run_or_fail(
        [uv, "pip", "compile", *scope, *silent, "--output-file", lock.name, *recipe],
        f"uv could not make {lock.name}",
    )
    text = lock.read_text()
    if "://" in text or str(ROOT) in text:
        raise DevError(f"{lock.name} names a host or a path of this machine")
