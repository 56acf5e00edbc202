"""Node and npm, which come as a wheel, and the packages of `ui/`."""

from __future__ import annotations

import os
import re
import subprocess

from tools.console import DevError
from tools.paths import PAGE_SOURCE
from tools.processes import Environment, tool_environment
from tools.venvs import MAIN


def npm(*arguments: str) -> list[str]:
    return [str(MAIN.bin / "npm"), "--prefix", str(PAGE_SOURCE), *arguments]


def page_environment() -> Environment:
    env = tool_environment()
    return {**env, "PATH": os.pathsep.join([str(MAIN.bin), env.get("PATH", os.defpath)])}


def install_node_packages() -> str | None:
    """None, or why they cannot be had. No package runs a program of its own while it is installed."""
    command = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    answer = subprocess.run(
        command, cwd=PAGE_SOURCE, env=page_environment(), text=True, capture_output=True, check=False
    )
    if answer.returncode == 0:
        return None
    output = (answer.stderr or answer.stdout).strip()
    if re.search(r"\b(ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E40[134]|network)\b", output):
        return "npm does not reach its packages"
    raise DevError(f"npm could not install what ui/package-lock.json lists:\n{output}")
