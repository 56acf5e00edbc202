"""A dataset's OpenLineage name, with what its source states about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog that has the table: for the `catalog` facet."""

    name: str
    framework: str
    type: str
    metadata_uri: str | None = None
    warehouse_uri: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetRef:
    """``kind`` is the value of the `datasetType` facet. ``symlink`` is a second name: (namespace, name) of the table
    whose files these are. ``partitions`` are those that were read or written, by column; empty means all of them."""

    namespace: str
    name: str
    kind: str
    uri: str | None = None
    symlink: tuple[str, str] | None = None
    format: str | None = None
    catalog: Catalog | None = None
    version: str | None = None
    partitions: tuple[Mapping[str, str], ...] = field(default=(), hash=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def short_name(self) -> str:
        """The short form for job names: the table's name if it has one, else the last two folders of a path."""
        if self.symlink:
            return self.symlink[1]
        return "/".join(self.name.strip("/").split("/")[-2:]) if self.kind == "FILE" else self.name
