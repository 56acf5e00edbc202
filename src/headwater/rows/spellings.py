"""The ways to write one dataset: a table with or without catalog and database, a path, or a URI."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from headwater.capture.naming.catalogs import SESSION_CATALOG
from headwater.capture.naming.paths import location_name
from headwater.model.names import Dataset

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_TABLE = re.compile(r"[^./\\:]+(\.[^./\\:]+){0,3}")
_CATALOG_PREFIX = "spark.sql.catalog."


def dataset_of_path(path: str) -> Dataset:
    """The dataset of a path or URI that a user typed."""
    return Dataset(*location_name(_canonical_uri(path) if _URI.match(path) else os.path.abspath(path)))


def _canonical_uri(uri: str) -> str:
    """`file:/x` as `file:///x`."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)", r"\1:///", uri)


def spellings(text: str, database: str, settings: Mapping[str, str]) -> Iterator[str | Dataset]:
    """What a name that the store does not know may stand for. ``settings`` are those of the session, with its
    catalogs."""
    table = text.replace("`", "")
    if _TABLE.fullmatch(table):
        first, dot, rest = table.partition(".")
        if not dot:
            yield f"{database}.{table}"
        elif first == SESSION_CATALOG or f"{_CATALOG_PREFIX}{first}" in settings:
            yield rest if "." in rest else f"{database}.{rest}"
        elif table != text:
            yield table
    yield dataset_of_path(text)


def plain_spelling(text: str) -> str:
    """A source's name without the session's catalog and quotes; a URI as the name of its dataset."""
    if _URI.match(text) and not text.startswith("file//"):
        return str(dataset_of_path(text))
    return text.replace("`", "").removeprefix(f"{SESSION_CATALOG}.").rstrip("/")
