"""Statements of runs at their end: the last event of each finished run, read again.

Facets of runs and of single writes are only in the events, so what a list needs of them is read from the one event
with the most content. At its end a run repeats its earlier statements; a run that does not has no entry here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import func, select

from headwater.formats.openlineage.visibility import visible_event
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.query.json_members import object_at

_ENDS = [str(state) for state in RunState if state.terminal]
_LONG = 1_000_000
"""An event of so many bytes is not opened for one word of it."""
_AT_ONCE = 50


def final_events(view: View, runs: Collection[int], word: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The number of each run whose last event holds ``word``, with the event as far as it may be seen."""
    event = view.tables.run_event
    listed = view.id_table("ids")
    newest_first = (event.c.event_time.desc(), event.c.digest.desc())
    ranked = (
        select(event.c.id, func.row_number().over(partition_by=event.c.run_id, order_by=newest_first).label("place"))
        .join(listed, listed.c.id == event.c.run_id)
        .where(event.c.event_type.in_(_ENDS))
        .subquery()
    )
    query = (
        select(event.c.run_id, event.c.body)
        .join(ranked, ranked.c.id == event.c.id)
        .where(ranked.c.place == 1, func.length(event.c.body) <= _LONG)
    )
    whole = whole_runs(view, runs) if not view.is_everything else set()
    asked, sought = {"ids": view.id_list(runs)}, word.encode()
    with view.execute(query.execution_options(yield_per=_AT_ONCE), asked) as rows:
        for row in rows:
            if sought not in row.body:
                continue
            said = json.loads(row.body)
            shown = said if view.is_everything else visible_event(said, view.sees, whole=row.run_id in whole)
            if shown is not None:
                yield row.run_id, shown


def whole_runs(view: View, runs: Collection[int]) -> set[int]:
    """Those of which everything is visible."""
    run = view.tables.run
    listed = view.id_table("ids")
    query = select(run.c.id).join(listed, listed.c.id == run.c.id).where(view.tables.run_is_whole(run.c.id))
    return set(view.scalars(query, {"ids": view.id_list(runs)}))


def run_facet(said: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A facet of the run, where it is one; nothing else is promised of what a producer sends."""
    return object_at(said, "run", "facets", name)
