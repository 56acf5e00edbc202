"""What a plan reads: from the facts about a leaf to the datasets behind it.

One rule per class of leaf. A leaf may stand for several datasets (a read of two folders, a query over JDBC), for data
of the program itself, or for none (a range of numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from headwater.capture.listener.plan_facts import Facts
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jdbc import JdbcDatabase, database
from headwater.capture.naming.paths import file_dataset, file_datasets
from headwater.capture.naming.queries import ColumnUse, DatabaseQuery, read_query


@dataclass(frozen=True, slots=True)
class LeafColumn:
    """A dataset's column behind a column of a leaf: the same (IDENTITY), or transformed by the source."""

    dataset: DatasetRef
    column: str
    subtype: str = "IDENTITY"
    logic: str | None = None


@dataclass(frozen=True)
class LeafDatasets:
    """The datasets behind a leaf.

    ``columns``: what is behind a column, for a leaf whose columns are not those of its datasets. ``whole``: the columns
    by which the source itself selects rows. ``gap``: what cannot be known about it.
    """

    datasets: tuple[DatasetRef, ...] = ()
    columns: Callable[[str], tuple[LeafColumn, ...]] | None = None
    whole: tuple[LeafColumn, ...] = ()
    gap: str | None = None
    in_memory: bool = False
    facts: Facts = field(default_factory=lambda: Facts({"class": ""}))


def read_leaf(facts: Facts, catalogs: Catalogs) -> LeafDatasets:
    rule = _RULES.get(facts["class"])
    if rule is None:
        return LeafDatasets(gap=f"{facts['class']} is a source that Headwater does not know", facts=facts)
    return rule(facts, catalogs)


def _relation(facts: Facts, catalogs: Catalogs) -> LeafDatasets:
    if facts.get("table"):
        return LeafDatasets((table_dataset(facts, catalogs),), facts=facts)
    if facts.get("url"):
        return _jdbc(facts)
    roots = facts.get("roots")
    if roots:
        options = {key.lower(): value for key, value in (facts.get("options") or {}).items()}
        datasets = file_datasets(
            roots, requested=options.get("path"), base=options.get("basepath"), format=format_name(facts)
        )
        if "deltaVersion" in facts:
            datasets = [_with_delta_version(dataset, facts) for dataset in datasets]
        return LeafDatasets(tuple(datasets), facts=facts)
    if facts.get("relation") == "KafkaRelation" and facts.get("kafka"):
        return _kafka({key.lower(): value for key, value in facts["kafka"].items()}, facts)
    return LeafDatasets(gap=f"the data source {facts.get('relation')} does not say where its data is", facts=facts)


def _with_delta_version(dataset: DatasetRef, facts: Facts) -> DatasetRef:
    return replace(dataset, format="delta", version=str(facts["deltaVersion"]))


def _jdbc(facts: Facts) -> LeafDatasets:
    source, text = database(facts["url"]), str(facts.get("query") or "")
    if not text.lstrip().startswith("("):
        return LeafDatasets((source.table(text),), facts=facts)
    try:
        query = read_query(text, source.scheme, source.fold)
    except ValueError as error:
        return LeafDatasets(gap=f"JDBC: {error}", columns=no_columns, facts=facts)
    datasets = tuple(source.table(table) for table in query.tables)
    if query.unclear is not None:
        return LeafDatasets(
            datasets, no_columns, gap=f"JDBC: the query's columns are not known: {query.unclear}", facts=facts
        )
    columns, whole = _query_columns(query, source)
    return LeafDatasets(datasets, columns, whole, facts=facts)


def _query_columns(
    query: DatabaseQuery, source: JdbcDatabase
) -> tuple[Callable[[str], tuple[LeafColumn, ...]], tuple[LeafColumn, ...]]:
    def leaf_column(use: ColumnUse) -> LeafColumn:
        return LeafColumn(source.table(use.table), use.column, use.subtype, use.logic)

    return lambda name: tuple(map(leaf_column, query.of(name))), tuple(map(leaf_column, query.whole))


def no_columns(_name: str) -> tuple[LeafColumn, ...]:
    """For a leaf whose columns cannot be followed to their source."""
    return ()


def _v2_relation(facts: Facts, catalogs: Catalogs) -> LeafDatasets:
    if facts.get("url"):
        return _jdbc(facts)
    roots = facts.get("roots")
    options = {key.lower(): value for key, value in (facts.get("options") or {}).items()}
    if roots:
        datasets = file_datasets(
            roots, requested=options.get("path"), base=options.get("basepath"), format=format_name(facts)
        )
        return LeafDatasets(tuple(datasets), facts=facts)
    if "kafka" in str(facts.get("tableClass", "")).lower():
        return _kafka(options, facts)
    kind = str(facts.get("tableClass") or facts.get("scanClass") or "").rsplit(".", 1)[-1]
    if kind.startswith("Rate"):  # numbers made up by Spark itself, like those of a range
        return LeafDatasets(facts=facts)
    dataset = table_dataset_v2(facts, catalogs)
    if dataset is None:
        return LeafDatasets(gap=f"the data source {kind} does not say where its data is", facts=facts)
    return LeafDatasets((dataset,), facts=facts)


