"""The datasets, jobs and runs of a batch of events: read once, changed in memory, written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TypeVar

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Table,
    Text,
    bindparam,
    insert,
    select,
    type_coerce,
    update,
)

from headwater.formats.openlineage.describe import dataset_kind, first_owner, kind_owner_and_tags
from headwater.formats.openlineage.event import Event, EventKind
from headwater.model.names import Endpoint, Job
from headwater.model.runs import Facets
from headwater.store.engine.dialect import DIALECTS
from headwater.store.engine.prepared import Lookup, Prepared, Question, Row, together
from headwater.store.fold.memory import Memory
from headwater.store.fold.rows import DatasetRow, JobRow, RunRow, Stamp, live_facets
from headwater.store.log.log_head import Standing
from headwater.store.schema.name_keys import endpoint_key, hub_key, hub_name, key_of
from headwater.store.schema.stored_rows import StampedFacet
from headwater.store.schema.tables import dataset, job, label, run, run_dataset, to_micros

Item = TypeVar("Item")
_CHUNK = 500
_LIGHT = 500
"""What a row without facets weighs in memory."""


class Entities:
    """The rows at hand. What is :func:`missing` is read or made; then :meth:`apply`, and at the end :meth:`flush`."""

    def __init__(self, conn: Connection, memory: Memory, standing: Standing) -> None:
        self._conn = conn
        self.memory = memory
        self.standing = standing
        self._changed_datasets: dict[int, DatasetRow] = {}
        self._changed_jobs: dict[int, JobRow] = {}
        self._changed_runs: dict[int, RunRow] = {}
        self.symlinks_stated: dict[int, DatasetRow] = {}
        """Datasets whose symlinks have to be looked at."""
        self.to_describe: set[int] = set()
        """Datasets whose kind, owner and tags may have changed."""
        self.new_datasets: set[int] = set()
        """Datasets, and hubs, that this transaction has made: nobody has written any of them before."""

    # -- reading, and making what is new ----------------------------------------------------------

    def read(self, asked: EntityQuestions) -> None:
        if asked:
            self.take(asked, together(self._conn, [question for question, _ in asked]))

    def take(self, asked: EntityQuestions, answers: Iterable[Sequence[Row]]) -> None:
        for (_, keep), rows in zip(asked, answers, strict=True):
            for row in rows:
                keep(self, row)

    def make(self, events: Iterable[Event]) -> None:
        """Create the entities that are neither in memory nor stored; to be called after everything stored was read."""
        for event in events:
            self._make_datasets(use.dataset for use in event.datasets)
            if event.job is not None and event.job not in self.memory.jobs:
                self._make_job(event.job, to_micros(event.time))
            if event.run_id is not None and event.run_id not in self.memory.runs:
                self._make_run(event.run_id, to_micros(event.time))

    def load_datasets(self, endpoints: Collection[Endpoint]) -> None:
        wanted = [endpoint_key(endpoint) for endpoint in endpoints if endpoint not in self.memory.datasets]
        if wanted:
            self.read(_entity_questions(_DATASETS_BY_KEY, wanted, Entities._keep_dataset))
            self._make_datasets(sorted(endpoints, key=endpoint_key))

    def load_dataset_ids(self, ids: Collection[int]) -> None:
        wanted = [i for i in ids if i not in self.memory.dataset_by_id]
        self.read(_entity_questions(_DATASETS_BY_ID, wanted, Entities._keep_dataset))

    def load_run_ids(self, ids: Collection[int]) -> dict[int, RunRow]:
        wanted = [i for i in ids if i not in self.memory.run_by_id]
        self.read(_entity_questions(_RUNS_BY_ID, wanted, Entities._keep_run))
        return {i: self.memory.run_by_id[i] for i in ids}

    def _keep_dataset(self, row: Row) -> None:
        kept = DatasetRow(json.loads(row[0]), *row[1:])
        self.memory.weight += len(row[0])
        self.memory.datasets[kept.endpoint] = self.memory.dataset_by_id[kept.id] = kept

    def _keep_job(self, row: Row) -> None:
        kept = JobRow(json.loads(row[0]), *row[1:])
        self.memory.weight += len(row[0])
        self.memory.jobs[Job(kept.namespace, kept.name)] = kept

    def _keep_run(self, row: Row) -> None:
        kept = RunRow(*row)
        kept.was_complete = kept.complete
        self.memory.weight += _LIGHT
        self.memory.runs[kept.run_id] = self.memory.run_by_id[kept.id] = kept

    def _make_datasets(self, endpoints: Iterable[Endpoint]) -> None:
        rows = [
            DatasetRow(
                facets={},
                id=(number := self.standing.next(dataset)),
                key=endpoint_key(endpoint),
                namespace=endpoint.namespace,
                name=endpoint.name,
                is_job=int(isinstance(endpoint, Job)),
                canonical_id=number,  # a new name stands for itself; only symlinks can make it an alias
                kind=dataset_kind(endpoint.namespace, {}),
                owner=None,
                tags=[],
                contested=0,
                first_seen=None,
                last_seen=None,
            )
            for endpoint in dict.fromkeys(endpoints)
            if endpoint not in self.memory.datasets
        ]
        for row in rows:
            self.memory.datasets[row.endpoint] = self.memory.dataset_by_id[row.id] = row
            self.new_datasets.add(row.id)
        if rows:
            _INSERT_DATASET.run(self._conn, [{**vars(row), "name_key": key_of(row.name)} for row in rows])

    def _make_job(self, named: Job, micros: int) -> None:
        key = key_of(named.namespace, named.name)
        row = JobRow(
            facets={},
            id=self.standing.next(job),
            key=key,
            namespace=named.namespace,
            name=named.name,
            owner=None,
            last_seen=micros,
        )
        self.memory.jobs[named] = row
        _INSERT_JOB.run(self._conn, [vars(row)])

    def _make_run(self, run_id: str, micros: int) -> None:
        """Stored when it is known which job it is a run of."""
        row = RunRow(
            id=self.standing.next(run),
            key=key_of(run_id),
            run_id=run_id,
            first_event_at=micros,
            last_event_at=micros,
            stored=False,
            events=[],
        )
        self.memory.runs[run_id] = self.memory.run_by_id[row.id] = row

    # -- looking up -------------------------------------------------------------------------------

    def dataset(self, endpoint: Endpoint) -> DatasetRow:
        return self.memory.datasets[endpoint]

    def dataset_of(self, dataset_id: int) -> DatasetRow:
        return self.memory.dataset_by_id[dataset_id]

    def canonical_id(self, endpoint: Endpoint) -> int:
        return self.memory.datasets[endpoint].canonical_id

    def canonical_ids(self, endpoints: Collection[Endpoint]) -> dict[Endpoint, int]:
        self.load_datasets(endpoints)
        return {endpoint: self.canonical_id(endpoint) for endpoint in endpoints}

    def hub_id(self, job: Job, inputs: Iterable[Endpoint]) -> int:
        """The node between these ``inputs``, sorted by name, and what ``job`` makes of them all alike."""
        key = hub_key(job, inputs)
        if key not in self.memory.hubs:
            for (hub_id,) in _HUB.rows(self._conn, {"key": key}):
                self.memory.hubs[key] = hub_id
        if key not in self.memory.hubs:
            self.memory.hubs[key] = hub_id = self.standing.next_hub()
            self.new_datasets.add(hub_id)
            name = hub_name(job, key)
            row: dict[str, object] = {"id": hub_id, "key": key, "namespace": job.namespace, "name": name}
            row |= {"name_key": key_of(name), "is_job": 2, "canonical_id": hub_id, "kind": "job", "contested": 0}
            row |= {"owner": None, "tags": [], "facets": {}, "first_seen": None, "last_seen": None}
            _INSERT_DATASET.run(self._conn, [row])
            self.memory.weight += _LIGHT
        return self.memory.hubs[key]

    def job(self, named: Job | None) -> JobRow:
        assert named is not None
        return self.memory.jobs[named]

    def run(self, run_id: str | None) -> RunRow:
        assert run_id is not None
        return self.memory.runs[run_id]

    def label_ids(self, texts: Iterable[str]) -> Mapping[str, int]:
        """The ids of partition and column names, interning the new ones."""
        labels = self.memory.labels
        missing = {text: key_of(text) for text in sorted(text for text in texts if text not in labels)}
        if missing:
            self.read(_entity_questions(_LABELS_BY_KEY, list(missing.values()), Entities._keep_label))
            new = [
                {"id": self.standing.next(label), "key": key, "text": text}
                for text, key in missing.items()
                if text not in labels
            ]
            if new:
                _INSERT_LABEL.run(self._conn, new)
            for row in new:
                self._keep_label((row["id"], row["text"]))
        return labels

    def _keep_label(self, row: Row) -> None:
        label_id, text = row
        self.memory.labels[text] = label_id
        self.memory.weight += len(text) + _LIGHT

    # -- changing ---------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Apply the statements of ``event`` to its entities."""
        micros = to_micros(event.time)
        stamp = (micros, event.digest.hex())
        self.memory.weight += len(event.body)
        for use in event.datasets:
            self._apply_dataset(self.dataset(use.dataset), use.facets, micros, stamp)
        if event.job is not None:
            self._apply_job(self.job(event.job), event.job_facets or {}, micros, stamp)
        if event.kind is EventKind.RUN:
            self._apply_run(self.run(event.run_id), event, micros, stamp)

    def _apply_dataset(self, row: DatasetRow, facets: Facets, micros: int, stamp: Stamp) -> None:
        symlinks_before = row.facets.get("symlinks", _NO_FACET)[2]
        set_names = row.set_facets(facets, stamp)
        if set_names & _WORDS:
            words = kind_owner_and_tags(row.namespace, live_facets(row.facets))
            if row.contested or row.canonical_id != row.id or words != (row.kind, row.owner, row.tags):
                self.to_describe |= {row.id, row.canonical_id}
        if "symlinks" in set_names and (row.contested or symlinks_before != row.facets["symlinks"][2]):
            self.symlinks_stated[row.id] = row
        row.first_seen = micros if row.first_seen is None else min(row.first_seen, micros)
        row.last_seen = micros if row.last_seen is None else max(row.last_seen, micros)
        self._changed_datasets[row.id] = row

    def _apply_job(self, row: JobRow, facets: Facets, micros: int, stamp: Stamp) -> None:
        if "ownership" in row.set_facets(facets, stamp):
            row.owner = first_owner(live_facets(row.facets))
        row.last_seen = max(row.last_seen, micros)
        self._changed_jobs[row.id] = row

    def _apply_run(self, row: RunRow, event: Event, micros: int, stamp: Stamp) -> None:
        row.set_times_and_state(event, micros, stamp)
        row.set_facets(event.run_facets or {}, stamp)
        if row.is_newest("job", stamp):
            row.job_id = self.job(event.job).id
        row.uses |= {(self.dataset(use.dataset).id, "input") for use in event.inputs}
        row.uses |= {(self.dataset(use.dataset).id, "output") for use in event.outputs}
        if row.events is not None:
            row.events.append(event)
        self._changed_runs[row.id] = row

    # -- writing ----------------------------------------------------------------------------------

    def flush(self) -> None:
        for table, rows in (("dataset", self._changed_datasets), ("job", self._changed_jobs)):
            values = [_values(row, _UPDATED[table]) | {"facets": row.facets_text()} for row in rows.values()]
            if values:
                _UPDATES[table].run(self._conn, values)
        runs = self._changed_runs.values()
        new, old = ([row for row in runs if row.stored is stored] for stored in (False, True))
        if new:
            _INSERT_RUN.run(self._conn, [_values(row, _RUN_COLUMNS) for row in new])
        if old:
            _UPDATES["run"].run(self._conn, [_values(row, _UPDATED["run"]) for row in old])
        uses = [
            {"run_id": row.id, "dataset_id": dataset_id, "direction": direction}
            for row in runs
            for dataset_id, direction in sorted(row.uses - row.stored_uses)
        ]
        if uses:
            _INSERT_RUN_DATASET[self._conn.dialect.name].run(self._conn, uses)
        for row in runs:
            row.stored, row.stored_uses = True, row.uses.copy()
        self._changed_datasets, self._changed_jobs, self._changed_runs = {}, {}, {}


