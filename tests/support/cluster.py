"""A real Spark cluster: a master and two workers on loopback, each a process of its own, from the pip package.

    with SparkCluster() as cluster:
        done = cluster.run(script)  # an ordinary PySpark script, in a driver of its own

Executors are other processes than the driver, with a Python that has every package but headwater. So code that works
only in local mode, or that needs headwater on executors, fails.

Every daemon is the child of a shell that holds the reading end of a pipe and ends the daemon when the pipe closes: on
`stop`, and also when the tests are killed and cannot clean up. Ending a worker ends its executors.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support import why_missing
from tests.support.spark import INTERPRETED, program_environment
from tests.support.spark_driver import run_script

LOOPBACK = "127.0.0.1"
WORKERS = 2
START_TIMEOUT = 300.0
STOP_TIMEOUT = 30.0
KEPT_VARIABLES = ("HOME", "JAVA_HOME", "LANG", "PATH", "TMPDIR", "USER")  # no PYTHONPATH: it could bring headwater
# For JVMs, less to do until the first task: what tests/harness/java.py says, where that is at work.
SHORT_LIVED = os.environ.get("SPARK_SUBMIT_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
BEHIND_A_PIPE = '"$@" </dev/null & daemon=$!; read -r _; kill "$daemon"; wait "$daemon"'

SETTINGS = {
    **INTERPRETED,
    "spark.cores.max": str(WORKERS),
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class ClusterUnavailable(Exception):
    """A cluster cannot be started on this machine; the reason is one line for the test report."""


class ClusterStartError(Exception):
    """Everything needed is installed, but the cluster did not start."""


class SparkCluster:
    def __init__(self) -> None:
        self._folder: Path | None = None
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.master_url = ""
        self._status_url = ""

    # -------------------------------------------------------------------------------------- life

    def start(self) -> None:
        """Takes about ten seconds; raises ClusterUnavailable without Java or a shell."""
        if self._folder is not None:
            raise ClusterStartError("This cluster is running already.")
        if (reason := why_missing("java")) is not None:
            raise ClusterUnavailable(reason)
        if os.name == "nt":
            raise ClusterUnavailable("Spark's scripts for a cluster need a POSIX shell")
        self._folder = Path(tempfile.mkdtemp(prefix="headwater-cluster-"))
        try:
            make_bare_python(self._folder / "python")
            port, status_port = free_port(), free_port()
            self.master_url = f"spark://{LOOPBACK}:{port}"
            self._status_url = f"http://{LOOPBACK}:{status_port}/json/"
            self._launch("master", ["--port", str(port), "--webui-port", str(status_port)])
            self._wait_for_workers(0)  # a worker that starts before its master waits for seconds to try again
            for number in range(WORKERS):
                size = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / f"work{number}")]
                self._launch("worker", ["--port", "0", "--webui-port", "0", *size, self.master_url])
            self._wait_for_workers(WORKERS)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every daemon and removes its files; does nothing if none is running."""
        daemons, self._daemons = self._daemons, []
        for daemon in reversed(daemons):  # the workers before the master
            assert daemon.stdin is not None
            daemon.stdin.close()
        for daemon in daemons:
            daemon.wait(STOP_TIMEOUT)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)  # an executor may still be removing its own
            self._folder = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -------------------------------------------------------------------------------------- use

    @property
    def folder(self) -> Path:
        """For files that driver and executors share; removed with the cluster."""
        if self._folder is None:
            raise ClusterStartError("This cluster is not running.")
        return self._folder

    @property
    def executor_python(self) -> Path:
        return self.folder / "python" / "bin" / "python"

    @property
    def config(self) -> dict[str, str]:
        """The settings of a session on this cluster. Its process needs `environment` as well."""
        return {"spark.master": self.master_url, **SETTINGS}

    @property
    def environment(self) -> dict[str, str]:
        """For a driver's process: a plain `SparkSession.builder.getOrCreate()` there uses this cluster."""
        return os.environ | program_environment(self.master_url, self.config, str(self.executor_python))

    def run(self, script: str, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """An unmodified PySpark script in a driver of its own, in this Python, started in `folder`."""
        return run_script(script, *arguments, folder=self.folder, env=self.environment, timeout=timeout)

    # -------------------------------------------------------------------------------------- inside

    def _launch(self, role: str, options: list[str]) -> None:
        home = spark_home()
        env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        env |= {
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_PUBLIC_DNS": LOOPBACK,
        }
        main_class = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
        command = [str(home / "bin" / "spark-class"), main_class, "--host", LOOPBACK, *options]
        with (self.folder / f"{role}{len(self._daemons)}.log").open("wb") as log:
            daemon = subprocess.Popen(
                ["/bin/sh", "-c", BEHIND_A_PIPE, "sh", *command],
                cwd=self.folder,
                env=env,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us: the daemons end by their pipe
            )
        self._daemons.append(daemon)

    def _wait_for_workers(self, count: int) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while self._workers_alive() < count:
            if time.monotonic() > deadline:
                logs = "\n".join(log.read_text()[-2000:] for log in sorted(self.folder.glob("*.log")))
                raise ClusterStartError(f"No {count} workers after {START_TIMEOUT:.0f} s:\n{logs}")
            time.sleep(0.2)

    def _workers_alive(self) -> int:
        """As the master reports it; -1 while it does not respond."""
        try:
            with urllib.request.urlopen(self._status_url, timeout=5) as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError):
            return -1


def make_bare_python(folder: Path) -> None:
    """This Python with links to all its packages but headwater: neither its files nor an editable install of it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    ours = Path(sysconfig.get_path("purelib"))
    bare = folder / ours.relative_to(sys.prefix)
    for package in ours.iterdir():
        if "headwater" not in package.name.lower() and not (bare / package.name).exists():
            (bare / package.name).symlink_to(package)


def spark_home() -> Path:
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        raise ClusterUnavailable("pyspark is not installed")
    return Path(package.origin).parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
