"""What a compaction answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.records.archive.archive import Compaction
    from headwater.records.compaction.archive_attempt import AttemptResult


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """``read`` = ``archived`` + ``already_there`` + ``refused``, or nothing would have been committed."""

    id: str | None
    """None where there was nothing to do."""
    run_id: str | None
    location: str
    days: tuple[date, ...]
    read: int
    archived: int
    already_there: int
    refused: int
    traces: int
    rebuilt: int
    """Roots that were archived before, and are whole again with what came late."""
    digest: str
    expired: int = 0

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "days": [day.isoformat() for day in self.days]}


def compaction_result(
    compaction: Compaction, run_id: str | None, days: tuple[date, ...], put: AttemptResult
) -> CompactionResult:
    return CompactionResult(
        id=compaction.id or None,
        run_id=run_id,
        location=compaction.location,
        days=days,
        read=put.read,
        archived=put.archived,
        already_there=put.already_there,
        refused=put.refused,
        traces=put.traces,
        rebuilt=put.rebuilt,
        digest=put.digest.hex(),
    )
