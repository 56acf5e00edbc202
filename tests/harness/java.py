"""Options for the Java processes that tests start, most of which end soon.

Spark's classes come from a class-data-sharing archive, there is no second JIT compiler and a simple garbage collector.
A small job in a Spark of its own then takes half of the processor time. Java uses the archive only where the class path
is that of the training job: with a `SPARK_CONF_DIR` it is another one, so `tests.support.spark.short_job_environment`
gives settings in another way.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xlog:disable -Xlog:all=error:stderr"
ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
TRAINING_JOB = Path(__file__).with_name("training_job.py")


def java_options() -> str:
    """For `SPARK_SUBMIT_OPTS`. Creates the archive if there is none for this Java and this Spark."""
    key = hashlib.sha256(
        f"{os.environ['JAVA_HOME']} {version('pyspark')} {OPTIONS}".encode() + TRAINING_JOB.read_bytes()
    )
    stamp = ARCHIVE.with_suffix(".key")
    if not stamp.exists() or stamp.read_text() != key.hexdigest():
        print("- making an archive of Spark's classes, for the tests", flush=True)
        make_archive()
        stamp.write_text(key.hexdigest())
    return f"{OPTIONS} -XX:SharedArchiveFile={ARCHIVE}" if ARCHIVE.exists() else OPTIONS


def make_archive() -> None:
    """Without an archive, tests only take longer: a Java that cannot create one is no failure."""
    with tempfile.TemporaryDirectory() as scratch:
        unfinished = ARCHIVE.with_suffix(".new")
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": f"{OPTIONS} -XX:ArchiveClassesAtExit={unfinished}"}
        command = [sys.executable, str(TRAINING_JOB), scratch]
        subprocess.run(command, cwd=scratch, env=environment, capture_output=True, check=False)
        ARCHIVE.unlink(missing_ok=True)
        if unfinished.exists():
            unfinished.replace(ARCHIVE)
