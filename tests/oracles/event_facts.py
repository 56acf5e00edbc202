"""Events as the model reads them.

Names are triples, ``("dataset", namespace, name)`` or ``("job", namespace, name)``; times are microseconds since the
epoch. The stamp of an event, its time and then the digest of its content, identifies it and orders its statements.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import quote

Json = Mapping[str, Any]
Name = tuple[str, str, str]
Stamp = tuple[int, str]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment_of(text: str) -> int:
    read = datetime.fromisoformat(text)
    return micros(read if read.tzinfo else read.replace(tzinfo=UTC))


def dataset_name(item: Json) -> Name:
    return "dataset", item["namespace"], item["name"]


def job_name(item: Json) -> Name:
    return "job", item["namespace"], item["name"]


def by_name(name: Name) -> tuple[str, str]:
    return name[1], name[2]


def deleted(facet: Json) -> bool:
    return facet.get("_deleted") is True


@dataclass(frozen=True)
class Use:
    """A dataset in one event, or in all events of a run."""

    name: Name
    facets: Json
    io_facets: Json
    partitions: frozenset[str]


@dataclass(frozen=True)
class EventFacts:
    """One event."""

    body: Json

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @cached_property
    def time(self) -> int:
        return moment_of(self.body["eventTime"])

    @property
    def stamp(self) -> Stamp:
        return self.time, self.digest

    @property
    def kind(self) -> str:
        return next(kind for kind in ("run", "job", "dataset") if kind in self.body)

    @property
    def type(self) -> str | None:
        return self.body.get("eventType")

    @property
    def run_id(self) -> str:
        return str(self.body["run"]["runId"])

    @property
    def job(self) -> Name:
        return job_name(self.body["job"])

    @property
    def job_facets(self) -> Json:
        return self.body["job"].get("facets", {}) if "job" in self.body else {}

    @property
    def run_facets(self) -> Json:
        return self.body["run"].get("facets", {}) if "run" in self.body else {}

    @cached_property
    def inputs(self) -> list[Use]:
        return [_use(item, "inputFacets") for item in self.body.get("inputs", [])]

    @cached_property
    def outputs(self) -> list[Use]:
        return [_use(item, "outputFacets") for item in self.body.get("outputs", [])]

    @cached_property
    def dataset(self) -> Use | None:
        return _use(self.body["dataset"], "") if self.kind == "dataset" else None

    @property
    def uses(self) -> list[Use]:
        return [*self.inputs, *self.outputs, *([self.dataset] if self.dataset else [])]


def _use(item: Json, io_key: str) -> Use:
    io_facets = item.get(io_key, {})
    return Use(dataset_name(item), item.get("facets", {}), io_facets, frozenset(_partitions(io_facets)))


def _partitions(io_facets: Json) -> Iterator[str]:
    subset = io_facets.get("subset", {})
    condition = subset.get("inputCondition") or subset.get("outputCondition") or {}
    if condition.get("type") != "partition":
        return
    for partition in condition["partitions"]:
        if "identifier" in partition:
            yield partition["identifier"]
        else:
            yield "/".join(f"{quote(k, safe='')}={quote(v, safe=' ')}" for k, v in partition["dimensions"].items())


def add_up(uses: Iterable[Use]) -> dict[Name, Use]:
    """Uses in the order of their stamps, summed up by dataset."""
    same: dict[Name, list[Use]] = defaultdict(list)
    for use in uses:
        same[use.name].append(use)
    return {
        name: Use(
            name,
            latest_statements(use.facets for use in parts),
            latest_statements(use.io_facets for use in parts),
            frozenset().union(*(use.partitions for use in parts)),
        )
        for name, parts in same.items()
    }


def latest_statements(layers: Iterable[Json]) -> Json:
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= layer
    return {name: facet for name, facet in merged.items() if not deleted(facet)}
