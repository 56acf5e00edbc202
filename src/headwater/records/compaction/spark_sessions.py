"""A Spark session with the settings that the archive needs; the settings of the caller's session stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # Spark's default is a legacy type without a time zone, which other readers take for nanoseconds.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.compression.codec": "zstd",
    # Days are written in parallel; otherwise every task would sort its rows by day first.
    "spark.sql.maxConcurrentOutputFileWriters": "32",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}


def ledger_session(spark: SparkSession) -> SparkSession:
    """A new session of the same Spark application."""
    session = spark.newSession()
    configure_session(session)
    return session


def configure_session(session: SparkSession) -> None:
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
