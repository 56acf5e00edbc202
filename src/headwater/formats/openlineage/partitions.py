"""Partition names out of OpenLineage's `subset` facet.

A partition is called by its `identifier`; without one, by its dimensions in Hive's form, `day=2026-11-15/country=PL`,
escaped so that no two different partitions share a name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote


def partition_names(io_facets: Mapping[str, object]) -> tuple[str, ...]:
    """The partitions an input or output was restricted to; empty means the whole dataset."""
    subset = io_facets.get("subset")
    if not isinstance(subset, Mapping):
        return ()
    condition = subset.get("inputCondition") or subset.get("outputCondition")
    if not isinstance(condition, Mapping) or condition.get("type") != "partition":
        return ()
    return tuple(sorted(set(_names(condition.get("partitions")))))


def _names(partitions: object) -> Iterator[str]:
    if not isinstance(partitions, list):
        return
    for partition in partitions:
        if not isinstance(partition, Mapping):
            continue
        identifier, dimensions = partition.get("identifier"), partition.get("dimensions")
        if isinstance(identifier, str):
            yield identifier
        elif isinstance(dimensions, Mapping) and dimensions:
            yield "/".join(f"{_quote(key)}={_value(value)}" for key, value in dimensions.items())


def _value(value: object) -> str:
    return _quote(value if isinstance(value, str) else json.dumps(value, sort_keys=True), safe=" -_.:,+")


def _quote(text: str, safe: str = "") -> str:
    return quote(text, safe=safe, errors="surrogatepass")  # a lone surrogate has no other bytes
