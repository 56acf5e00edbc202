"""What a dataset is in a few words: kind, owner, tags, over all of its names.

These are columns of the canonical row, so that lists can be filtered by them. Another name's row has what was said
under that name alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, bindparam, select, update

from headwater.formats.openlineage.describe import kind_owner_and_tags
from headwater.model.runs import Facets
from headwater.store.fold.entities import Entities, chunks
from headwater.store.fold.rows import DatasetRow, live_facets
from headwater.store.schema.stored_rows import FacetDocument
from headwater.store.schema.tables import dataset


def describe_again(conn: Connection, entities: Entities, moved: Collection[int]) -> None:
    """Bring the words up to date for the datasets whose facets or names changed."""
    concerned = entities.to_describe | set(moved)
    if not concerned:
        return
    names = [
        row.id
        for chunk in chunks(sorted(concerned))
        for row in conn.execute(_NAMES, {"canonical": chunk, "ids": chunk})
    ]
    entities.load_dataset_ids(names)
    rows = [entities.dataset_of(i) for i in dict.fromkeys(names)]
    by_canonical: dict[int, list[DatasetRow]] = defaultdict(list)
    for row in rows:
        by_canonical[row.canonical_id].append(row)
    for row in rows:
        same = by_canonical[row.id]
        # One event may speak of it under two names at once: then its own name has the say, and after it the smallest.
        same.sort(key=lambda other: (other is not row, other.namespace, other.name))
        facets = merged_facets(one.facets for one in (same or [row]))
        kind, owner, tags = kind_owner_and_tags(row.namespace, facets)
        if (kind, owner, tags) != (row.kind, row.owner, row.tags):
            row.kind, row.owner, row.tags = kind, owner, tags
            conn.execute(_UPDATE, {"row_id": row.id, "kind": kind, "owner": owner, "tags": tags})
        if not row.contested and any(other.facets for other in same if other is not row):
            row.contested = 1
            conn.execute(_CONTESTED, {"row_id": row.id})


def merged_facets(documents: Iterable[FacetDocument]) -> Facets:
    """What was said under any of a dataset's names; the last word on each facet counts, the first name's if equal."""
    return live_facets(merged_document(documents))


def merged_document(documents: Iterable[FacetDocument]) -> FacetDocument:
    """The same with the stamps."""
    merged: FacetDocument = {}
    for document in documents:
        for name, entry in document.items():
            if name not in merged or entry[:2] > merged[name][:2]:
                merged[name] = entry
    return merged


_NAMES = select(dataset.c.id).where(
    dataset.c.canonical_id.in_(bindparam("canonical", expanding=True))
    | dataset.c.id.in_(bindparam("ids", expanding=True))
)
_CONTESTED = update(dataset).where(dataset.c.id == bindparam("row_id")).values(contested=1)
_UPDATE = (
    update(dataset)
    .where(dataset.c.id == bindparam("row_id"))
    .values(kind=bindparam("kind"), owner=bindparam("owner"), tags=bindparam("tags"))
)
