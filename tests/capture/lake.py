"""The cases of a table format, in a process of their own: its jars have to be there when Spark's JVM starts.

python -m tests.capture.lake delta /some/folder /some/folder/told.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tests.capture.cases_file import FOLDER, Case, read_cases
from tests.capture.scripts import run_script
from tests.capture.shop import make_files
from tests.capture.watching import watched
from tests.support.jars import jars_or_skip
from tests.support.spark import spark_session

LAKE = FOLDER / "lake"
SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
    },
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
    },
}


def cases_of(format: str) -> list[Case]:
    return [case for case in read_cases(LAKE) if case.file == format]


def main(format: str, folder: Path, answer: Path) -> None:
    settings = {"spark.jars": jars_or_skip(format), **SETTINGS[format]}
    if format == "iceberg":
        settings["spark.sql.catalog.lake.warehouse"] = f"{folder}/lake"
    arguments = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{arguments} pyspark-shell"
    told: dict[str, list[str]] = {}
    with spark_session(folder) as spark:
        make_files(spark, folder / "shop")
        with watched(spark, folder / "watch") as watch:
            for place, case in enumerate(cases_of(format)):
                here = folder / f"case{place}"
                here.mkdir()
                spark.sql(f"CREATE DATABASE cases LOCATION '{here}'")
                spark.sql("USE cases")
                watch.new_events()
                watch.forget()
                run_script(case, spark, here, folder / "shop")
                told[case.title] = watch.lines(watch.new_events(), here, folder / "shop", lake=folder / "lake")
                spark.sql("USE default")
                spark.sql("DROP DATABASE cases CASCADE")
    answer.write_text(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
