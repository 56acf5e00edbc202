"""The whole derived state as sorted rows of names, from a store and from the model, and their difference.

Ids, receipt times, the audit log and rows of names that no event mentions any more are omitted: they may differ
between two orders of ingesting the same events. Nothing else may.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Row, select

from headwater.store.schema import tables
from headwater.store.store import Store
from tests.oracles.event_facts import Name
from tests.oracles.model import FOREVER, Model, kind_of, owner_in, tags_in

Rows = list[tuple[Any, ...]]
State = Mapping[str, Rows]

READ = {
    table.name: select(table)
    for table in (
        tables.dataset,
        tables.symlink,
        tables.job,
        tables.run,
        tables.run_dataset,
        tables.version,
        tables.lineage,
        tables.edge,
        tables.column_edge,
        tables.label,
        tables.content,
    )
}
"""The derived tables, and those that tell the names in them; of events, only what they are called by. Read after every
batch of every example, so nothing else is."""
EVENTS = select(tables.event.c.id, tables.event.c.digest)


def state_of_store(store: Store) -> State:
    """Every derived table, by names."""
    with store._database.read() as conn:
        read = {name: conn.execute(statement).all() for name, statement in READ.items()}
        events = conn.execute(EVENTS).all()
    names = {row.id: _endpoint(row) for row in read["dataset"]}
    jobs: dict[int | None, Name | None] = {row.id: ("job", row.namespace, row.name) for row in read["job"]}
    runs = {row.id: row.run_id for row in read["run"]} | {None: None}
    labels = {row.id: row.text for row in read["label"]} | {None: None}
    digests = {row.id: bytes(row.digest).hex() for row in events} | {None: None}
    contents = {bytes(row.digest): row.body for row in read["content"]}
    jobs[None] = None

    def schema_of(row: Row[Any]) -> tuple[str, ...] | None:
        if row.schema_digest is None:
            return None
        return tuple(json.dumps(field, sort_keys=True) for field in contents[bytes(row.schema_digest)])

    makers: dict[str, Callable[[Any], tuple[Any, ...]]] = {
        "dataset": lambda r: (
            names[r.id],
            names[r.canonical_id],
            None if r.is_job else r.kind,
            r.owner,
            tuple(r.tags),
            r.first_seen,
            r.last_seen,
            _facets(r.facets),
        ),
        "symlink": lambda r: (names[r.dataset_id], names[r.alias_id]),
        "job": lambda r: (jobs[r.id], r.owner, r.last_seen, _facets(r.facets)),
        "run": lambda r: (
            r.run_id,
            jobs[r.job_id],
            r.state,
            r.started_at,
            r.ended_at,
            r.first_event_at,
            r.last_event_at,
            r.nominal_start,
            r.nominal_end,
            r.parent_run_id,
        ),
        "run_dataset": lambda r: (runs[r.run_id], names[r.dataset_id], r.direction),
        "version": lambda r: (
            names[r.dataset_id],
            labels[r.partition_id],
            r.origin,
            jobs[r.job_id],
            runs[r.run_id],
            digests[r.event_id],
            r.written_at,
            r.valid_to,
            r.label,
            schema_of(r),
        ),
        "lineage": lambda r: (
            names[r.downstream_id],
            labels[r.partition_id],
            r.origin,
            jobs[r.job_id],
            runs[r.run_id],
            names[r.upstream_id],
            labels[r.upstream_partition_id],
            r.consumed_at,
            r.valid_to,
            r.basis,
            r.type,
            r.transformation,
        ),
        "edge": lambda r: (
            jobs[r.job_id],
            r.origin,
            names[r.upstream_id],
            names[r.downstream_id],
            r.basis,
            r.type,
            r.transformation,
            r.valid_from,
            r.valid_to,
        ),
        "column_edge": lambda r: (
            jobs[r.job_id],
            r.origin,
            names[r.upstream_id],
            labels[r.upstream_column_id],
            names[r.downstream_id],
            labels[r.downstream_column_id],
            r.dependency,
            r.subtype,
            bool(r.masking),
            r.logic,
            r.valid_from,
            r.valid_to,
        ),
    }
    # A name that only a withdrawn statement mentioned keeps its row, but nothing speaks for it any more.
    spoken_of = {row.dataset_id for row in read["version"]} | {row.upstream_id for row in read["lineage"]}
    spoken_of |= {row.alias_id for row in read["symlink"]}
    read["dataset"] = [row for row in read["dataset"] if row.first_seen is not None or row.id in spoken_of]
    return {name: _sorted(maker(row) for row in read[name]) for name, maker in makers.items()}


def _endpoint(row: Row[Any]) -> Name:
    return "job" if row.is_job else "dataset", row.namespace, row.name


def _facets(document: Mapping[str, list[Any]]) -> str:
    return json.dumps({name: [at, digest, body] for name, (at, digest, body) in document.items()}, sort_keys=True)


def state_of_model(model: Model) -> State:
    """The same, as the model expects it."""

    def facets(document: Mapping[str, Any]) -> str:
        return json.dumps({name: [*stamp, facet] for name, (stamp, facet) in document.items()}, sort_keys=True)

    datasets = []
    for name in model.names | model.hubs:
        canonical, (first, last) = model.resolve(name), model.seen.get(name, (None, None))
        # The canonical row sums up what was said under all names; the row of another has what was said under that one.
        live = model.merged_facets(name) if name == canonical else model.live_facets(name)
        kind = None if name[0] == "job" else kind_of(name[1], live)
        told = facets(model.facets.get(name, {}))
        datasets.append((name, canonical, kind, owner_in(live), tags_in(live), first, last, told))
    return {
        "dataset": _sorted(datasets),
        "symlink": _sorted((owner, alias) for alias, owners in model.claims.items() for owner in owners),
        "job": _sorted(
            (
                name,
                owner_in({n: facet for n, (_, facet) in told.items() if not facet.get("_deleted")}),
                model.job_last_seen[name],
                facets(told),
            )
            for name, told in model.jobs.items()
        ),
        "run": _sorted(
            (
                run.run_id,
                run.job,
                run.state,
                run.started_at,
                run.ended_at,
                run.first_event_at,
                run.last_event_at,
                run.nominal_start,
                run.nominal_end,
                run.parent,
            )
            for run in model.runs.values()
        ),
        "run_dataset": _sorted(
            (run.run_id, name, direction)
            for run in model.runs.values()
            for direction, uses in (("input", run.inputs), ("output", run.outputs))
            for name in uses
        ),
        "version": _sorted(
            (
                version.target,
                version.partition,
                version.origin,
                version.job,
                version.run_id,
                version.event,
                version.written_at,
                version.valid_to,
                version.label,
                version.schema,
            )
            for version in model.versions
        ),
        "lineage": _sorted(
            (
                version.target,
                version.partition,
                version.origin,
                version.job,
                version.run_id,
                upstream,
                part,
                version.written_at,
                version.valid_to,
                basis,
                kind,
                transformation,
            )
            for version in model.versions
            for upstream, part, basis, kind, transformation in version.lineage
        ),
        "edge": _sorted(
            (job, origin, element[0], target, *element[1:], *interval)
            for (job, origin, target, element), intervals in model.edges.items()
            for interval in intervals
        ),
        "column_edge": _sorted(
            (job, origin, *fact, *interval)
            for (job, origin, _, fact), intervals in model.column_edges.items()
            for interval in intervals
        ),
    }


def without_endings(state: State, expected: State) -> State:
    """Without the store's internal form for a job that no longer declares an output: an empty version.

    The representation is the store's own matter; its effect is visible in the lineage rows and the edges.
    ``expected`` is the model's state, which has none of these.
    """
    said = {version[:7] for version in expected["version"]}
    return {**state, "version": [row for row in state["version"] if row[2] != "job" or row[:7] in said]}


def _sorted(rows: Iterable[tuple[Any, ...]]) -> Rows:
    return sorted(rows, key=repr)


# -- differences ------------------------------------------------------------------------------------------------------


def differences(expected: State, actual: State) -> str:
    """What only one of the two has, table by table; empty if they are equal."""
    lines = []
    for table in expected:
        wanted, found = Counter(expected[table]), Counter(actual[table])
        lines += [f"{table}: missing    {_show(row)}" for row in (wanted - found).elements()]
        lines += [f"{table}: unexpected {_show(row)}" for row in (found - wanted).elements()]
    return "\n".join(lines)


def _show(row: tuple[Any, ...]) -> str:
    return "  ".join(map(_show_value, row))


def _show_value(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 3 and value[0] in ("dataset", "job"):
        return f"{'job:' if value[0] == 'job' else ''}{value[1]}/{value[2]}"
    if isinstance(value, int) and not isinstance(value, bool) and value > 10**12:
        return "…" if value == FOREVER else f"{value / 1e6 % 60:.6f}".rstrip("0").rstrip(".") + "s"
    return "-" if value is None else str(value)
