"""Arguments of questions, checked alike before a database or a server is asked."""

from __future__ import annotations

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.provenance import ProvenanceEvent
from headwater.model.runs import RunState


def refuse_unaskable(*values: str | int | None) -> None:
    """What no database can compare with: said here, in one voice, instead of by each database in its own."""
    for value in values:
        if isinstance(value, str) and not is_storable(value):
            raise QueryError(f"'{shorten(value)}' {UNSTORABLE_REASON}.")
        if isinstance(value, int) and not 0 <= value < 2**63:
            raise QueryError(f"{value} is not a number of entries that can be asked for.")


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
            f"'{shorten(event)}' is no event of provenance. Events: {', '.join(ProvenanceEvent)}."
        ) from None
