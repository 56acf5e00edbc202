"""Runs examples/daily_revenue.py as a user does; its results are a store and the records of its items."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.spark import short_job_environment

EXAMPLE = Path(__file__).parents[2] / "examples" / "daily_revenue.py"


@dataclass(frozen=True)
class DailyRevenue:
    folder: Path
    printed: str

    @property
    def run_id(self) -> str:
        return self.printed.split()[-2]

    @property
    def store(self) -> tuple[str, str]:
        return "--store", f"sqlite:///{self.folder}/.headwater/lineage.db"

    @property
    def items(self) -> Path:
        return self.folder / ".headwater" / "pipelines" / self.run_id / "items"


def run_daily_revenue(folder: Path) -> DailyRevenue:
    return DailyRevenue(folder, python(folder, str(EXAMPLE)))


def python(folder: Path, *arguments: str) -> str:
    env = os.environ | short_job_environment("local[1]")
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
