"""Which runs had written what a run read, when it began."""

from __future__ import annotations

from sqlalchemy import select

from headwater.model.lineage import Origin
from headwater.store.access.view import View
from headwater.store.schema.stored_rows import StoredRun

MOST = 100
"""Of a table with very many partitions each may be of another run; the newest are told."""


def runs_before(view: View, reader: StoredRun) -> list[bytes]:
    """Keys of certified runs, those that wrote last first; of the partitions that were read, where that is known."""
    tables = view.tables
    dataset, run, run_dataset, version = tables.dataset, tables.run, tables.run_dataset, tables.version
    moment = reader.first_event_at if reader.started_at is None else reader.started_at
    inputs = (
        select(dataset.c.canonical_id)
        .join(run_dataset, run_dataset.c.dataset_id == dataset.c.id)
        .where(run_dataset.c.run_id == reader.id, run_dataset.c.direction == "input")
    )
    written = (
        select(version.c.dataset_id, version.c.partition_id, run.c.key)
        .join(run, run.c.id == version.c.run_id)
        .where(
            version.c.dataset_id.in_(inputs),
            version.c.origin == Origin.RUN,
            version.c.written_at <= moment,
            version.c.valid_to > moment,
            run.c.id != reader.id,
            run.c.key.in_(select(tables.certificate.c.run_key)),
        )
        .order_by(version.c.written_at.desc(), version.c.id.desc())
    )
    read = _partitions_read(view, reader.id)
    keys: dict[bytes, None] = {}
    for dataset_id, partition_id, key in view.execute(written):
        parts = read.get(dataset_id, {None})
        if partition_id is None or None in parts or partition_id in parts:
            keys.setdefault(bytes(key))
        if len(keys) == MOST:
            break
    return list(keys)


def _partitions_read(view: View, run_id: int) -> dict[int, set[int | None]]:
    """By dataset; None among them where it was read as a whole."""
    lineage = view.tables.lineage
    found: dict[int, set[int | None]] = {}
    rows = select(lineage.c.upstream_id, lineage.c.upstream_partition_id).where(lineage.c.run_id == run_id)
    for upstream_id, partition_id in view.execute(rows):
        found.setdefault(upstream_id, set()).add(partition_id)
    return found
