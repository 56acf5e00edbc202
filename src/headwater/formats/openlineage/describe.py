"""What a dataset's facets state about it: its kind, its owner, its tags, its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.formats.openlineage.text import is_storable
from headwater.model.names import Dataset
from headwater.model.runs import Facets

_KINDS = frozenset({"table", "view", "report", "model", "file", "stream"})
_SYNONYMS = {"topic": "stream", "queue": "stream", "external_table": "table", "materialized_view": "view"}
_FILE_SCHEMES = frozenset({"file", "s3", "s3a", "gs", "hdfs", "abfss", "wasbs", "dbfs", "ftp", "sftp", "inmemory"})
_STREAM_SCHEMES = frozenset({"kafka", "pubsub", "kinesis"})


def kind_owner_and_tags(namespace: str, facets: Facets) -> tuple[str, str | None, list[str]]:
    """Kind, owner and tags."""
    return dataset_kind(namespace, facets), first_owner(facets), tag_names(facets)


def dataset_kind(namespace: str, facets: Facets) -> str:
    """From the `datasetType` facet, else from the scheme of the namespace."""
    stated = _text(facets.get("datasetType"), "datasetType")
    if stated:
        kind = _SYNONYMS.get(stated.lower(), stated.lower())
        if kind in _KINDS:
            return kind
    scheme = namespace.split(":", 1)[0].lower()
    if scheme in _STREAM_SCHEMES:
        return "stream"
    # A table in a lake is named by its location, but has a catalog name among its symlinks.
    is_table = any(kind == "TABLE" for _, kind in _symlinks(facets))
    return "file" if scheme in _FILE_SCHEMES and not is_table else "table"


def first_owner(facets: Facets) -> str | None:
    for owner in _items(facets.get("ownership"), "owners"):
        name = _text(owner, "name")
        if name is not None:
            return name
    return None


def tag_names(facets: Facets) -> list[str]:
    """`key` or `key=value`; tags of columns are left out."""
    tags = set()
    for tag in _items(facets.get("tags"), "tags"):
        key, value = _text(tag, "key"), _text(tag, "value")
        if key is not None and tag.get("field") is None:
            tags.add(key if value in (None, "", "true") else f"{key}={value}")
    return sorted(tags)


def aliases(facets: Facets) -> frozenset[Dataset]:
    return frozenset(dataset for dataset, _ in _symlinks(facets))


def schema_fields(facets: Facets) -> list[Mapping[str, object]]:
    return [f for f in _items(facets.get("schema"), "fields") if isinstance(f.get("name"), str)]


def version_label(facets: Facets) -> str | None:
    return _text(facets.get("version"), "datasetVersion")


def _symlinks(facets: Facets) -> Iterator[tuple[Dataset, object]]:
    for item in _items(facets.get("symlinks"), "identifiers"):
        namespace, name = _text(item, "namespace"), _text(item, "name")
        if namespace is not None and name is not None:
            yield Dataset(namespace, name), item.get("type")


def _items(facet: object, key: str) -> Iterator[Mapping[str, object]]:
    items = facet.get(key) if isinstance(facet, Mapping) else None
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, Mapping))


def _text(item: object, key: str) -> str | None:
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, str) and is_storable(value) else None
