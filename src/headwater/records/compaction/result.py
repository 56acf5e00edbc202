"""The result of a compaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.records.archive.archive import Compaction
    from headwater.records.compaction.archive_attempt import AttemptResult


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """A commit requires ``read`` = ``archived`` + ``already_there`` + ``refused``."""

    id: str | None
    """None if there was nothing to archive."""
    run_id: str | None
    location: str
    days: tuple[date, ...]
    read: int
    archived: int
    already_there: int
    refused: int
    traces: int
    rebuilt: int
    """The number of roots that were archived before and were rebuilt with their late records."""
    digest: str
    expired: int = 0

    def document(self) -> dict[str, object]:
        return {**asdict(self), "days": [day.isoformat() for day in self.days]}


def compaction_result(
    compaction: Compaction, run_id: str | None, days: tuple[date, ...], result: AttemptResult
) -> CompactionResult:
    return CompactionResult(
        id=compaction.id or None,
        run_id=run_id,
        location=compaction.location,
        days=days,
        read=result.read,
        archived=result.archived,
        already_there=result.already_there,
        refused=result.refused,
        traces=result.traces,
        rebuilt=result.rebuilt,
        digest=result.digest.hex(),
    )
