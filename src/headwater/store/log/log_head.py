"""Where a store stands: the head of its audit log, the last number given out in each table, and the limit that it folds
events under.

The writer gives out the numbers itself. There is only one writer, so a row can be referred to before it is
stored: no statement has to wait for another's answer.

Every transaction that changes anything moves the head, whose hash covers all that came before. A store that stands
where we left it is therefore the store we left.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Table, func, select

from headwater.formats.openlineage.flows import MAX_DIRECT_EDGES
from headwater.store.engine.prepared import Prepared, Row
from headwater.store.schema.tables import audit, dataset, event, graph_limit, job, label, run, version

GENESIS = bytes(32)
"""What stands before the first entry of the audit log."""


@dataclass
class Standing:
    seq: int
    hash: bytes
    event: int = 0
    dataset: int = 0
    job: int = 0
    run: int = 0
    version: int = 0
    label: int = 0
    hub: int = 0
    """The last, which is the least: hubs are rows of ``dataset`` whose numbers are below zero."""
    max_direct_edges: int = MAX_DIRECT_EDGES
    """See ``store/fold/edge_limits.py``."""

    @classmethod
    def told(cls, row: Row) -> Standing:
        """From the one row that answers :data:`STANDING`."""
        seq, head, *numbers, limit = row
        standing = cls(seq or 0, head or GENESIS, *(number or 0 for number in numbers))
        if limit is not None:
            standing.max_direct_edges = limit
        return standing

    def follows(self, earlier: Standing) -> bool:
        """Whether this can be the same store, maybe later: events and names are never taken back.

        Under another limit the same events come to another graph, so what was remembered is of no use.
        """
        return (
            self.max_direct_edges == earlier.max_direct_edges
            and self.hub <= earlier.hub
            and all(
                getattr(self, grows) >= getattr(earlier, grows)
                for grows in ("seq", "event", "dataset", "job", "run", "label")
            )
        )

    def next(self, table: Table) -> int:
        """A number for a new row."""
        number: int = getattr(self, table.name) + 1
        setattr(self, table.name, number)
        return number

    def next_hub(self) -> int:
        self.hub -= 1
        return self.hub


STANDING = Prepared(
    select(
        select(func.max(audit.c.seq)).scalar_subquery(),
        select(audit.c.hash).order_by(audit.c.seq.desc()).limit(1).scalar_subquery(),
        *(select(func.max(table.c.id)).scalar_subquery() for table in (event, dataset, job, run, version, label)),
        select(func.min(dataset.c.id)).where(dataset.c.id < 0).scalar_subquery(),
        select(graph_limit.c.max_direct_edges).where(graph_limit.c.id == 1).scalar_subquery(),
    )
)
