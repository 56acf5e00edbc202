"""Checks of query arguments, the same for a local store and a server."""

from __future__ import annotations

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.provenance import ProvenanceEvent
from headwater.model.runs import RunState


def refuse_unaskable(*values: str | int | None) -> None:
    """Refuse values that a database cannot compare with: the error would differ from database to database."""
    for value in values:
        if isinstance(value, str) and not is_storable(value):
            raise QueryError(f"'{shorten(value)}' {UNSTORABLE_REASON}.")
        if isinstance(value, int) and not 0 <= value < 2**63:
            raise QueryError(f"{value} is out of range: a number of entries is from 0 to 2^63 - 1.")


def refuse_unaskable_part(column: str | None, partition: str | None, depth: int | None) -> None:
    if column is not None and partition is not None:
        raise QueryError("Ask for a column or for a partition, not for both at once.")
    if depth is not None and depth < 1:
        raise QueryError(f"The depth must be 1 or more, not {depth}.")


def state_of(state: RunState | str | None) -> RunState | None:
    if state is None:
        return None
    try:
        return RunState(state.upper())
    except ValueError:
        raise QueryError(f"'{state}' is not a run state. States: {', '.join(RunState)}.") from None


def provenance_event_of(event: ProvenanceEvent | str | None) -> ProvenanceEvent | None:
    if event is None:
        return None
    try:
        return ProvenanceEvent(event.lower())
    except ValueError:
        raise QueryError(
            f"'{shorten(event)}' is not a provenance event. Events: {', '.join(ProvenanceEvent)}."
        ) from None
