"""What a command writes: from the facts about it to the dataset it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headwater.capture.listener.plan_facts import LOGICAL
from headwater.capture.naming.catalogs import Catalogs
from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.jdbc import database
from headwater.capture.naming.paths import file_place
from headwater.capture.naming.plan_sources import (
    Facts,
    format_name,
    read_leaf,
    table_place,
    table_place_v2,
    topic_place,
)

_SINK = re.compile(r"(File|Delta)Sink\[(.*)\]", re.S)


def read_target(nodes: Sequence[Facts], catalogs: Catalogs) -> Place | None:
    """The dataset that the command at the root of the survey writes; None where it keeps nothing (noop, console)."""
    command = nodes[0]
    if command.get("table"):
        path = command.get("path")
        facts = command if path is None or command.get("location") else {**command, "location": str(path)}
        if command["class"] in ("CreateViewCommand", "AlterViewAsCommand"):
            return _view(command, catalogs)
        return table_place(facts, catalogs)
    if command.get("provider") and "options" in command:
        return _data_source(command)
    if command.get("sink"):
        match = _SINK.fullmatch(str(command["sink"]))
        return file_place(match[2], format="delta" if match[1] == "Delta" else None) if match else None
    if command.get("path"):
        return file_place(str(command["path"]), format=format_name(command))
    return _below(nodes, catalogs)


def _view(command: Facts, catalogs: Catalogs) -> Place | None:
    """Spark writes out the database of a view that it keeps; a temporary one is none of ours."""
    if not command.get("database") or "Persisted" not in str(command.get("viewType", "Persisted")):
        return None
    return table_place({**command, "tableType": "VIEW"}, catalogs)


def _data_source(command: Facts) -> Place | None:
    options: Mapping[str, Any] = {key.lower(): value for key, value in command["options"].items()}
    provider = str(command["provider"]).lower()
    if "url" in options and ("dbtable" in options or "query" in options):
        return database(options["url"]).table(options.get("dbtable") or "?")
    if "kafka" in provider:
        return topic_place(options, options.get("topic", "?"))
    if options.get("path"):
        known = next((name for name in ("delta", "hudi", "iceberg") if name in provider), None)
        return file_place(str(options["path"]), format=known)
    return None


def _below(nodes: Sequence[Facts], catalogs: Catalogs) -> Place | None:
    """V2 commands and those of table formats have the table below them: the first leaf of the first child. Of a command
    not known here nobody can say that its first leaf is what it writes."""
    command = nodes[0]
    if command["class"] not in LOGICAL["children"]:
        return None
    if "tableClass" in command:  # a streaming write
        if "kafka" in str(command["tableClass"]).lower():
            options = {key.lower(): value for key, value in (command.get("options") or {}).items()}
            return topic_place(options, options.get("topic", "?"))
        return table_place_v2(command, catalogs)
    at = next((place for place, node in enumerate(nodes) if node["parent"] == 0), None)
    while at is not None and not _is_table(nodes[at]):
        at = next((place for place, node in enumerate(nodes) if node["parent"] == at), None)
    if at is None:
        return None
    node = nodes[at]
    if node["class"] == "ResolvedIdentifier":
        return table_place_v2({**node, "location": command.get("location"), "properties": command}, catalogs)
    places = read_leaf(node, catalogs).places
    return places[0] if len(places) == 1 else None


def _is_table(node: Facts) -> bool:
    return node["class"] in ("ResolvedIdentifier", "DataSourceV2Relation", "LogicalRelation", "HiveTableRelation")
