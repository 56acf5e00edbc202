"""A Spark session as the archive needs it, beside whatever session there is: its settings are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # Spark would write a form of its own, without a zone, that others read as nanoseconds.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.compression.codec": "zstd",
    # Days are written side by side; else every task sorted its rows by day first.
    "spark.sql.maxConcurrentOutputFileWriters": "32",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}


def ledger_session(spark: SparkSession) -> SparkSession:
    """Of the same application."""
    session = spark.newSession()
    configure_session(session)
    return session


def configure_session(session: SparkSession) -> None:
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
