"""What a producer's events say about each output, counted: the same reading for ours and for anyone else's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Source = tuple[str, str, str]  # namespace, name, field


@dataclass
class Captured:
    """The union over all events that name the output, since a run tells its story in several."""

    inputs: set[tuple[str, str]] = field(default_factory=set)
    direct: set[tuple[str, Source]] = field(default_factory=set)
    indirect: set[tuple[str, Source]] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    completed: bool = False

    @property
    def columns_with_a_source(self) -> int:
        return len({column for column, _ in self.direct})


def by_output(events: Iterable[dict[str, Any]]) -> dict[str, Captured]:
    """By the last part of the output's name, which is the folder that a job writes to."""
    found: dict[str, Captured] = {}
    for event in events:
        for output in event.get("outputs") or []:
            captured = found.setdefault(output["name"].rstrip("/").rpartition("/")[2], Captured())
            captured.completed |= event.get("eventType") == "COMPLETE"
            captured.inputs |= {(one["namespace"], one["name"]) for one in event.get("inputs") or []}
            _add_columns(captured, output.get("facets") or {})
    return found


def _add_columns(captured: Captured, facets: dict[str, Any]) -> None:
    captured.columns |= {column["name"] for column in facets.get("schema", {}).get("fields") or []}
    lineage = facets.get("columnLineage", {})
    for column, sources in lineage.get("fields", {}).items():
        for source in sources["inputFields"]:
            _edges_for(captured, source).add((column, _source(source)))
    for source in lineage.get("dataset") or []:
        captured.indirect.add(("*", _source(source)))


def _edges_for(captured: Captured, source: dict[str, Any]) -> set[tuple[str, Source]]:
    kinds = {one.get("type") for one in source.get("transformations") or []}
    return captured.indirect if kinds == {"INDIRECT"} else captured.direct


def _source(source: dict[str, Any]) -> Source:
    return source["namespace"], source["name"], source["field"]


def read_events(file: Path) -> Iterator[dict[str, Any]]:
    with file.open() as lines:
        for line in lines:
            yield json.loads(line)