def _kafka(options: Mapping[str, str], facts: Facts) -> LeafDatasets:
    topics = [topic.strip() for topic in options.get("subscribe", options.get("topic", "")).split(",") if topic.strip()]
    datasets = tuple(topic_dataset(options, topic) for topic in topics)
    if datasets:
        return LeafDatasets(datasets, facts=facts)
    pattern = options.get("subscribepattern") or options.get("assign") or "?"
    return LeafDatasets((topic_dataset(options, pattern),), gap=f"Kafka: topics chosen by {pattern}", facts=facts)


def topic_dataset(options: Mapping[str, str], topic: str) -> DatasetRef:
    server = options.get("kafka.bootstrap.servers", "").split(",")[0].strip()
    return DatasetRef(f"kafka://{server}", topic, "TOPIC", uri=f"kafka://{server}", format="kafka")


def table_dataset(facts: Facts, catalogs: Catalogs) -> DatasetRef:
    """A table or view of the session's catalog."""
    view = facts.get("tableType") == "VIEW"
    roots = None if view else facts.get("roots")
    location = facts.get("location") or (roots[0] if roots and len(roots) == 1 else None)
    return catalogs.dataset(
        [facts.get("database") or "default", facts["table"]],
        catalog=facts.get("catalog"),
        location=location,
        provider=(facts.get("provider") or "").lower() or None,
        kind="VIEW" if view else "TABLE",
        version=None if facts.get("deltaVersion") is None else str(facts["deltaVersion"]),
        partitions=tuple(_static_partition(facts)),
    )


def _static_partition(facts: Facts) -> list[dict[str, str]]:
    """The partition that an INSERT names: `partition (day = '2026-11-15')`; one with a dynamic part names none."""
    named = facts.get("staticPartitions")
    if not isinstance(named, Mapping) or not named or any(value is None for value in named.values()):
        return []
    return [{key: str(value) for key, value in named.items()}]


def table_dataset_v2(facts: Facts, catalogs: Catalogs) -> DatasetRef | None:
    """A table of a V2 catalog, or one that a V2 source opened by path; None if its facts state no location."""
    if facts.get("v1Table"):
        return table_dataset(_v1_table(facts), catalogs)
    properties = facts.get("properties") or {}
    path = facts.get("path")
    location = facts.get("location") or facts.get("innerLocation") or properties.get("location")
    location = location or (str(path) if path else None)
    provider = (properties.get("provider") or _provider(facts)).lower() or None
    version = facts.get("version", facts.get("innerVersion", facts.get("deltaVersion")))
    identifier = facts.get("identifier")
    if identifier:
        return catalogs.dataset(
            [*(facts.get("namespace") or ()), identifier],
            catalog=facts.get("catalogName"),
            location=location,
            provider=provider,
            version=None if version is None else str(version),
        )
    return file_dataset(location, format=provider) if location else None


def _v1_table(facts: Facts) -> Facts:
    """The facts of the table of the session's catalog that a V2 table stands for."""
    table: Facts = {
        "class": facts["class"],
        "table": facts["v1Table"],
        "database": facts.get("v1Database"),
        "catalog": facts.get("v1Catalog"),
        "location": facts.get("v1Location"),
        "provider": facts.get("v1Provider"),
        "tableType": facts.get("v1TableType"),
    }
    if "deltaVersion" in facts:
        table["deltaVersion"] = facts["deltaVersion"]
    if "staticPartitions" in facts:
        table["staticPartitions"] = facts["staticPartitions"]
    return table


def _provider(facts: Facts) -> str:
    kind = f"{facts.get('tableClass', '')} {facts.get('innerClass', '')}".lower()
    return next((name for name in ("iceberg", "delta", "hudi") if name in kind), "")


def _sink_in_memory(facts: Facts, _catalogs: Catalogs) -> LeafDatasets:
    return LeafDatasets(
        columns=no_columns, gap="the streaming query that fills this table in memory was not seen", facts=facts
    )


def _in_memory(facts: Facts, _catalogs: Catalogs) -> LeafDatasets:
    return LeafDatasets(in_memory=True, facts=facts)


def _no_dataset(facts: Facts, _catalogs: Catalogs) -> LeafDatasets:
    return LeafDatasets(facts=facts)


def format_name(facts: Facts) -> str | None:
    """`parquet`, `csv`: the short name of the format, else its class."""
    text = facts.get("shortName") or facts.get("format")
    return None if text is None else str(text).split("@")[0].rsplit(".", 1)[-1].removesuffix("FileFormat").lower()


_RULES: Mapping[str, Callable[[Facts, Catalogs], LeafDatasets]] = {
    "LogicalRelation": _relation,
    "HiveTableRelation": _relation,
    "View": _relation,
    "DataSourceV2Relation": _v2_relation,
    "DataSourceV2ScanRelation": _v2_relation,
    "StreamingRelationV2": _v2_relation,
    "StreamingDataSourceV2Relation": _v2_relation,
    "StreamingDataSourceV2ScanRelation": _v2_relation,
    "LogicalRDD": _in_memory,
    "ExternalRDD": _in_memory,
    "LocalRelation": _in_memory,
    "MemoryPlan": _sink_in_memory,
    "Range": _no_dataset,
    "OneRowRelation": _no_dataset,
}
