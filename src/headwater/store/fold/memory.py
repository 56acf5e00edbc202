"""What one transaction leaves at hand for the next.

Most events speak of what the last ones spoke of. As long as nobody else has written to the store (see
:class:`~headwater.store.standing.Standing`), what was read and changed then is what is stored now, and need not be read
again. Where somebody has, only what never changes holds on. A transaction that fails leaves nothing: the store then
does not stand where it would have left it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.model.names import Endpoint, Job
from headwater.store.fold.repeats import Outcome
from headwater.store.fold.rows import DatasetRow, Group, JobRow, Newest, RunRow
from headwater.store.standing import Standing

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
    newest: dict[Group, Newest | None] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    """By job, what its last run came to."""
    weight: int = 0
    """Characters of JSON taken in, which is about what it is made of."""

    def at(self, standing: Standing) -> Memory:
        """What can be relied on in a store that stands there. Until :meth:`keep` it is not to be relied on again."""
        left, self.standing = self.standing, None
        if left is None or self.weight > _MOST_TEXT or not standing.follows(left):
            return Memory()
        if left != standing:
            return Memory(labels=self.labels, outcomes=self.outcomes, weight=self.weight)
        return self

    def keep(self, standing: Standing) -> None:
        self.standing = standing
