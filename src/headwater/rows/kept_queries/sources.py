"""The inputs of a stored plan: each leaf with what is needed to read the same rows again, or why that is impossible.

| kind | pinned by | |
| --- | --- | --- |
| files | the list of files | every format of Spark, and tables of the session's catalog |
| delta, iceberg | the version, the snapshot | |
| range | nothing to pin | numbers, or the one row of a query without a source |
| memory | the rows, within the plan | literal rows; a frame made in Python is out of reach |
| jdbc, kafka, other | cannot be | |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from headwater.capture.events.writes import CapturedWrite
from headwater.redaction.shapes import is_secret_name
from headwater.rows.kept_queries.files import MAX_FILES, PinnedFile, read_file_list
from headwater.rows.kept_queries.formats import FORMATS, is_connection, unlisted_options

Facts = Mapping[str, Any]

_LOCATION_OPTIONS = {"path", "paths", "basepath"}  # options that the list of files replaces
_UNPINNED_REASONS = {
    "jdbc": "{name} is a database table, whose rows of that time cannot be asked for",
    "kafka": "{name} is a topic, whose records of that time may be gone",
    "memory": "{name} was made in the program (createDataFrame, an RDD or a checkpoint): write it to files first",
    "other": "{name} is read by {reader}, which cannot be asked for its state of that time",
}


@dataclass(frozen=True)
class KeptSource:
    """One leaf of the plan. ``ids`` are the ids of its columns in the plan."""

    kind: str
    datasets: tuple[tuple[str, str], ...]
    """(namespace, name), as the event has them. Several where one leaf reads several folders; none for a range."""
    ids: tuple[int, ...]
    format: str | None = None
    version: str | None = None
    files: tuple[PinnedFile, ...] = ()

    @property
    def dataset(self) -> tuple[str, str] | None:
        return self.datasets[0] if self.datasets else None


def read_source(document: Facts) -> KeptSource:
    return KeptSource(
        str(document["kind"]),
        tuple((dataset["namespace"], dataset["name"]) for dataset in document.get("datasets") or ()),
        tuple(document["ids"]),
        document.get("format"),
        document.get("version"),
        read_file_list(document["files"]) if "files" in document else (),
    )


def pin_source(facts: Facts, inside: bool, written: CapturedWrite) -> tuple[dict[str, Any], str | None]:
    """The facet member of a leaf, and the reason why it cannot be read again, if there is one."""
    kind = facts.get("kind", "other")
    datasets = _datasets(facts["ids"], written)
    source: dict[str, Any] = {
        "kind": kind,
        "datasets": [{"namespace": namespace, "name": name} for namespace, name in datasets],
        "ids": list(facts["ids"]),
    }
    name = datasets[0][1] if datasets else f"a {facts['class']}"
    if kind == "files":
        return source, _pin_files(source, facts, name, written)
    if kind in ("delta", "iceberg"):
        source |= {key: facts[key] for key in ("version", "path", "table") if facts.get(key) is not None}
        source |= {"format": kind, "options": _options(facts.get("options") or {})}
        return source, None if "version" in source else f"{name} had no snapshot yet"
    if kind == "range" or (kind == "memory" and inside):
        return source, None
    return source, _UNPINNED_REASONS[kind].format(name=name, reader=facts.get("relation") or facts["class"])


def _pin_files(source: dict[str, Any], facts: Facts, name: str, written: CapturedWrite) -> str | None:
    source |= {
        "format": facts["format"],
        "options": _options(facts.get("options") or {}),
        "schema": facts["schema"],
        "partitions": facts["partitions"],
    }
    if source["format"].lower() not in FORMATS:
        return f"{name} is read as {source['format']}, which is not kept: {', '.join(sorted(FORMATS))} are"
    if refused := unlisted_options(source["options"]):
        return f"{name} is read with {', '.join(refused)}, which no kept plan has among its options"
    if "files" not in facts:
        return f"{name} has {facts['count']:,} files; up to {MAX_FILES:,} are kept"
    source["files"] = facts["files"]
    columns = [field["name"] for field in json.loads(facts["partitions"])["fields"]]
    if columns and facts["count"] and partition_base(read_file_list(facts["files"]), columns) is None:
        return f"the partitions of {name} do not lie in folders of one folder that are named after them"
    if not facts["scanned"] and written.target.key in {
        (dataset["namespace"], dataset["name"]) for dataset in source["datasets"]
    }:
        return f"{name} is read and written at once, and which of its files were read is not certain"
    return None


def partition_base(files: Iterable[PinnedFile], columns: Sequence[str]) -> str | None:
    """The folder that contains the partition folders; None if the files are not in partition folders of one folder."""
    bases = {_folder_above(folder, columns) for folder in {file.path.rsplit("/", 1)[0] for file in files}}
    return bases.pop() if len(bases) == 1 else None


def _folder_above(folder: str, columns: Sequence[str]) -> str | None:
    steps = folder.split("/")
    cut = len(steps) - len(columns)
    named = [unquote(step.split("=", 1)[0]).lower() if "=" in step else None for step in steps[cut:]]
    return "/".join(steps[:cut]) if named == [column.lower() for column in columns] else None


def _datasets(ids: Iterable[int], written: CapturedWrite) -> list[tuple[str, str]]:
    """The datasets that the event names for a leaf, found by the ids of its columns, including those below a view."""
    column_ids = set(ids)
    keys = [item.dataset.key for item in written.inputs if column_ids & item.ids and item.dataset.kind != "VIEW"]
    for view in written.views:
        keys += _datasets(column_ids, view.written)
    return list(dict.fromkeys(keys))


def _options(options: Mapping[str, Any]) -> dict[str, str]:
    """Options without possible secrets: a session that restores a plan has its own."""
    texts = {key: str(value) for key, value in options.items() if value is not None}
    return {key: value for key, value in texts.items() if not _is_omitted(key)}


def _is_omitted(option: str) -> bool:
    return option.lower() in _LOCATION_OPTIONS or is_connection(option) or is_secret_name(option)
