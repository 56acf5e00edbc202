"""Restores a stored plan in this session: deserialized through the filter, with its inputs checked and scanned
again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.errors import InputsChanged, KeptPlanRefused, NotReplayable, PythonNotAllowed, RowsError
from headwater.jvm import JavaClasses, gateway_of
from headwater.rows.kept_queries.capture import FORMAT
from headwater.rows.kept_queries.files import PinnedFile, describe_changes
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.kept_queries.sources import KeptSource, partition_base, read_source
from headwater.rows.kept_queries.trust import TrustedFacet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MAX_NAMED = 10  # changes that an error names


@dataclass(frozen=True)
class RestoredQuery:
    """``plan`` is the analyzed plan of the query below the write, in the JVM. Each leaf is a scan again, below a
    projection that gives its columns the ids that the rest of the plan refers to.

    ``sources`` are in the order of the plan's leaves: below an operator from left to right, then those of the
    subqueries in its own expressions. ``columns`` are the names as written.
    """

    plan: Any
    sources: tuple[KeptSource, ...]
    columns: tuple[str, ...]


def restore(spark: SparkSession, trusted: TrustedFacet, *, allow_python: bool = False) -> RestoredQuery:
    """``trusted`` is the `headwater_rows` of an output whose signature has been verified (trust.py): nothing else is
    deserialized."""
    facet = trusted.content
    _check_replayable(spark, facet, allow_python)
    classes = plan_classes(gateway_of(spark.sparkContext))
    plan_reader = _read_plan(spark, classes, facet["plan"], allow_python)
    source_facets = facet["sources"]
    sources = tuple(map(read_source, source_facets))
    leaves = plan_reader.leaves()
    if len(leaves) != len(sources):
        raise KeptPlanRefused(f"it has {len(leaves)} leaves, and {len(sources)} sources are recorded")
    _check_files(spark, sources)
    gateway = gateway_of(spark.sparkContext)
    scans = gateway.jvm.java.util.ArrayList()
    try:
        for source, facts in zip(sources, source_facets, strict=True):
            scans.add(_scan(spark, classes, source, facts))
        plan = plan_reader.withLeaves(scans)
    except RowsError:
        raise
    except Exception as error:
        raise NotReplayable([f"the inputs cannot be read as they were: {_first_line(error)}"]) from error
    return RestoredQuery(plan, sources, tuple(facet["columns"]))


def _check_replayable(spark: SparkSession, facet: Mapping[str, Any], allow_python: bool) -> None:
    if not facet.get("replayable"):
        raise NotReplayable(facet.get("needs") or ["nothing was kept of it"])
    plan = facet["plan"]
    if plan.get("format") != FORMAT:
        raise NotReplayable([f"the plan is kept as {plan.get('format')!r}, which this version does not read"])
    if _release_line(facet["spark"]) != _release_line(spark.version):
        raise NotReplayable([f"it ran on Spark {facet['spark']}, and this is Spark {spark.version}"])
    if not plan["python"]:
        return
    if not allow_python:
        raise PythonNotAllowed(plan["python"])
    recorded, current = plan.get("pythonVersion"), spark.sparkContext.pythonVer
    if recorded != current:
        raise NotReplayable([f"its functions are of Python {recorded}, and this is Python {current}"])


def _read_plan(spark: SparkSession, classes: JavaClasses, plan: Mapping[str, Any], allow_python: bool) -> Any:
    reader = classes.new("RestoredPlan", plan["bytes"], _session_function(spark) if allow_python else None)
    digest = reader.digest()
    if digest != plan["digest"]:
        raise KeptPlanRefused(f"its digest is {digest}, and {plan['digest']} is recorded")
    problem = reader.deserialize()
    if problem is not None:
        raise KeptPlanRefused(str(problem))
    return reader


def _session_function(spark: SparkSession) -> Any:
    """A function of this session: a restored function gets its interpreter, environment and accumulator."""
    from pyspark.sql.udf import _wrap_function

    return _wrap_function(spark.sparkContext, lambda: None)


def _check_files(spark: SparkSession, sources: Sequence[KeptSource]) -> None:
    problems = changed_files(spark, list(dict.fromkeys(file for source in sources for file in source.files)))
    if problems:
        raise InputsChanged(problems[:_MAX_NAMED], len(problems))


def changed_files(spark: SparkSession, files: Sequence[PinnedFile]) -> list[str]:
    """Descriptions of the files that changed since they were pinned."""
    if not files:
        return []
    context: Any = spark.sparkContext._jsc
    files_now = plan_classes(gateway_of(spark.sparkContext)).new("FileStatuses", context.hadoopConfiguration())
    return describe_changes(files, str(files_now.statuses("\0".join(file.path for file in files))).split("\0"))


def pinned_scan(spark: SparkSession, source: KeptSource, source_facet: Mapping[str, Any]) -> Any:
    """A plan in the JVM that reads one stored source as it was. ``source_facet`` is what the facet has of it."""
    return _scan(spark, plan_classes(gateway_of(spark.sparkContext)), source, source_facet)


def _scan(spark: SparkSession, classes: JavaClasses, source: KeptSource, source_facet: Mapping[str, Any]) -> Any:
    """A plan that reads the source as it was; None if its rows are in the stored plan, or if it has no files."""
    if source.kind == "files" and source.files:
        return _scan_files(spark, classes, source, source_facet)
    if source.kind in ("delta", "iceberg"):
        try:
            return cast(Any, _read_version(spark, source, source_facet))._jdf.queryExecution().analyzed()
        except Exception as error:
            raise InputsChanged(
                [f"{_source_name(source)} at version {source.version}: {_first_line(error)}"], 1
            ) from error
    return None


def _scan_files(spark: SparkSession, classes: JavaClasses, source: KeptSource, source_facet: Mapping[str, Any]) -> Any:
    scan = classes.new("PinnedScan", spark._jsparkSession)
    scan.add("".join(f"{file.size}\t{file.time}\t{file.path}\0" for file in source.files))
    options: Any = cast(Any, spark._jvm).java.util.HashMap()
    for key, value in source_facet["options"].items():
        options.put(key, value)
    columns = [field["name"] for field in json.loads(source_facet["partitions"])["fields"]]
    base = partition_base(source.files, columns) if columns else None
    return scan.relation(source.format, source_facet["schema"], source_facet["partitions"], options, base)


def _read_version(spark: SparkSession, source: KeptSource, source_facet: Mapping[str, Any]) -> DataFrame:
    """Delta counts its versions, Iceberg names its snapshots; Spark has one word for both.

    A named table is read by SQL: Spark 3.5 passes over the reader's `versionAsOf` for it, and would read the newest.
    """
    if source.kind == "iceberg" and "table" in source_facet:
        name = ".".join(f"`{part.replace('`', '``')}`" for part in source_facet["table"])
        return spark.sql(f"SELECT * FROM {name} VERSION AS OF {int(str(source.version))}")
    return spark.read.format(source.kind).option("versionAsOf", str(source.version)).load(source_facet["path"])


def _source_name(source: KeptSource) -> str:
    return source.dataset[1] if source.dataset else f"a source of kind {source.kind}"


def _release_line(version: str) -> tuple[str, ...]:
    """The release line: plans use classes of one Spark line, so that 4.3.0 reads plans of 4.3.1."""
    return tuple(version.split(".")[:2])


def _first_line(error: Exception) -> str:
    cause = getattr(error, "java_exception", None)
    text = str(cause.getMessage()) if cause is not None else str(error)
    return next(iter(text.splitlines()), type(error).__name__)