EntityQuestions = list[tuple[Question, Callable[[Entities, Row], None]]]
"""Questions, and what becomes of each row of an answer."""


def missing(memory: Memory, events: Collection[Event]) -> EntityQuestions:
    """What to ask for the events' datasets, jobs and runs that are not at hand."""
    endpoints = {use.dataset for event in events for use in event.datasets} - memory.datasets.keys()
    jobs = {event.job for event in events if event.job} - memory.jobs.keys()
    runs = {event.run_id for event in events if event.run_id} - memory.runs.keys()
    return [
        *_entity_questions(_DATASETS_BY_KEY, list(map(endpoint_key, endpoints)), Entities._keep_dataset),
        *_entity_questions(_JOBS_BY_KEY, [key_of(named.namespace, named.name) for named in jobs], Entities._keep_job),
        *_entity_questions(_RUNS_BY_KEY, list(map(key_of, runs)), Entities._keep_run),
    ]


def _entity_questions(
    lookup: Lookup, wanted: Sequence[int] | Sequence[bytes], keep: Callable[[Entities, Row], None]
) -> EntityQuestions:
    return [(question, keep) for question in lookup.questions(wanted)]


_NO_FACET: StampedFacet = [0, "", None]
_WORDS = frozenset({"datasetType", "ownership", "symlinks", "tags"})


