"""Datasets as the cards of a picture: what each is, its last run, and how many rows that wrote."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import select

from headwater.formats.openlineage.describe import schema_fields
from headwater.formats.openlineage.visibility import visible_facets
from headwater.model.answers import LatestRun
from headwater.model.lineage import Origin
from headwater.model.picture import Card
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.catalog import other_names, schema_fields_of
from headwater.store.query.closure import endpoint_of
from headwater.store.query.counts import stated_complete
from headwater.store.query.final_events import final_events
from headwater.store.query.json_members import object_at, objects_in
from headwater.store.schema.stored_rows import StoredDataset
from headwater.store.schema.tables import from_micros

MOST_FIELDS = 20_000
"""Of all cards together: a card has its schema if this, shared out evenly, has room for it."""
LEAST_FIELDS = 200
"""So many are never too many."""
_STATISTICS = "outputStatistics"
Degrees = Mapping[int, int]
"""How many neighbours a dataset has on one side."""


def cards(
    view: View,
    upstreams: Degrees,
    downstreams: Degrees,
    *,
    with_schema: bool = False,
    as_of: int | None,
) -> dict[int, Card]:
    """Of the datasets that both say how many neighbours they have."""
    names = _names(view, upstreams.keys())
    latest = _latest_runs(view, names, as_of)
    rows = _rows_written(view, names, as_of)
    room = max(LEAST_FIELDS, MOST_FIELDS // len(names)) if with_schema and names else 0
    return {
        number: _card(view, same, room, upstreams[number], downstreams[number], latest.get(number), rows.get(number))
        for number, same in names.items()
    }


Names = Mapping[int, list[StoredDataset]]
"""By the dataset: its rows, one for each name, its own first."""


def _names(view: View, ids: Collection[int]) -> Names:
    dataset = view.tables.dataset
    listed = view.id_table("ids")
    own = view.execute(select(dataset).join(listed, listed.c.id == dataset.c.id), {"ids": view.id_list(ids)}).all()
    others = other_names(view, ids)
    return {row.id: [row, *others.get(row.id, [])] for row in own}


def _card(
    view: View,
    same: list[StoredDataset],
    room: int,
    upstreams: int,
    downstreams: int,
    latest_run: LatestRun | None,
    rows: int | None,
) -> Card:
    own = same[0]
    facets = merged_facets({name: one.facets[name] for name in ("schema",) if name in one.facets} for one in same)
    fields = schema_fields(facets if view.is_everything else visible_facets(facets, view.sees))
    return Card(
        endpoint=endpoint_of(own.namespace, own.name, own.is_job),
        kind="job" if own.is_job else own.kind,
        owner=own.owner,
        tags=tuple(own.tags),
        columns=len(fields),
        schema=schema_fields_of(fields) if 0 < room >= len(fields) else None,
        upstreams=upstreams,
        downstreams=downstreams,
        latest_run=latest_run,
        rows=rows,
        complete=stated_complete(own),
        last_seen=max((from_micros(one.last_seen) for one in same if one.last_seen is not None), default=None),
    )


def _visible_names(view: View, same: Iterable[StoredDataset]) -> list[StoredDataset]:
    return [one for one in same if view.sees(one.namespace)]


def _latest_runs(view: View, names: Names, as_of: int | None) -> dict[int, LatestRun]:
    """The last run that wrote each, under whichever name, whatever became of it."""
    run, run_dataset = view.tables.run, view.tables.run_dataset
    of_name = {one.id: number for number, same in names.items() for one in _visible_names(view, same)}
    listed = view.id_table("ids")
    wrote = (
        select(run.c.id)
        .join(run_dataset, run_dataset.c.run_id == run.c.id)
        .where(run_dataset.c.dataset_id == listed.c.id, run_dataset.c.direction == "output")
        # Not the bare column: its index leads through all runs there are, in the hope of one that wrote this.
        .order_by((run.c.last_event_at + 0).desc(), run.c.run_id.desc())
        .limit(1)
    )
    if as_of is not None:
        wrote = wrote.where(run.c.last_event_at <= as_of)
    newest = select(listed.c.id, wrote.correlate(listed).scalar_subquery().label("run")).subquery()
    query = (
        select(newest.c.id, run.c.run_id, run.c.state, run.c.last_event_at)
        .join(run, run.c.id == newest.c.run)
        .order_by(run.c.last_event_at, run.c.run_id)  # the last of several names' has the say
    )
    return {
        of_name[row.id]: LatestRun(row.run_id, RunState(row.state), from_micros(row.last_event_at))
        for row in view.execute(query, {"ids": view.id_list(of_name)})
    }


def _rows_written(view: View, names: Names, as_of: int | None) -> dict[int, int]:
    """As the run said that wrote each last, and completed."""
    wrote = _last_writers(view, names.keys(), as_of)
    written = {
        (number, output["namespace"], output["name"]): output
        for number, said in final_events(view, set(wrote.values()), _STATISTICS)
        for output in objects_in(said, "outputs")
    }
    found: dict[int, int] = {}
    for number, writer in wrote.items():
        for one in _visible_names(view, names[number]):
            rows = _row_count(written.get((writer, one.namespace, one.name), {}))
            if rows is not None:
                found.setdefault(number, rows)
    return found


def _last_writers(view: View, ids: Collection[int], as_of: int | None) -> dict[int, int]:
    version = view.tables.version
    listed = view.id_table("ids")
    wrote = (
        select(version.c.run_id)
        .where(version.c.dataset_id == listed.c.id, version.c.origin == Origin.RUN)
        .order_by(version.c.written_at.desc(), version.c.tiebreak.desc())
        .limit(1)
    )
    if as_of is not None:
        wrote = wrote.where(version.c.written_at <= as_of)
    query = select(listed.c.id, wrote.correlate(listed).scalar_subquery().label("run"))
    rows = view.execute(query, {"ids": view.id_list(ids)})
    return {row.id: row.run for row in rows if row.run is not None}


def _row_count(output: Mapping[str, object]) -> int | None:
    count = object_at(output, "outputFacets", _STATISTICS).get("rowCount")
    return count if isinstance(count, int) and not isinstance(count, bool) else None
