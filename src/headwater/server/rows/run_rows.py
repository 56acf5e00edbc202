"""What the store knows about the rows of a run, and which row queries that allows. Needs no Spark.

Facets are untrusted input: members may be missing or of another type.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

from headwater.engines.paths import local_path
from headwater.errors import KeptPlanRefused, PathNotAllowed
from headwater.model.answers import DatasetDetail, Field, RunDetail
from headwater.model.askable import AskableRows, Availability
from headwater.model.names import Dataset
from headwater.model.runs import DatasetUse
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.app.problems import HttpProblem
from headwater.store.store import Store

_MAX_READERS = 20
_LONGEST_QUOTED = 800
_NO_ROWS = 'The latest run reported no rows: it ran with rows="off", or Headwater did not capture it.'
ELSEWHERE = "The pair tables are not in the folder that this server reads."


@dataclass(frozen=True)
class RunRows:
    run: RunDetail
    output: DatasetUse | None
    """None if the run has several outputs and the request names none."""
    columns: tuple[Field, ...]
    tables: Mapping[str, object] | None
    """The output's entry in the pair tables facet of the run."""
    trusted_keys: frozenset[str] = frozenset()
    """The capture keys that the store trusts."""

    @property
    def run_id(self) -> str:
        return self.run.run.run_id

    @property
    def facet(self) -> Mapping[str, object]:
        from headwater.formats.openlineage.facet_names import ROWS_FACET

        return _mapping(self.output.io_facets.get(ROWS_FACET)) if self.output is not None else {}

    @property
    def mode(self) -> str | None:
        mode = (self.tables or self.facet).get("mode")
        return mode if isinstance(mode, str) else None

    @property
    def identity(self) -> tuple[str, ...]:
        return tuple(map(str, _sequence((self.tables or {}).get("identity"))))

    @property
    def sources(self) -> tuple[Dataset, ...]:
        datasets = (dataset for item in _sequence(self.facet.get("sources")) for dataset in _datasets(_mapping(item)))
        return tuple(dict.fromkeys(datasets))

    def instant(self, roots: LookupRoots) -> Availability:
        """Whether pair tables can be read. ``roots`` are the only folders that they are read from."""
        from headwater.rows.pairs.layout import MARKER_FILE

        if self.tables is None:
            return Availability(False, 'The run wrote no pair tables: it ran without rows="full".')
        if "invalid" in self.tables:
            return Availability(False, f"The pair tables were discarded: {one_line([self.tables['invalid']])}.")
        location = self.tables.get("location")
        try:
            folder = roots.table_folder(local_path(location if isinstance(location, str) else ""))
        except PathNotAllowed:
            return Availability(False, ELSEWHERE)
        if not os.path.isfile(folder / MARKER_FILE):  # unlike Path.is_file, also of a name that no file can have
            return Availability(False, "The pair tables no longer exist.")
        return Availability(True)

    def on_spark(self) -> Availability:
        if self.output is None:
            return Availability(False, f"The run has {len(self.run.outputs)} outputs. Name a dataset.")
        facet = self.facet
        if not facet:
            return Availability(False, _NO_ROWS)
        if facet.get("replayable") is not True:
            needs = one_line(_sequence(facet.get("needs")), "; ")
            return Availability(False, f"The run cannot be replayed: {needs or 'its plan is missing'}.")
        refusal = self._refusal(facet)
        if refusal is not None:
            return Availability(False, refusal)
        functions = _sequence(_mapping(facet.get("plan")).get("python"))
        if functions:
            return Availability(
                False,
                f"The query contains Python, which the server does not run: {one_line(functions)}.",
            )
        installed, recorded = _installed_spark(), one_line([facet.get("spark")])
        if installed is None:
            return Availability(False, "Spark is not installed on the server.")
        if installed.split(".")[:2] != recorded.split(".")[:2]:
            return Availability(False, f"The run used Spark {recorded}; the server has Spark {installed}.")
        return Availability(True)

    def _refusal(self, facet: Mapping[str, object]) -> str | None:
        """Return why the stored query must not be deserialized, before a process is started for it."""
        from headwater.formats.openlineage.signed_rows import FacetPlace
        from headwater.rows.kept_queries.trust import PlanTrust

        assert self.output is not None
        try:
            PlanTrust(self.trusted_keys).check_signature(
                facet, FacetPlace(self.run_id, self.run.run.job, self.output.dataset)
            )
        except KeptPlanRefused as refused:
            return str(refused)
        return None


