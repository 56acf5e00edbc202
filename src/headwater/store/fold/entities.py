"""The datasets, jobs and runs that a batch of events speaks of: read once, changed in memory, written once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Table, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from headwater.formats.openlineage.accumulate import (
    is_deleted,
    nominal_times,
    parent_run_id,
    progress,
    run_state,
)
from headwater.formats.openlineage.describe import dataset_kind, first_owner, in_words
from headwater.formats.openlineage.event import Event, EventKind
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import Facets, RunState
from headwater.store.keys import endpoint_key, key_of
from headwater.store.prepared import Lookup, Prepared, Row
from headwater.store.tables import dataset, job, label, run, run_dataset, to_micros

FacetDocument = dict[str, list[Any]]
"""Facet name → [micros, digest as hex, body]."""

Stamp = tuple[int, str]
Kept = TypeVar("Kept")
_CHUNK = 500


@dataclass
class DatasetRow:
    id: int
    key: bytes
    namespace: str
    name: str
    is_job: int
    canonical_id: int
    kind: str
    owner: str | None
    tags: list[str]
    contested: int
    first_seen: int | None
    last_seen: int | None
    facets: FacetDocument

    @property
    def endpoint(self) -> Endpoint:
        return (Job if self.is_job else Dataset)(self.namespace, self.name)


@dataclass
class JobRow:
    id: int
    key: bytes
    namespace: str
    name: str
    owner: str | None
    facets: FacetDocument
    last_seen: int


@dataclass
class RunRow:
    id: int
    """0 until it is stored."""
    key: bytes
    run_id: str
    job_id: int
    state: str
    started_at: int | None
    ended_at: int | None
    first_event_at: int
    last_event_at: int
    nominal_start: int | None
    nominal_end: int | None
    parent_run_id: str | None
    parent_key: bytes | None
    stamps: dict[str, list[Any]]
    was_complete: bool = False
    """When it was read: whether there may be versions of it."""


class Entities:
    """The rows at hand. :meth:`load` before :meth:`apply`; :meth:`flush` at the end."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._datasets: dict[Endpoint, DatasetRow] = {}
        self.dataset_by_id: dict[int, DatasetRow] = {}
        self._jobs: dict[Job, JobRow] = {}
        self._runs: dict[str, RunRow] = {}
        self._labels: dict[str, int] = {}
        self._changed_datasets: dict[int, DatasetRow] = {}
        self._changed_jobs: dict[int, JobRow] = {}
        self._changed_runs: dict[str, RunRow] = {}
        self._run_datasets: set[tuple[str, int, str]] = set()
        self.symlinks_stated: dict[int, DatasetRow] = {}
        """Datasets whose symlinks have to be looked at."""
        self.to_describe: set[int] = set()
        """Datasets whose kind, owner and tags may have changed."""

    # -- reading, and making what is new ----------------------------------------------------------

    def load(self, events: Collection[Event]) -> None:
        self.load_datasets({use.dataset for event in events for use in event.datasets})
        self._load_jobs({event.job: to_micros(event.time) for event in events if event.job})
        self._load_runs(event for event in events if event.kind is EventKind.RUN)

    def load_datasets(self, endpoints: Iterable[Endpoint]) -> None:
        wanted = {endpoint_key(endpoint): endpoint for endpoint in endpoints if endpoint not in self._datasets}
        self._read(_DATASETS_BY_KEY, list(wanted), self._keep_dataset)
        new = [
            {
                "key": key,
                "namespace": endpoint.namespace,
                "name": endpoint.name,
                "name_key": key_of(endpoint.name),
                "is_job": int(isinstance(endpoint, Job)),
                "canonical_id": 0,
                "kind": dataset_kind(endpoint.namespace, {}),
                "tags": [],
                "contested": 0,
                "facets": {},
            }
            for key, endpoint in wanted.items()
            if endpoint not in self._datasets
        ]
        if new:
            _INSERT_DATASET.run(self._conn, new)
            # A new name stands for itself; only symlinks can make it an alias.
            self._conn.execute(_SELF_CANONICAL)
            self._read(_DATASETS_BY_KEY, [row["key"] for row in new], self._keep_dataset)

    def load_dataset_ids(self, ids: Collection[int]) -> None:
        self._read(_DATASETS_BY_ID, [i for i in ids if i not in self.dataset_by_id], self._keep_dataset)

    def load_run_ids(self, ids: Collection[int]) -> dict[int, RunRow]:
        by_id = {row.id: row for row in self._runs.values() if row.id in ids}
        for row in self._read(_RUNS_BY_ID, [i for i in ids if i not in by_id], self._keep_run):
            by_id[row.id] = row
        return by_id

    def _load_jobs(self, jobs: Mapping[Job, int]) -> None:
        wanted = {key_of(j.namespace, j.name): j for j in jobs}
        self._read(_JOBS_BY_KEY, list(wanted), self._keep_job)
        new = [
            {"key": key, "namespace": named.namespace, "name": named.name, "facets": {}, "last_seen": jobs[named]}
            for key, named in wanted.items()
            if named not in self._jobs
        ]
        if new:
            _INSERT_JOB.run(self._conn, new)
            self._read(_JOBS_BY_KEY, [row["key"] for row in new], self._keep_job)

    def _load_runs(self, events: Iterable[Event]) -> None:
        wanted = {key_of(event.run_id): event for event in events if event.run_id is not None}
        self._read(_RUNS_BY_KEY, list(wanted), self._keep_run)
        for key, event in wanted.items():
            assert event.run_id is not None
            if event.run_id not in self._runs:
                at = to_micros(event.time)
                nothing = dict.fromkeys(_RUN_BLANK)
                row = RunRow(0, key, event.run_id, 0, RunState.UNKNOWN, **nothing, stamps={})  # type: ignore[arg-type]
                row.first_event_at = row.last_event_at = at
                self._runs[event.run_id] = row

    def _read(self, lookup: Lookup, wanted: list[Any], keep: Callable[[Row], Kept]) -> list[Kept]:
        return [keep(row) for row in lookup.rows(self._conn, wanted)]

    def _keep_dataset(self, row: Row) -> None:
        kept = DatasetRow(*row)
        self._datasets[kept.endpoint] = kept
        self.dataset_by_id[kept.id] = kept

    def _keep_job(self, row: Row) -> None:
        kept = JobRow(*row)
        self._jobs[Job(kept.namespace, kept.name)] = kept

    def _keep_run(self, row: Row) -> RunRow:
        kept = RunRow(*row)
        kept.was_complete = kept.state == RunState.COMPLETE
        self._runs[kept.run_id] = kept
        return kept

    # -- looking up -------------------------------------------------------------------------------

    def dataset(self, endpoint: Endpoint) -> DatasetRow:
        return self._datasets[endpoint]

    def canonical_id(self, endpoint: Endpoint) -> int:
        return self._datasets[endpoint].canonical_id

    def job(self, named: Job | None) -> JobRow:
        assert named is not None
        return self._jobs[named]

    def run(self, run_id: str | None) -> RunRow:
        assert run_id is not None
        return self._runs[run_id]

    def label_ids(self, texts: Iterable[str]) -> Mapping[str, int]:
        """The ids of partition and column names, interning the new ones."""
        missing = {key_of(text): text for text in texts if text not in self._labels}
        if missing:
            self._read(_LABELS_BY_KEY, list(missing), self._keep_label)
        new = {key: text for key, text in missing.items() if text not in self._labels}
        if new:
            _INSERT_LABEL.run(self._conn, [{"key": key, "text": text} for key, text in new.items()])
            self._read(_LABELS_BY_KEY, list(new), self._keep_label)
        return self._labels

    def _keep_label(self, row: Row) -> None:
        label_id, text = row
        self._labels[text] = label_id

    # -- changing ---------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Take in what ``event`` says of its entities."""
        micros = to_micros(event.time)
        stamp = (micros, event.digest.hex())
        for use in event.datasets:
            self._apply_dataset(self.dataset(use.dataset), use.facets, micros, stamp)
        if event.job is not None:
            self._apply_job(self.job(event.job), event.job_facets or {}, micros, stamp)
        if event.kind is EventKind.RUN:
            self._apply_run(self.run(event.run_id), event, micros, stamp)

    def _apply_dataset(self, row: DatasetRow, facets: Facets, micros: int, stamp: Stamp) -> None:
        symlinks_before = row.facets.get("symlinks", _NO_FACET)[2]
        set_names = _set_facets(row.facets, facets, stamp)
        if set_names & {"datasetType", "ownership", "symlinks", "tags"}:
            words = in_words(row.namespace, live_facets(row.facets))
            if row.contested or row.canonical_id != row.id or words != (row.kind, row.owner, row.tags):
                self.to_describe |= {row.id, row.canonical_id}
        if "symlinks" in set_names and (row.contested or symlinks_before != row.facets["symlinks"][2]):
            self.symlinks_stated[row.id] = row
        row.first_seen = micros if row.first_seen is None else min(row.first_seen, micros)
        row.last_seen = micros if row.last_seen is None else max(row.last_seen, micros)
        self._changed_datasets[row.id] = row

    def _apply_job(self, row: JobRow, facets: Facets, micros: int, stamp: Stamp) -> None:
        if "ownership" in _set_facets(row.facets, facets, stamp):
            row.owner = first_owner(live_facets(row.facets))
        row.last_seen = max(row.last_seen, micros)
        self._changed_jobs[row.id] = row

    def _apply_run(self, row: RunRow, event: Event, micros: int, stamp: Stamp) -> None:
        facets = event.run_facets or {}
        row.first_event_at = min(row.first_event_at, micros)
        row.last_event_at = max(row.last_event_at, micros)
        if event.event_type == "START":
            row.started_at = micros if row.started_at is None else min(row.started_at, micros)
        if _newer(row.stamps, "job", stamp):
            row.job_id = self.job(event.job).id
        if run_state(event.event_type).terminal:
            if _newer(row.stamps, "end", stamp):
                row.state, row.ended_at = run_state(event.event_type), micros
        elif "end" not in row.stamps:
            row.state = progress([_as_type(row.state), event.event_type])
        if "parent" in facets and _newer(row.stamps, "parent", stamp):
            row.parent_run_id = parent_run_id(facets)
            row.parent_key = key_of(row.parent_run_id) if row.parent_run_id is not None else None
        if "nominalTime" in facets and _newer(row.stamps, "nominalTime", stamp):
            start, end = nominal_times(facets)
            row.nominal_start = to_micros(start) if start else None
            row.nominal_end = to_micros(end) if end else None
        self._run_datasets |= {(row.run_id, self.dataset(use.dataset).id, "input") for use in event.inputs}
        self._run_datasets |= {(row.run_id, self.dataset(use.dataset).id, "output") for use in event.outputs}
        self._changed_runs[row.run_id] = row

    # -- writing ----------------------------------------------------------------------------------

    def flush(self) -> None:
        self._update("dataset", self._changed_datasets.values())
        self._update("job", self._changed_jobs.values())
        self._update("run", [row for row in self._changed_runs.values() if row.id])
        self._insert_runs([row for row in self._changed_runs.values() if not row.id])
        if self._run_datasets:
            rows = [
                {"run_id": self._runs[run_id].id, "dataset_id": dataset_id, "direction": direction}
                for run_id, dataset_id, direction in sorted(self._run_datasets)
            ]
            _INSERT_RUN_DATASET[self._conn.dialect.name].run(self._conn, rows)
        self._changed_datasets, self._changed_jobs, self._changed_runs = {}, {}, {}
        self._run_datasets = set()

    def _update(self, table: str, rows: Collection[Any]) -> None:
        if rows:
            columns = _UPDATED[table]
            values = [{"row_id": row.id} | {c: getattr(row, c) for c in columns} for row in rows]
            _UPDATES[table].run(self._conn, values)

    def _insert_runs(self, rows: Sequence[RunRow]) -> None:
        columns = ("key", "run_id", *_UPDATED["run"])
        for row in rows:
            ((row.id,),) = _INSERT_RUN.rows(self._conn, {c: getattr(row, c) for c in columns})


