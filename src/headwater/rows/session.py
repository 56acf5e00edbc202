"""A Spark session that answers questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from subprocess import Popen
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headwater.capture.autostart import disable_autostart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "ERROR",
}


def quiet_session(master: str, settings: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """A session with little logging that is not captured: a question is not a job."""
    disable_autostart()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("headwater").master(master)
    for name, value in {**_SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    with _kill_jvm_on_interrupt():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def _kill_jvm_on_interrupt() -> Iterator[None]:
    """Ends the JVM that pyspark starts, if it is not up yet when we are interrupted.

    A JVM that is up ends when our end of its standard input closes. One that is starting would not: pyspark removes the
    folder in which the JVM announces itself, and the JVM's gateway then waits forever for a connection.
    """
    java_gateway: Any = import_module("pyspark.java_gateway")
    started: list[Popen[Any]] = []

    class RecordedPopen(Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    original, java_gateway.Popen = java_gateway.Popen, RecordedPopen
    try:
        yield
    except BaseException:
        for process in started:
            process.kill()
            process.wait()
        raise
    finally:
        java_gateway.Popen = original
