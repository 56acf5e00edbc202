"""What a run has left of the rows it wrote, and what can be done with that: found in the store, without Spark.

Facets are what somebody sent: nothing in them is counted on to be there, or to be of the type it should be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from headwater.engines.paths import local_path
from headwater.errors import KeptPlanRefused, PathNotAllowed
from headwater.model.answers import DatasetDetail, Field, RunDetail
from headwater.model.askable import AskableRows, Way
from headwater.model.names import Dataset
from headwater.model.runs import DatasetUse
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.app.problems import Problem
from headwater.store.store import Store

_MOST_READERS = 20
_LONGEST_QUOTED = 800
_NOTHING_TOLD = 'The latest run told nothing of its rows: it ran with rows="off", or Headwater did not capture it.'
ELSEWHERE = "The pair tables are not in the folder that this server reads."


@dataclass(frozen=True)
class KeptRows:
    run: RunDetail
    output: DatasetUse | None
    """None where a run has several outputs, and nobody said which is meant."""
    columns: tuple[Field, ...]
    tables: Mapping[str, Any] | None
    """The output's entry in the run's facet on pair tables."""
    trusted_keys: frozenset[str] = frozenset()
    """The capture keys that the store trusts."""

    @property
    def run_id(self) -> str:
        return self.run.run.run_id

    @property
    def facet(self) -> Mapping[str, Any]:
        from headwater.formats.openlineage.signed_rows import FACET

        return _mapping(self.output.io_facets.get(FACET)) if self.output is not None else {}

    @property
    def mode(self) -> str | None:
        told = (self.tables or self.facet).get("mode")
        return told if isinstance(told, str) else None

    @property
    def identity(self) -> tuple[str, ...]:
        return tuple(map(str, _sequence((self.tables or {}).get("identity"))))

    @property
    def sources(self) -> tuple[Dataset, ...]:
        named = (each for source in _sequence(self.facet.get("sources")) for each in _datasets(_mapping(source)))
        return tuple(dict.fromkeys(named))

    def instant(self, roots: LookupRoots) -> Way:
        """``roots``: the folders that pair tables are read from, wherever events say that they are."""
        from headwater.rows.pairs.layout import MARK

        if self.tables is None:
            return Way(False, 'The run wrote no pair tables: it ran without rows="full".')
        if "invalid" in self.tables:
            return Way(False, f"The pair tables were not kept: {one_line([self.tables['invalid']])}.")
        location = self.tables.get("location")
        try:
            folder = roots.table_folder(local_path(location if isinstance(location, str) else ""))
        except PathNotAllowed:
            return Way(False, ELSEWHERE)
        if not os.path.isfile(folder / MARK):  # unlike Path.is_file, also of a name that no file can have
            return Way(False, "The pair tables are gone.")
        return Way(True)

    def on_spark(self) -> Way:
        if self.output is None:
            return Way(False, f"The run has {len(self.run.outputs)} outputs: ask for a dataset.")
        facet = self.facet
        if not facet:
            return Way(False, _NOTHING_TOLD)
        if facet.get("replayable") is not True:
            needs = one_line(_sequence(facet.get("needs")), "; ")
            return Way(False, f"The run cannot be run again: {needs or 'what it takes was not kept'}.")
        refusal = self._refusal(facet)
        if refusal is not None:
            return Way(False, refusal)
        functions = _sequence(_mapping(facet.get("plan")).get("python"))
        if functions:
            return Way(False, f"The query holds Python, which a server does not run: {one_line(functions)}.")
        here, there = _spark_here(), one_line([facet.get("spark")])
        if here is None:
            return Way(False, "Spark is not installed where the server runs.")
        if here.split(".")[:2] != there.split(".")[:2]:
            return Way(False, f"The run was on Spark {there}, and the server has Spark {here}.")
        return Way(True)

    def _refusal(self, facet: Mapping[str, Any]) -> str | None:
        """Why the query is not deserialized, known before a process is started for it."""
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


def of_run(store: Store, run_id: str, number: int = 0) -> KeptRows:
    """``number``: which of the outputs that the run wrote pair tables of."""
    run = store.run(run_id)
    entry = _entry(run, set(), number)
    named = _dataset(_mapping((entry or {}).get("dataset")))
    fitting = [use for use in run.outputs if named is None or use.dataset == named]
    output = fitting[0] if len(fitting) == 1 else None
    columns = store.dataset(output.dataset).schema if output is not None else ()
    return KeptRows(run, output, columns, entry, store.trusted_capture_keys())


def of_dataset(store: Store, dataset: DatasetDetail, number: int | None = None) -> KeptRows:
    """Of the latest run that wrote it."""
    run_id = latest_run(dataset)
    if run_id is None:
        raise Problem(404, "no_run", "No run is known to have written the dataset.")
    run = store.run(run_id)
    names = {dataset.summary.dataset, *dataset.summary.aliases}
    output = next((use for use in run.outputs if use.dataset in names), None)
    return KeptRows(run, output, dataset.schema, _entry(run, names, number), store.trusted_capture_keys())


def latest_run(dataset: DatasetDetail) -> str | None:
    return next((version.run_id for version in dataset.versions if version.run_id is not None), None)


def askable(store: Store, dataset: DatasetDetail, roots: LookupRoots) -> AskableRows:
    forward = _forward(store, dataset)
    name = dataset.summary.dataset
    if latest_run(dataset) is None:
        none = Way(False, "No run is known to have written the dataset.")
        return AskableRows(name, None, None, dataset.schema, (), none, none, forward, ())
    kept = of_dataset(store, dataset)
    instant = kept.instant(roots)
    identity = kept.identity if instant.possible else ()
    return AskableRows(
        name, kept.run_id, kept.mode, dataset.schema, identity, instant, kept.on_spark(), forward, kept.sources
    )


def _forward(store: Store, dataset: DatasetDetail) -> Way:
    """Whether one of the datasets that were made of it can be made again."""
    found = Way(False, "No run that told of its rows has read the dataset.")
    made = [node.endpoint for node in store.downstream(dataset.summary.dataset, depth=1).nodes]
    for endpoint in [each for each in made if isinstance(each, Dataset)][:_MOST_READERS]:
        reader = store.dataset(endpoint)
        way = of_dataset(store, reader).on_spark() if latest_run(reader) is not None else found
        if way.possible:
            return way
        found = way
    return found


def _entry(run: RunDetail, names: set[Dataset], number: int | None) -> Mapping[str, Any] | None:
    """Of the pair tables of the output with one of these names. Tables of before say no name."""
    from headwater.capture.events.facets import ADJOINT

    entries = [_mapping(each) for each in _sequence(_mapping(run.run_facets.get(ADJOINT)).get("outputs"))]
    if number is not None and entries:
        if number >= len(entries):
            raise Problem(404, "no_output", f"The run has {len(entries)} outputs, counted from 0.")
        return entries[number]
    fitting = [each for each in entries if _dataset(_mapping(each.get("dataset"))) in names]
    unnamed = entries if len(entries) == 1 and "dataset" not in entries[0] else []
    return next(iter([*fitting, *unnamed]), None)


def _datasets(source: Mapping[str, Any]) -> Iterator[Dataset]:
    for each in _sequence(source.get("datasets")):
        named = _dataset(_mapping(each))
        if named is not None:
            yield named


def _dataset(told: Mapping[str, Any]) -> Dataset | None:
    namespace, name = told.get("namespace"), told.get("name")
    return Dataset(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def one_line(values: Iterable[object], between: str = ", ") -> str:
    """What somebody sent, in a message: without line breaks, and no longer than a message may be."""
    text = "".join(c if c.isprintable() else " " for c in between.join(map(str, values)))
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}…"


def _spark_here() -> str | None:
    """Without loading it, which takes seconds."""
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
