"""Caches the entities of one transaction for the next.

Most events name the same datasets, jobs and runs as the previous ones. As long as no other process has written to the
store, the cached rows equal the stored ones and need not be read again; otherwise only what never changes stays in the
cache. A failed transaction leaves nothing in it: the head of the store's log is then not the one that the transaction
would have left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.model.names import Endpoint, Job
from headwater.store.fold.repeats import RunOutcome
from headwater.store.fold.rows import DatasetRow, Group, JobRow, Newest, RunRow
from headwater.store.log.log_head import Standing

_MOST_TEXT = 4 * 2**20


@dataclass
class Memory:
    standing: Standing | None = None
    datasets: dict[Endpoint, DatasetRow] = field(default_factory=dict)
    dataset_by_id: dict[int, DatasetRow] = field(default_factory=dict)
    jobs: dict[Job, JobRow] = field(default_factory=dict)
    runs: dict[str, RunRow] = field(default_factory=dict)
    run_by_id: dict[int, RunRow] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    hubs: dict[bytes, int] = field(default_factory=dict)
    """By key. What a hub is never changes."""
    newest: dict[Group, Newest | None] = field(default_factory=dict)
    outcomes: dict[int, RunOutcome] = field(default_factory=dict)
    """By job, what its last run came to."""
    others_write: bool = False
    """Whether the store had moved on when it was last looked at."""
    weight: int = 0
    """Characters of JSON taken in, which is about what it is made of."""

    def at(self, standing: Standing) -> Memory:
        """What can be relied on in a store that stands there. Until :meth:`left_at` it is not to be relied on again."""
        left, self.standing = self.standing, None
        if left is None or self.weight > _MOST_TEXT or not standing.follows(left):
            return Memory()
        self.others_write = left != standing
        changeable = self.datasets or self.jobs or self.runs or self.newest
        return self._lasting() if self.others_write and changeable else self

    def left_at(self, standing: Standing) -> Memory:
        """For the next transaction. Where others write too, most of it will not hold by then."""
        kept = self._lasting() if self.others_write else self
        kept.standing = standing
        return kept

    def _lasting(self) -> Memory:
        return Memory(
            labels=self.labels,
            hubs=self.hubs,
            outcomes=self.outcomes,
            weight=self.weight,
            others_write=self.others_write,
        )