def _names(table: Table, row: type[DatasetRow | JobRow | RunRow]) -> list[str]:
    return [field.name for field in fields(row) if field.name in table.c]


_RUN_COLUMNS = _names(run, RunRow)
_UPDATED: Mapping[str, Sequence[str]] = {
    "dataset": ("id", "first_seen", "last_seen"),
    "job": ("id", "owner", "last_seen"),
    "run": [name for name in _RUN_COLUMNS if name not in ("key", "run_id")],
}


def _values(row: object, columns: Iterable[str]) -> dict[str, object]:
    return {column: getattr(row, column) for column in columns}


def _read_as(column: Column[object]) -> ColumnElement[object]:
    """Facets come as text, so that their weight is known."""
    return type_coerce(column, Text) if column.name == "facets" else column


_DATASET, _JOB, _RUN = (
    select(*(_read_as(table.c[name]) for name in _names(table, row)))
    for table, row in ((dataset, DatasetRow), (job, JobRow), (run, RunRow))
)
_DATASETS_BY_KEY, _DATASETS_BY_ID = Lookup(_DATASET, dataset.c.key), Lookup(_DATASET, dataset.c.id)
_HUB = Prepared(select(dataset.c.id).where(dataset.c.key == bindparam("key")))
_JOBS_BY_KEY = Lookup(_JOB, job.c.key)
_RUNS_BY_KEY, _RUNS_BY_ID = Lookup(_RUN, run.c.key), Lookup(_RUN, run.c.id)
_LABELS_BY_KEY = Lookup(select(label.c.id, label.c.text), label.c.key)
_INSERT_DATASET, _INSERT_JOB, _INSERT_RUN, _INSERT_LABEL = (
    Prepared(insert(table)) for table in (dataset, job, run, label)
)
_INSERT_RUN_DATASET = {
    name: Prepared(dialect.insert(run_dataset).on_conflict_do_nothing()) for name, dialect in DIALECTS.items()
}


def _update(table: Table) -> Prepared:
    """The row of that ``id``. Facets come as text, see :meth:`DatasetRow.facets_text`."""
    values: dict[str, BindParameter[object]] = {name: bindparam(name) for name in _UPDATED[table.name] if name != "id"}
    if "facets" in table.c:
        values["facets"] = bindparam("facets", type_=Text())
    return Prepared(update(table).where(table.c.id == bindparam("id")).values(values))


_UPDATES = {table.name: _update(table) for table in (dataset, job, run)}


def chunks(items: list[Item]) -> Iterable[list[Item]]:
    """In parts that fit the databases' limits on bound parameters."""
    return (items[i : i + _CHUNK] for i in range(0, len(items), _CHUNK))
