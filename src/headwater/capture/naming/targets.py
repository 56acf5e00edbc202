"""What a command writes: from the facts about it to its target dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headwater.capture.listener.plan_facts import LOGICAL, Facts
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jdbc import database
from headwater.capture.naming.paths import file_dataset
from headwater.capture.naming.plan_sources import (
    format_name,
    read_leaf,
    table_dataset,
    table_dataset_v2,
    topic_dataset,
)

_SINK = re.compile(r"(File|Delta)Sink\[(.*)\]", re.S)


def read_target(nodes: Sequence[Facts], catalogs: Catalogs) -> DatasetRef | None:
    """The dataset that the command at the root of the plan writes; None if it stores nothing (noop, console)."""
    command = nodes[0]
    if command.get("table"):
        path = command.get("path")
        facts = command if path is None or command.get("location") else {**command, "location": str(path)}
        if command["class"] in ("CreateViewCommand", "AlterViewAsCommand"):
            return _view(command, catalogs)
        return table_dataset(facts, catalogs)
    if command.get("provider") and "options" in command:
        return _data_source(command)
    if command.get("sink"):
        match = _SINK.fullmatch(str(command["sink"]))
        return file_dataset(match[2], format="delta" if match[1] == "Delta" else None) if match else None
    if command.get("path"):
        return file_dataset(str(command["path"]), format=format_name(command))
    return _table_below(nodes, catalogs)


def _view(command: Facts, catalogs: Catalogs) -> DatasetRef | None:
    """Spark states the database of a persistent view; a temporary one is not captured."""
    if not command.get("database") or "Persisted" not in str(command.get("viewType", "Persisted")):
        return None
    return table_dataset({**command, "tableType": "VIEW"}, catalogs)


def _data_source(command: Facts) -> DatasetRef | None:
    options: Mapping[str, str] = {key.lower(): value for key, value in command["options"].items()}
    provider = str(command["provider"]).lower()
    if "url" in options and ("dbtable" in options or "query" in options):
        return database(options["url"]).table(options.get("dbtable") or "?")
    if "kafka" in provider:
        return topic_dataset(options, options.get("topic", "?"))
    if options.get("path"):
        table_format = next((name for name in ("delta", "hudi", "iceberg") if name in provider), None)
        return file_dataset(str(options["path"]), format=table_format)
    return None


def _table_below(nodes: Sequence[Facts], catalogs: Catalogs) -> DatasetRef | None:
    """V2 commands and those of table formats have the table below them: the first leaf of the first child. Of an
    unknown command, the first leaf need not be its target."""
    command = nodes[0]
    if command["class"] not in LOGICAL["children"]:
        return None
    if "tableClass" in command and not command["tableClass"].endswith("Relation"):  # a streaming write, without one
        if "kafka" in str(command["tableClass"]).lower():
            options = {key.lower(): value for key, value in (command.get("options") or {}).items()}
            return topic_dataset(options, options.get("topic", "?"))
        return table_dataset_v2(command, catalogs)
    index = next((child_index for child_index, node in enumerate(nodes) if node["parent"] == 0), None)
    while index is not None and not _is_table(nodes[index]):
        index = next((child_index for child_index, node in enumerate(nodes) if node["parent"] == index), None)
    if index is None:
        return None
    node = nodes[index]
    if node["class"] == "ResolvedIdentifier":
        created: Facts = {**node, "location": command.get("location")}
        if "provider" in command:
            created["properties"] = {"provider": command["provider"] or ""}
        return table_dataset_v2(created, catalogs)
    datasets = read_leaf(node, catalogs).datasets
    return datasets[0] if len(datasets) == 1 else None


def _is_table(node: Facts) -> bool:
    return node["class"] in ("ResolvedIdentifier", "DataSourceV2Relation", "LogicalRelation", "HiveTableRelation")
