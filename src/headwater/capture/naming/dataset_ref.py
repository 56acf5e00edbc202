"""Where data lives: a dataset's OpenLineage name, and what else its source told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Catalog:
    """Who keeps the table's name: for the `catalog` facet."""

    name: str
    framework: str
    type: str
    metadata_uri: str | None = None
    warehouse_uri: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """``kind`` is the word of the `datasetType` facet. ``also`` is a second name: (namespace, name) of the table whose
    files these are. ``partitions`` are those that were read or written, by name; empty means all of them."""

    namespace: str
    name: str
    kind: str
    uri: str | None = None
    also: tuple[str, str] | None = None
    format: str | None = None
    catalog: Catalog | None = None
    version: str | None = None
    partitions: tuple[Mapping[str, str], ...] = field(default=(), hash=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def short_name(self) -> str:
        """What a person calls it: the table's name where it has one, the last two folders of a path."""
        if self.also:
            return self.also[1]
        return "/".join(self.name.strip("/").split("/")[-2:]) if self.kind == "FILE" else self.name
