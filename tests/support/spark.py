"""One Spark application for all tests of a process that need one, and a session for each folder of tests.

A session has its own temporary views, current database and SQL settings, so folders do not affect each other.
Catalog and JVM are shared: databases need unique names, and the JVM starts once.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import why_missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of every session: interpreted expressions cost tiny data half of what compiling them does. That compiled stages are
# measured as well is for tests/capture/test_statistics.py.
INTERPRETED: Mapping[str, str] = MappingProxyType(
    {"spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.codegen.wholeStage": "false"}
)

# For tests whose answer, and not Spark's execution, is judged: without adaptive execution a query has a third fewer
# jobs. Shuffles have one partition, as adaptive execution would give them.
TINY_DATA: Mapping[str, str] = MappingProxyType(
    {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
)

# Every hash table and every sort takes a page. Spark's own size for them, 64 MB here, fills the heap in a moment.
PAGE_SIZE = "1m"

# For programs of a process of their own: settings that a script does not make itself.
SHORT_JOB: Mapping[str, str] = MappingProxyType(
    {
        "spark.buffer.pageSize": PAGE_SIZE,
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        **INTERPRETED,
        **TINY_DATA,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
)

_application: list[SparkSession] = []


def short_job_environment(master: str = "local[2]") -> dict[str, str]:
    """For a PySpark program in a process of its own."""
    return {"HEADWATER_SPARK_MASTER": master, **program_environment(master, SHORT_JOB)}


def program_environment(master: str, settings: Mapping[str, str], python: str = sys.executable) -> dict[str, str]:
    """``settings`` are Java properties, which Spark reads too: see tests/harness/java.py. ``python`` runs UDFs."""
    properties = [f'"-D{name}={value}"' for name, value in settings.items()]
    return {
        "MASTER": master,
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": " ".join([os.environ.get("SPARK_SUBMIT_OPTS", ""), *properties]),
    }


@contextmanager
def spark_session(settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[SparkSession]:
    """A new session with these SQL settings. Skips, with the reason, if there is no Java."""
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    if not _application:
        _application.append(_start_application(Path(tempfile.mkdtemp(prefix="headwater-spark-"))))
    session = _application[0].newSession()
    for name, value in settings.items():
        session.conf.set(name, value)
    activate(session)
    yield session


def activate(session: SparkSession) -> None:
    """Makes it the session that `SparkSession.builder.getOrCreate()` and calls without a session use."""
    from pyspark.sql import SparkSession

    owner: Any = SparkSession
    if owner._instantiatedSession is session:
        return
    owner._instantiatedSession = owner._activeSession = session
    jvm: Any = session._jvm
    # Spark 4 has two classes of this name; the one that is not Spark Connect's counts.
    java_class = getattr(owner, "_get_j_spark_session_class", lambda jvm: jvm.SparkSession)(jvm)
    java_class.setDefaultSession(session._jsparkSession)
    java_class.setActiveSession(session._jsparkSession)


def stop_application() -> None:
    """At the end of a test process; does nothing if no test needed Spark."""
    while _application:
        session = _application.pop()
        activate(session)
        warehouse = str(session.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")
        session.stop()
        shutil.rmtree(Path(warehouse).parent, ignore_errors=True)


@contextmanager
def spark_application(folder: Path) -> Iterator[SparkSession]:
    """The whole application, for a script in a process of its own; its tables are in ``folder``."""
    session = _start_application(folder)
    try:
        yield session
    finally:
        session.stop()


def _start_application(folder: Path) -> SparkSession:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in INTERPRETED.items():
        builder = builder.config(name, value)
    return (
        builder.master("local[2]")
        .appName("headwater-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.buffer.pageSize", PAGE_SIZE)
        .config("spark.python.sql.dataFrameDebugging.enabled", "false")  # five calls of Java for each column function
        # Nobody looks at what has run: kept, it fills the heap, and the collector goes through it again and again.
        .config("spark.sql.ui.retainedExecutions", "1")
        .config("spark.ui.retainedJobs", "1")
        .config("spark.ui.retainedStages", "1")
        .config("spark.ui.retainedTasks", "1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