_NO_FACET: list[Any] = [0, "", None]
_RUN_BLANK = (
    "started_at",
    "ended_at",
    "first_event_at",
    "last_event_at",
    "nominal_start",
    "nominal_end",
    "parent_run_id",
    "parent_key",
)
_UPDATED: Mapping[str, tuple[str, ...]] = {
    "dataset": ("first_seen", "last_seen", "facets"),
    "job": ("owner", "facets", "last_seen"),
    "run": ("job_id", "state", *_RUN_BLANK, "stamps"),
}


def _columns(table: Table, row: type[Any]) -> list[Column[Any]]:
    return [table.c[field.name] for field in fields(row) if field.name in table.c]


_DATASET, _JOB, _RUN = (
    select(*_columns(table, row)) for table, row in ((dataset, DatasetRow), (job, JobRow), (run, RunRow))
)
_DATASETS_BY_KEY, _DATASETS_BY_ID = Lookup(_DATASET, dataset.c.key), Lookup(_DATASET, dataset.c.id)
_JOBS_BY_KEY = Lookup(_JOB, job.c.key)
_RUNS_BY_KEY, _RUNS_BY_ID = Lookup(_RUN, run.c.key), Lookup(_RUN, run.c.id)
_LABELS_BY_KEY = Lookup(select(label.c.id, label.c.text), label.c.key)
_INSERT_DATASET, _INSERT_JOB, _INSERT_LABEL = (Prepared(insert(table)) for table in (dataset, job, label))
_INSERT_RUN = Prepared(insert(run).returning(run.c.id))
_SELF_CANONICAL = update(dataset).where(dataset.c.canonical_id == 0).values(canonical_id=dataset.c.id)
_INSERT_RUN_DATASET = {
    "sqlite": Prepared(sqlite.insert(run_dataset).on_conflict_do_nothing()),
    "postgresql": Prepared(postgresql.insert(run_dataset).on_conflict_do_nothing()),
}
_UPDATES = {
    table.name: Prepared(
        update(table)
        .where(table.c.id == bindparam("row_id"))
        .values({column: bindparam(column) for column in _UPDATED[table.name]})
    )
    for table in (dataset, job, run)
}


def live_facets(document: FacetDocument) -> Facets:
    return {name: body for name, (_, _, body) in document.items() if not is_deleted(body)}


def _set_facets(document: FacetDocument, facets: Facets, stamp: Stamp) -> set[str]:
    """Put in the facets that are at least as new as what is there; the names of those."""
    taken = {name for name in facets if name not in document or tuple(document[name][:2]) <= stamp}
    for name in taken:
        document[name] = [*stamp, facets[name]]
    return taken


def _newer(stamps: dict[str, list[Any]], what: str, stamp: Stamp) -> bool:
    if what in stamps and tuple(stamps[what]) > stamp:
        return False
    stamps[what] = list(stamp)
    return True


def _as_type(state: str) -> str | None:
    return None if state == RunState.UNKNOWN else state


def chunks(items: list[Any]) -> Iterable[list[Any]]:
    """In parts that fit the databases' limits on bound parameters."""
    return (items[i : i + _CHUNK] for i in range(0, len(items), _CHUNK))
