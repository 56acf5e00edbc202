"""An unmodified PySpark script in a driver of its own.

For settings that a session needs from its start (JARs, extensions, a cluster), which the shared JVM of the tests
cannot have. The script gets the settings like a user's script: a plain `SparkSession.builder.getOrCreate()` reads
them from Spark's configuration folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import why_missing
from tests.support.spark import INTERPRETED

LOCAL = {
    **INTERPRETED,
    "spark.buffer.pageSize": "1m",
    "spark.driver.memory": "1g",
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def write_configuration(settings: Mapping[str, str], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))


def driver_environment(configuration: Path, python: str = sys.executable) -> dict[str, str]:
    """``python`` is that of the executors."""
    return {
        **os.environ,
        "PYSPARK_PYTHON": python,
        "SPARK_CONF_DIR": str(configuration),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def run_script(
    script: str, *arguments: str, folder: Path, env: Mapping[str, str], timeout: float = 600
) -> subprocess.CompletedProcess[str]:
    """In this Python, started in ``folder``, where the script is written."""
    file = folder / "job.py"
    file.write_text(script)
    return subprocess.run(
        [sys.executable, str(file), *arguments],
        cwd=folder,
        env=env,
        text=True,
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def run_driver(
    script: str, *arguments: str, folder: Path, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """A local driver with these settings; without Java the test is reported as not run."""
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    write_configuration({**LOCAL, "spark.sql.warehouse.dir": f"{folder}/warehouse", **settings}, folder / "conf")
    return run_script(script, *arguments, folder=folder, env=driver_environment(folder / "conf"))
