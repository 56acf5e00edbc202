"""Captures what is needed to run the query of a write again: the plan, checked to be readable, and its pinned inputs.

It runs in the capture's own thread, after the write: the job does not wait for it.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headwater.capture.events.row_capture import RowCaptureOptions
from headwater.capture.events.writes import CapturedWrite
from headwater.jvm import JavaClasses, JavaObject
from headwater.redaction.shapes import is_secret_name
from headwater.rows.kept_queries.files import MAX_FILES, read_file_list
from headwater.rows.kept_queries.formats import is_value_option
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.kept_queries.sources import pin_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "headwater-plan-1"
"""A compressed Java stream of the plan's nodes (jvm/PlanStream.java), as base64."""
_MAX_NODES = 5_000
_MAX_BYTES = 20 * 2**20
_MAX_LOCAL_ROWS = 10_000  # of a relation whose rows are in the plan itself
_MAX_LISTED = 100_000  # files of a folder, in the search for those that were just written
_LISTING_TIMEOUT = 2_000  # milliseconds for that
_IN_PLACE_KINDS = ("merge", "update", "delete")
_KINDS_WITHOUT_ROWS = ("view", "stream")
_JOB_ID = re.compile(r"part-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_TEXT_FORMATS = ("csv", "json")
_FILE_FORMATS = ("avro", "csv", "json", "orc", "parquet", "text", "xml")


class QueryCapture:
    """Captures the queries of one Spark application."""

    def __init__(self, spark: SparkSession) -> None:
        """Stores what PySpark forgets on `spark.stop()`: a program often stops Spark right after its last write, and
        that write is captured afterwards, while the JVM still runs."""
        context: Any = spark.sparkContext
        self._spark_version = spark.version
        self._python_version = context.pythonVer
        self._gateway = context._gateway
        self._hadoop_configuration = context._jsc.hadoopConfiguration()

    @cached_property
    def _classes(self) -> JavaClasses:
        return plan_classes(self._gateway)

    def keep(
        self, execution: Any, written: CapturedWrite, asked: RowCaptureOptions, started: datetime
    ) -> dict[str, Any] | None:
        if asked.mode == "off" or written.kind in _KINDS_WITHOUT_ROWS:
            return None
        facet: dict[str, Any] = {"mode": asked.mode, "spark": self._spark_version}
        if written.kind in _IN_PLACE_KINDS:
            needs = [f"a {written.kind.upper()} changes rows in place; only a query's result can be made again"]
        else:
            needs = self._capture_plan(facet, execution, written)
        facet["written"] = {
            "uri": written.target.uri,
            "format": written.target.format,
            **self._writer_options(execution, written),
            **self._written_files(written, started),
        }
        return {**facet, "replayable": not needs, "needs": needs}

    def _capture_plan(self, facet: dict[str, Any], execution: Any, written: CapturedWrite) -> list[str]:
        """Adds the plan and its sources to the facet; returns the reasons why it cannot be run again."""
        context = self._classes.new("QueryContext", execution.queryExecution())
        limits = (_MAX_NODES, _MAX_BYTES, _MAX_LOCAL_ROWS)
        plan = self._classes.new("KeptPlan", execution.analyzed(), context, *limits)
        description = json.loads(plan.describe())
        if "problem" in description:
            return [description["problem"]]
        facet["plan"] = {"format": FORMAT, **{key: description[key] for key in ("digest", "bytes", "text", "python")}}
        if description["time"]:
            facet["time"] = description["time"]
        if description["python"]:
            facet["plan"]["pythonVersion"] = self._python_version
        names = [column.name for column in written.columns]
        facet["columns"] = names if len(names) == len(description["columns"]) else description["columns"]
        pins = self._classes.new("SourcePins", execution.executedPlan(), MAX_FILES)
        facts = json.loads(pins.describe(plan.leaves()))
        pinned = [pin_source(leaf, inside, written) for leaf, inside in zip(facts, description["inside"], strict=True)]
        facet["sources"] = [source for source, _trouble in pinned]
        return list(dict.fromkeys(problem for _source, problem in pinned if problem))

    def _writer_options(self, execution: JavaObject, written: CapturedWrite) -> dict[str, dict[str, str]]:
        """The options of the writer that change values, by which stored values are compared with those of the query."""
        if written.target.format not in _TEXT_FORMATS:
            return {}
        given: dict[str, str] = json.loads(self._classes.new("WrittenQuery", execution.analyzed()).options())
        options = {name: text for name, text in given.items() if is_value_option(name) and not is_secret_name(name)}
        return {"options": options} if options else {}

    def _written_files(self, written: CapturedWrite, started: datetime) -> dict[str, Any]:
        """The files of the output that this write made, if they are certain."""
        target = written.target
        if target.version is not None:
            return {"version": target.version}
        if target.format not in _FILE_FORMATS or target.uri is None:
            return {"unknown": f"{target.name} is not a folder of files"}
        since = int(started.timestamp() * 1000)
        files_now = self._classes.new("FileStatuses", self._hadoop_configuration)
        listing = files_now.writtenSince(target.uri, since, _MAX_LISTED, _LISTING_TIMEOUT)
        if listing is None or listing.count() > MAX_FILES:
            return {"unknown": "the folder is gone, or holds too many files to find those that were written"}
        files = {"count": listing.count(), "list": listing.text()}
        jobs = {match[1] if (match := _JOB_ID.search(file.path)) else "" for file in read_file_list(files)}
        if len(jobs) > 1:
            return {"unknown": "other writes to the folder ended at the same time"}
        return {"files": files}
