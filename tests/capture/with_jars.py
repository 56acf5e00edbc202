"""The cases that need jars, in a process of their own: the jars have to be there when Spark's JVM starts.

python -m tests.capture.with_jars delta /some/folder /some/folder/told.json
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.capture.cases_file import FOLDER, Case, read_cases
from tests.capture.scripts import run_script
from tests.capture.shop import make_files
from tests.capture.telling import Json
from tests.capture.watching import watched
from tests.support.jars import jars_or_skip
from tests.support.postgres import PostgresServer
from tests.support.relay import relayed
from tests.support.spark import spark_application

WITH_JARS = FOLDER / "with_jars"
SETTINGS = {
    "avro": {},
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
    "kafka": {},
    "postgresql": {"spark.sql.catalog.pg": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"},
}


def cases_of(name: str) -> list[Case]:
    return [case for case in read_cases(WITH_JARS) if case.file == name]


@contextmanager
def database() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a PostgreSQL database for JDBC, and the beginnings of names that go without its port."""
    with PostgresServer() as server:
        server.create_database("shop")
        with relayed(server.folder / "socket" / ".s.PGSQL.5432") as port:
            yield (
                f"jdbc:postgresql://127.0.0.1:{port}/shop?user=postgres",
                {f"postgres://127.0.0.1:{port}": "postgres:"},
            )


@contextmanager
def surroundings(name: str, folder: Path) -> Iterator[tuple[dict[str, str], dict[str, object], dict[str, str]]]:
    """Settings of Spark, names for the scripts, and what to shorten in the names of datasets."""
    settings = {"spark.jars": jars_or_skip(name), **SETTINGS[name]}
    if name == "iceberg":
        lake = folder / "lake"
        settings["spark.sql.catalog.lake.warehouse"] = str(lake)
        yield settings, {}, {f"file{lake}/": "lake/", f"file:{lake}/": "lake:"}
    elif name == "postgresql":
        # Java's list of drivers is filled when the JVM starts, from its class path alone.
        settings["spark.driver.extraClassPath"] = settings.pop("spark.jars")
        with database() as (url, short):
            yield {**settings, "spark.sql.catalog.pg.url": url}, {"postgres": url}, short
    else:
        yield settings, {}, {}


def tell(name: str, folder: Path, more: Mapping[str, object], short: Mapping[str, str]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    with spark_application(folder) as spark:
        make_files(spark, folder / "shop")
        with watched(spark, folder / "watch") as watch:
            for place, case in enumerate(cases_of(name)):
                here = folder / f"case{place}"
                here.mkdir()
                spark.sql(f"CREATE DATABASE cases LOCATION '{here}'")
                spark.sql("USE cases")
                watch.new_events()
                watch.forget()
                run_script(case, spark, here, folder / "shop", more)
                events = watch.new_events()
                told[case.title] = watch.lines(events, here, folder / "shop", short)
                if name == "kafka":  # no run is completed without a broker: what is named when it starts
                    told[case.title] += [line for event in events for line in named(event)]
                spark.sql("USE default")
                spark.sql("DROP DATABASE cases CASCADE")
    return told


def named(event: Json) -> Iterator[str]:
    for end in ("inputs", "outputs"):
        for dataset in event[end] if event["eventType"] == "START" else ():
            yield f"{end} {dataset['namespace']} {dataset['name'].rpartition('/')[2]}"


def main(name: str, folder: Path, answer: Path) -> None:
    with surroundings(name, folder) as (settings, more, short):
        arguments = " ".join(f"--conf {key}={value}" for key, value in settings.items())
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"{arguments} pyspark-shell"
        answer.write_text(json.dumps(tell(name, folder, more, short)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
