"""examples/daily_revenue.py as whoever tries it runs it, and what it leaves: a store, and the records of its items."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "daily_revenue.py"
QUICK_SPARK = """
spark.master local[2]
spark.driver.memory 1g
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1
spark.ui.enabled false
spark.ui.showConsoleProgress false
"""
"""Small jobs are over before Java's second compiler has begun to pay: with it they take half as much again."""


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
    (folder / "spark-defaults.conf").write_text(QUICK_SPARK)
    return DailyRevenue(folder, python(folder, str(EXAMPLE)))


def python(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    env |= {"HEADWATER_SPARK_MASTER": "local[1]", "SPARK_CONF_DIR": str(folder)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
