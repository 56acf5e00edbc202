"""Symlinks: several names, one dataset.

A dataset's `symlinks` facet lists other names for it. Such a name resolves to the dataset that claimed it last, so a
catalog name follows a table that moved, and two tables that had the name one after the other stay two. Claims may
chain, and may run in a circle, where the smallest name stands for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, delete, insert, or_, select, update

from headwater.formats.openlineage.describe import aliases
from headwater.store.engine.dialect import dialect_of
from headwater.store.fold.entities import Entities
from headwater.store.fold.rows import DatasetRow, live_facets
from headwater.store.schema.tables import dataset, symlink


def resolve_aliases(conn: Connection, entities: Entities) -> set[int]:
    """Follow up on the `symlinks` facets just stated; the ids of datasets whose canonical name changed, old and new.

    What was folded under an old id has to be folded again.
    """
    stated = entities.symlinks_stated
    if not stated:
        return set()
    claimed = {row.id: aliases(live_facets(row.facets)) for row in stated.values()}
    entities.load_datasets({alias for names in claimed.values() for alias in names})
    wanted = {
        (owner, entities.dataset(alias).id)
        for owner, names in claimed.items()
        for alias in names
        if entities.dataset(alias).id != owner
    }
    touched = {alias for _, alias in wanted}
    links = {
        (row.dataset_id, row.alias_id)
        for row in conn.execute(
            select(symlink).where(
                or_(
                    dialect_of(conn).one_of(symlink.c.dataset_id, claimed),
                    dialect_of(conn).one_of(symlink.c.alias_id, touched),
                )
            )
        )
    }
    stale = {link for link in links if link[0] in claimed and link not in wanted}
    for owner, alias in stale:
        conn.execute(delete(symlink).where(symlink.c.dataset_id == owner, symlink.c.alias_id == alias))
    new = wanted - links
    if new:
        conn.execute(insert(symlink), [{"dataset_id": o, "alias_id": a} for o, a in sorted(new)])
    return _resolve(conn, entities, touched | {alias for _, alias in stale})


def _resolve(conn: Connection, entities: Entities, touched: Collection[int]) -> set[int]:
    members = _component(conn, touched)
    entities.load_dataset_ids(members.keys() | {owner for owners in members.values() for owner in owners})
    rows = entities.memory.dataset_by_id
    rivals = {owner for owners in members.values() if len(owners) > 1 for owner in owners}
    for owner in rivals:
        if not rows[owner].contested:
            rows[owner].contested = 1
            conn.execute(update(dataset).where(dataset.c.id == owner).values(contested=1))
    claimant = {alias: _last_claimant(rows[owner] for owner in owners) for alias, owners in members.items() if owners}
    moved = set()
    for member in members:
        canonical = _follow(member, claimant, rows)
        row = rows[member]
        if row.canonical_id != canonical:
            moved |= {row.canonical_id, canonical}
            row.canonical_id = canonical
            conn.execute(update(dataset).where(dataset.c.id == member).values(canonical_id=canonical))
    return moved


def _component(conn: Connection, start: Iterable[int]) -> dict[int, set[int]]:
    """Every dataset tied to ``start`` by symlinks, in either direction, with the datasets that claim it."""
    claimants: dict[int, set[int]] = {}
    frontier = set(start)
    while frontier:
        claimants.update({member: set() for member in frontier})
        linked = or_(
            dialect_of(conn).one_of(symlink.c.dataset_id, frontier),
            dialect_of(conn).one_of(symlink.c.alias_id, frontier),
        )
        found: set[int] = set()
        for link in conn.execute(select(symlink).where(linked)):
            found |= {link.dataset_id, link.alias_id}
            if link.alias_id in claimants:
                claimants[link.alias_id].add(link.dataset_id)
        frontier = found - claimants.keys()
    return claimants


def _last_claimant(owners: Iterable[DatasetRow]) -> int:
    """Of several in one event, which have one stamp, the one with the smallest name."""
    by_name = sorted(owners, key=lambda row: (row.namespace, row.name))
    return max(by_name, key=lambda row: tuple(row.facets["symlinks"][:2])).id


def _follow(member: int, claimant: Mapping[int, int], rows: Mapping[int, DatasetRow]) -> int:
    trail = [member]
    while (owner := claimant.get(trail[-1])) is not None:
        if owner in trail:
            circle = trail[trail.index(owner) :]
            return min(circle, key=lambda one: (rows[one].namespace, rows[one].name))
        trail.append(owner)
    return trail[-1]
