"""Captures the query of each write and, if configured, its pair tables, in the capture's own thread."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.capture.events.row_capture import RowCaptureOptions
from headwater.capture.events.writes import CapturedWrite
from headwater.errors import RowsError
from headwater.jvm import JavaObject, gateway_of
from headwater.redaction.redactor import Redactor
from headwater.rows.kept_queries.capture import QueryCapture
from headwater.rows.kept_queries.files import read_file_list
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.kept_queries.restore import changed_files
from headwater.rows.pairs.facet import PairsEntry, invalid_entry
from headwater.rows.pairs.write import write_pairs
from headwater.rows.stored_values import StoredFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_log = logging.getLogger("headwater")
DEFAULT_LOCATION = ".headwater/rows"
_LOSSLESS_FORMATS = ("parquet", "orc")
"""Formats that return exactly the values that were written."""


class RowTableCapture:
    """Captures for one Spark application. `pairs` is the entry of the tables in `cdme.adjointMetadata`."""

    def __init__(self, spark: SparkSession, redactor: Redactor | None = None) -> None:
        self._spark = spark
        self._redactor = redactor
        self._queries = QueryCapture(spark)
        self._outputs: Counter[str] = Counter()
        self._reported: set[str] = set()

    def keep(
        self, execution: JavaObject, written: CapturedWrite, asked: RowCaptureOptions, started: datetime, run_id: str
    ) -> dict[str, object] | None:
        facet = self._queries.keep(execution, written, asked, started)
        if facet is None or not asked.writes_tables:
            return facet
        sample = asked.sample if asked.mode == "sampled" else None
        location = asked.location or Path(DEFAULT_LOCATION).absolute().as_uri()
        number = self._outputs[run_id]
        self._outputs[run_id] += 1
        try:
            entry = self._write(execution, facet, location, run_id, number, sample)
        except Exception as fault:  # the event of the write says that the tables are missing
            self._report(fault)
            entry = invalid_entry(f"{location.rstrip('/')}/{run_id}/{number}", sample, _first_line(fault))
        namespace, name = written.target.key  # a run may have tables for only some of its outputs
        return {**facet, "pairs": {**entry, "dataset": {"namespace": namespace, "name": name}}}

    def is_over(self) -> bool:
        return self._spark.sparkContext._jsc is None

    def _write(
        self,
        execution: JavaObject,
        facet: Mapping[str, Any],
        location: str,
        run_id: str,
        number: int,
        sample: float | None,
    ) -> PairsEntry:
        classes = plan_classes(gateway_of(self._spark.sparkContext))
        query = classes.new("WrittenQuery", execution.analyzed())
        if query.plan() is None:
            raise RowsError("the command does not show the query that it writes")
        plan = classes.new("QueryContext", execution.queryExecution()).fix(query.plan())
        names, output = written_rows(self._spark, query, facet)
        unchanged = InputCheck(self._spark, facet)
        result = write_pairs(
            *(self._spark, plan, location, run_id, number, sample, output),
            names=names,
            stored_format=None if output is None else StoredFormat.of_output(facet["written"]),
            still_holds=unchanged,
            redactor=self._redactor,
        )
        return result.facet

    def _report(self, fault: Exception) -> None:
        """Logs each type of fault once, as the capture does."""
        kind = type(fault).__name__
        if kind not in self._reported:
            self._reported.add(kind)
            _log.warning(
                "No pair tables were stored for a write; the job is not affected. %s: %s", kind, _first_line(fault)
            )
        _log.debug("While writing pair tables", exc_info=fault)


def written_rows(
    spark: SparkSession, query: JavaObject, facet: Mapping[str, Any]
) -> tuple[Sequence[str] | None, DataFrame | None]:
    """The column names as written, and exactly the rows that this run wrote."""
    from pyspark.sql.types import StructField, StructType

    schema = StructType.fromJson(json.loads(query.schema()))
    names = facet.get("columns")
    if names is None or len(names) != len(schema.fields):
        return None, None
    written = facet["written"]
    if written.get("format") not in _LOSSLESS_FORMATS or "files" not in written:
        return names, None
    files = read_file_list(written["files"])
    if not files:
        return names, None
    as_written = StructType(
        [StructField(name, field.dataType) for name, field in zip(names, schema.fields, strict=True)]
    )
    reader = spark.read.format(written["format"]).schema(as_written).option("basePath", written["uri"])
    frame = reader.option("__globPaths__", "false").load([file.path for file in files])
    return names, frame.select(*(f"`{name.replace('`', '``')}`" for name in names))


class InputCheck:
    """Checks that the inputs have not changed: the query was run a second time for the tables."""

    def __init__(self, spark: SparkSession, facet: Mapping[str, Any]) -> None:
        self._spark = spark
        self._files = [
            file for source in facet.get("sources", ()) if "files" in source for file in read_file_list(source["files"])
        ]

    def __call__(self) -> str | None:
        changes = changed_files(self._spark, self._files)
        return f"an input was changed before its rows were looked up: {changes[0]}" if changes else None


def _first_line(fault: Exception) -> str:
    return next(iter(str(fault).splitlines()), type(fault).__name__)[:500]
