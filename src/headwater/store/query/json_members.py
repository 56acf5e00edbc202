"""Members of JSON that a producer sent, read where they have the form that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def object_at(document: object, *path: str) -> Mapping[str, object]:
    """The object at a path; an empty one where there is none."""
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else {}


def objects_in(document: Mapping[str, object], name: str) -> Iterator[Mapping[str, object]]:
    """The objects of a list."""
    items = document.get(name)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, Mapping))
