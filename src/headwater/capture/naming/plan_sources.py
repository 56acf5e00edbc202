"""What a plan reads: from the facts about one leaf to the datasets behind it.

One rule a kind of leaf, tried by the leaf's class. A leaf may stand for several datasets (a read of two folders, a
query over JDBC), for data of the program itself, or for none (a range of numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.jdbc import Database, database
from headwater.capture.naming.paths import file_place, file_places
from headwater.capture.naming.queries import Query, Used, read_query

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Behind:
    """A dataset's column behind a leaf's: the same (IDENTITY), or what the source made of it."""

    place: Place
    column: str
    subtype: str = "IDENTITY"
    logic: str | None = None


@dataclass(frozen=True)
class Reading:
    """The datasets behind a leaf.

    ``columns``: what is behind a column, for a leaf whose columns are not simply those of its datasets. ``whole``: the
    columns by which the source itself chose its rows. ``gap``: what could not be known of it.
    """

    places: tuple[Place, ...] = ()
    columns: Callable[[str], tuple[Behind, ...]] | None = None
    whole: tuple[Behind, ...] = ()
    gap: str | None = None
    in_memory: bool = False
    facts: Facts = field(default_factory=dict)


def read_leaf(facts: Facts, catalogs: Catalogs) -> Reading:
    rule = _RULES.get(facts["class"])
    if rule is None:
        return Reading(gap=f"{facts['class']} is a source that Headwater does not know", facts=facts)
    return rule(facts, catalogs)


def _relation(facts: Facts, catalogs: Catalogs) -> Reading:
    if facts.get("table"):
        return Reading((table_place(facts, catalogs),), facts=facts)
    if facts.get("url"):
        return _jdbc(facts)
    roots = facts.get("roots")
    if roots:
        options = {key.lower(): value for key, value in (facts.get("options") or {}).items()}
        places = file_places(roots, asked=options.get("path"), base=options.get("basepath"), format=format_name(facts))
        if "deltaVersion" in facts:
            places = [_versioned(place, facts) for place in places]
        return Reading(tuple(places), facts=facts)
    if facts.get("relation") == "KafkaRelation" and facts.get("kafka"):
        return _kafka({key.lower(): value for key, value in facts["kafka"].items()}, facts)
    return Reading(gap=f"the data source {facts.get('relation')} does not say where its data is", facts=facts)


def _versioned(place: Place, facts: Facts) -> Place:
    return replace(place, format="delta", version=str(facts["deltaVersion"]))


def _jdbc(facts: Facts) -> Reading:
    source, text = database(facts["url"]), str(facts.get("query") or "")
    if not text.lstrip().startswith("("):
        return Reading((source.table(text),), facts=facts)
    try:
        query = read_query(text, source.scheme, source.fold)
    except ValueError as trouble:
        return Reading(gap=f"JDBC: {trouble}", columns=no_columns, facts=facts)
    places = tuple(source.table(table) for table in query.tables)
    if query.unclear is not None:
        return Reading(places, no_columns, gap=f"JDBC: the query's columns are not known: {query.unclear}", facts=facts)
    columns, whole = _query_columns(query, source)
    return Reading(places, columns, whole, facts=facts)


def _query_columns(query: Query, source: Database) -> tuple[Callable[[str], tuple[Behind, ...]], tuple[Behind, ...]]:
    def behind(used: Used) -> Behind:
        return Behind(source.table(used.table), used.column, used.subtype, used.logic)

    return lambda name: tuple(map(behind, query.of(name))), tuple(map(behind, query.whole))


def no_columns(_name: str) -> tuple[Behind, ...]:
    """Nothing is known of where a column comes from."""
    return ()


def _table_v2(facts: Facts, catalogs: Catalogs) -> Reading:
    if facts.get("url"):
        return _jdbc(facts)
    roots = facts.get("roots")
    options = {key.lower(): value for key, value in (facts.get("options") or {}).items()}
    if roots:
        places = file_places(roots, asked=options.get("path"), base=options.get("basepath"), format=format_name(facts))
        return Reading(tuple(places), facts=facts)
    if "kafka" in str(facts.get("tableClass", "")).lower():
        return _kafka(options, facts)
    kind = str(facts.get("tableClass") or facts.get("scanClass") or "").rsplit(".", 1)[-1]
    if kind.startswith("Rate"):  # numbers made up by Spark itself, like those of a range
        return Reading(facts=facts)
    place = table_place_v2(facts, catalogs)
    if place is None:
        return Reading(gap=f"the data source {kind} does not say where its data is", facts=facts)
    return Reading((place,), facts=facts)


def _kafka(options: Mapping[str, str], facts: Facts) -> Reading:
    topics = [topic.strip() for topic in options.get("subscribe", options.get("topic", "")).split(",") if topic.strip()]
    places = tuple(topic_place(options, topic) for topic in topics)
    if places:
        return Reading(places, facts=facts)
    pattern = options.get("subscribepattern") or options.get("assign") or "?"
    return Reading((topic_place(options, pattern),), gap=f"Kafka: topics chosen by {pattern}", facts=facts)


def topic_place(options: Mapping[str, str], topic: str) -> Place:
    server = options.get("kafka.bootstrap.servers", "").split(",")[0].strip()
    return Place(f"kafka://{server}", topic, "TOPIC", uri=f"kafka://{server}", format="kafka")


def table_place(facts: Facts, catalogs: Catalogs, prefix: str = "") -> Place:
    """A table or view of the session's catalog."""

    def fact(name: str) -> Any:
        return facts.get(f"{prefix}{name[0].upper()}{name[1:]}" if prefix else name)

    view = fact("tableType") == "VIEW"
    roots = None if view or prefix else facts.get("roots")
    location = fact("location") or (roots[0] if roots and len(roots) == 1 else None)
    return catalogs.place(
        [fact("database") or "default", fact("table")],
        catalog=fact("catalog"),
        location=location,
        provider=(fact("provider") or "").lower() or None,
        kind="VIEW" if view else "TABLE",
        version=None if facts.get("deltaVersion") is None else str(facts["deltaVersion"]),
        partitions=tuple(_static(facts)),
    )