def of_run(store: Store, run_id: str, number: int = 0) -> RunRows:
    """``number`` is the index of the output among those with pair tables."""
    run = store.run(run_id)
    entry = _entry(run, set(), number)
    dataset = _dataset(_mapping((entry or {}).get("dataset")))
    matches = [use for use in run.outputs if dataset is None or use.dataset == dataset]
    output = matches[0] if len(matches) == 1 else None
    columns = store.dataset(output.dataset).schema if output is not None else ()
    return RunRows(run, output, columns, entry, store.trusted_capture_keys())


def of_dataset(store: Store, dataset: DatasetDetail, number: int | None = None) -> RunRows:
    """Return the rows of the latest run that wrote the dataset."""
    run_id = latest_run(dataset)
    if run_id is None:
        raise HttpProblem(404, "no_run", "No recorded run wrote the dataset.")
    run = store.run(run_id)
    names = {dataset.summary.dataset, *dataset.summary.aliases}
    output = next((use for use in run.outputs if use.dataset in names), None)
    return RunRows(run, output, dataset.schema, _entry(run, names, number), store.trusted_capture_keys())


def latest_run(dataset: DatasetDetail) -> str | None:
    return next((version.run_id for version in dataset.versions if version.run_id is not None), None)


def askable(store: Store, dataset: DatasetDetail, roots: LookupRoots) -> AskableRows:
    forward = _forward(store, dataset)
    name = dataset.summary.dataset
    if latest_run(dataset) is None:
        none = Availability(False, "No recorded run wrote the dataset.")
        return AskableRows(
            dataset=name,
            run_id=None,
            mode=None,
            columns=dataset.schema,
            identity=(),
            instant=none,
            spark=none,
            forward=forward,
            sources=(),
        )
    rows = of_dataset(store, dataset)
    instant = rows.instant(roots)
    identity = rows.identity if instant.possible else ()
    return AskableRows(
        dataset=name,
        run_id=rows.run_id,
        mode=rows.mode,
        columns=dataset.schema,
        identity=identity,
        instant=instant,
        spark=rows.on_spark(),
        forward=forward,
        sources=rows.sources,
    )


def _forward(store: Store, dataset: DatasetDetail) -> Availability:
    """Whether a query that reads the dataset can be replayed."""
    result = Availability(False, "No run with row lineage read the dataset.")
    endpoints = [node.endpoint for node in store.downstream(dataset.summary.dataset, depth=1).nodes]
    for endpoint in [item for item in endpoints if isinstance(item, Dataset)][:_MAX_READERS]:
        reader = store.dataset(endpoint)
        way = of_dataset(store, reader).on_spark() if latest_run(reader) is not None else result
        if way.possible:
            return way
        result = way
    return result


def _entry(run: RunDetail, names: set[Dataset], number: int | None) -> Mapping[str, object] | None:
    """Return the pair tables entry of the output with one of these names. Tables of old versions have no name."""
    from headwater.formats.openlineage.facet_names import ADJOINT_FACET

    entries = [_mapping(item) for item in _sequence(_mapping(run.run_facets.get(ADJOINT_FACET)).get("outputs"))]
    if number is not None and entries:
        if number >= len(entries):
            raise HttpProblem(404, "no_output", f"The run has {len(entries)} outputs, numbered from 0.")
        return entries[number]
    matches = [entry for entry in entries if _dataset(_mapping(entry.get("dataset"))) in names]
    unnamed = entries if len(entries) == 1 and "dataset" not in entries[0] else []
    return next(iter([*matches, *unnamed]), None)


def _datasets(source: Mapping[str, object]) -> Iterator[Dataset]:
    for item in _sequence(source.get("datasets")):
        dataset = _dataset(_mapping(item))
        if dataset is not None:
            yield dataset


def _dataset(value: Mapping[str, object]) -> Dataset | None:
    namespace, name = value.get("namespace"), value.get("name")
    return Dataset(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def one_line(values: Iterable[object], between: str = ", ") -> str:
    """Values from a request or a facet, for a message: without line breaks, and not longer than a message may be."""
    text = "".join(c if c.isprintable() else " " for c in between.join(map(str, values)))
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}…"


def _installed_spark() -> str | None:
    """Return the version without importing pyspark, which takes seconds."""
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()
