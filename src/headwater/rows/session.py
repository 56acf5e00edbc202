"""A Spark session of our own, to answer a question with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.capture.autostart import stand_back

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "ERROR",
}


def quiet_session(master: str, settings: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """Quiet, and not captured: a question is nobody's job."""
    stand_back()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("headwater").master(master)
    for name, value in {**_QUIET, **settings}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