def _static(facts: Facts) -> list[dict[str, str]]:
    """The partition an INSERT names: `partition (day = '2026-11-15')`; one with a dynamic part names none."""
    named = facts.get("staticPartitions")
    if not isinstance(named, Mapping) or not named or any(value is None for value in named.values()):
        return []
    return [{key: str(value) for key, value in named.items()}]


def table_place_v2(facts: Facts, catalogs: Catalogs) -> Place | None:
    """A table of a V2 catalog, or one that a V2 source opened by path; None where it says nothing of its place."""
    if facts.get("v1Table"):
        return table_place(facts, catalogs, "v1")
    properties = facts.get("properties") or {}
    path = facts.get("path")
    location = facts.get("location") or facts.get("innerLocation") or properties.get("location")
    location = location or (str(path) if path else None)
    provider = (properties.get("provider") or _provider(facts)).lower() or None
    version = facts.get("version", facts.get("innerVersion", facts.get("deltaVersion")))
    identifier = facts.get("identifier")
    if identifier:
        return catalogs.place(
            [*(facts.get("namespace") or ()), identifier],
            catalog=facts.get("catalogName"),
            location=location,
            provider=provider,
            version=None if version is None else str(version),
        )
    return file_place(location, format=provider) if location else None


def _provider(facts: Facts) -> str:
    kind = f"{facts.get('tableClass', '')} {facts.get('innerClass', '')}".lower()
    return next((name for name in ("iceberg", "delta", "hudi") if name in kind), "")


def _in_memory(facts: Facts, _catalogs: Catalogs) -> Reading:
    return Reading(in_memory=True, facts=facts)


def _nothing(facts: Facts, _catalogs: Catalogs) -> Reading:
    return Reading(facts=facts)


def format_name(facts: Facts) -> str | None:
    """`parquet`, `csv`: as the format calls itself, else after its class."""
    text = facts.get("shortName") or facts.get("format")
    return None if text is None else str(text).split("@")[0].rsplit(".", 1)[-1].removesuffix("FileFormat").lower()


_RULES: Mapping[str, Callable[[Facts, Catalogs], Reading]] = {
    "LogicalRelation": _relation,
    "HiveTableRelation": _relation,
    "View": _relation,
    "DataSourceV2Relation": _table_v2,
    "DataSourceV2ScanRelation": _table_v2,
    "StreamingRelationV2": _table_v2,
    "StreamingDataSourceV2Relation": _table_v2,
    "StreamingDataSourceV2ScanRelation": _table_v2,
    "LogicalRDD": _in_memory,
    "ExternalRDD": _in_memory,
    "LocalRelation": _in_memory,
    "Range": _nothing,
    "OneRowRelation": _nothing,
}
