"""Writing with limited visibility: an event must not name anything hidden.

An event that names a hidden job or dataset, as its own, as an input or as an alias, is refused completely: to store
the rest of it would be to store a statement that nothing made. So is one about a run that is already known as
another's; the events of a run add up, and its job is that of its last event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from headwater.errors import NamespaceRefused
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.visibility import names_hidden
from headwater.store.access.visibility import Visibility, job_visible
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import run


def refuse_hidden(events: Iterable[Event], visibility: Visibility) -> None:
    """A parent may be anybody's: to say that a run has one says nothing of the parent."""
    if any(names_hidden(event, visibility.sees, parents=False) for event in events):
        raise NamespaceRefused(visibility.patterns)


def refuse_hidden_runs(
    conn: Connection, events: Sequence[Event], visibility: Visibility, together: Iterable[Event]
) -> None:
    """``together``: all events of the transaction, of all callers. The caller holds the write lock."""
    runs = {event.run_id for event in events if event.run_id is not None}
    others = {event.run_id for event in together if event.job is not None and not visibility.sees(event.job.namespace)}
    taken = select(run.c.id).where(
        run.c.key.in_([key_of(run_id) for run_id in runs]), ~job_visible(visibility, run.c.job_id)
    )
    if runs & others or (runs and conn.execute(taken.limit(1)).first() is not None):
        raise NamespaceRefused(visibility.patterns)
