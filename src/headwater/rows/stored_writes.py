"""Row lineage in the store: the writes of a dataset, the writes that read it, and their restored queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import unquote

from headwater.errors import KeptPlanRefused, RowsError, SignatureRefused, UnknownDataset
from headwater.formats.openlineage.facet_names import ROWS_FACET
from headwater.formats.openlineage.signed_rows import FacetPlace
from headwater.model.answers import Closure
from headwater.model.names import Dataset, Endpoint
from headwater.model.runs import OutputFacet
from headwater.rows.column_names import quote_name
from headwater.rows.kept_queries.files import PinnedFile, read_file_list
from headwater.rows.kept_queries.restore import changed_files, restore
from headwater.rows.kept_queries.roots import PlanRoots
from headwater.rows.kept_queries.shape import check_shape
from headwater.rows.kept_queries.trust import PlanTrust, TrustedFacet
from headwater.rows.names import NamedSource, name_leaves
from headwater.rows.provenance import RowProvenance, frame_of_plan
from headwater.rows.spellings import spellings
from headwater.rows.stored_values import StoredFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_READABLE_FORMATS = ("parquet", "orc", "json", "avro")
"""Formats that can be read with the files and the plan's own schema alone."""
_Answer = TypeVar("_Answer")
_MAX_WRITES = 1_000  # that are searched for the one that wrote a file


class WriteHistory(Protocol):
    """The part of the store that this module uses."""

    def output_facets(
        self, facet: str, *, dataset: str | Endpoint | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]: ...

    def downstream(self, dataset: str | Endpoint, *, depth: int | None = None) -> Closure: ...

    def trusted_capture_keys(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class StoredWrites:
    """``history`` is None where only a DataFrame is traced. Python functions of a stored query run only with
    ``allow_python``, and an unsigned plan is read only with ``trust_unsigned``. ``roots`` are the locations that stored
    plans may read."""

    spark: SparkSession
    history: WriteHistory | None
    allow_python: bool = False
    trust_unsigned: bool = False
    roots: PlanRoots = field(default_factory=PlanRoots)

    def writes_of(self, what: str | Dataset, output: str | None = None) -> list[OutputFacet]:
        """The write of a run; for a dataset, the writes whose rows it has now: the last one, and those it appended
        to."""
        if isinstance(what, str) and _RUN_ID.fullmatch(what):
            return [self._write_of_run(what, output)]
        writes = self._writes_of_dataset(what)
        if not writes:
            raise RowsError(f"No row lineage is stored for {what}: no run that wrote it recorded its rows.")
        folder = self.verified_facet(writes[0]).content["written"].get("uri") if _is_replayable(writes[0]) else None
        return [write for write in writes if write is writes[0] or self._still_exists(write, folder)]

    def _write_of_run(self, run_id: str, output: str | None) -> OutputFacet:
        facets = self._facets(run_id=run_id)
        matching = [facet for facet in facets if output is None or str(facet.dataset).endswith(output)]
        if len(matching) == 1:
            return matching[0]
        if not facets:
            raise RowsError(f"Run {run_id} recorded nothing about the rows it wrote.")
        available = ", ".join(str(facet.dataset) for facet in facets)
        raise RowsError(
            f"Run {run_id} has {len(matching)} outputs that match. Choose one with output=. Outputs: {available}"
        )

    def _writes_of_dataset(self, what: str | Dataset) -> list[OutputFacet]:
        return self._by_spelling(what, lambda name: self._facets(dataset=name))

    def _by_spelling(self, what: str | Dataset, ask: Callable[[str | Dataset], _Answer]) -> _Answer:
        """The first answer for a spelling of the dataset that the store knows."""
        try:
            return ask(what)
        except UnknownDataset as unknown:
            if isinstance(what, Dataset):
                raise
            settings = dict(self.spark.sparkContext.getConf().getAll())
            for spelling in spellings(what, self.spark.catalog.currentDatabase(), settings):
                with suppress(UnknownDataset):
                    return ask(spelling)
            raise unknown from None

    def _facets(
        self, *, dataset: str | Endpoint | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]:
        if self.history is None:
            return []
        return self.history.output_facets(ROWS_FACET, dataset=dataset, run_id=run_id, limit=limit)

    @cached_property
    def _trust(self) -> PlanTrust:
        keys = frozenset[str]() if self.history is None else self.history.trusted_capture_keys()
        return PlanTrust(keys, self.trust_unsigned, self.roots)

    def verified_facet(self, write: OutputFacet) -> TrustedFacet:
        """The verified facet of a write. Before that, nothing that it names is opened, and nothing is deserialized."""
        return self._trust.verify(write.facet, FacetPlace(write.run_id, write.job, write.dataset))

    def _still_exists(self, write: OutputFacet, folder: str | None) -> bool:
        """Whether the files of an earlier write are still in the dataset. For an untrusted write only files below the
        dataset's own ``folder`` are checked; if they exist, its rows are part of the answer, and the question is
        refused."""
        files = _written_files(write)
        if files is None:
            return False
        try:
            self.verified_facet(write)
        except SignatureRefused:
            if folder is None or any(not _is_in_folder(file.path, folder) for file in files):
                return False
            if changed_files(self.spark, files):
                return False
            raise
        return not changed_files(self.spark, files)

    def writers(self, dataset: str, files: Sequence[str], before: datetime) -> Iterator[tuple[OutputFacet, list[str]]]:
        """The writes that these files of a dataset come from, each with its files."""
        try:
            writes = self._facets(dataset=dataset, limit=_MAX_WRITES)
        except UnknownDataset:
            return
        unclaimed = {_plain_path(file): file for file in files}
        # Trusted writes first: an event that claims another run's files does not get them.
        for write in sorted(writes, key=lambda candidate: not self._is_signed(candidate)):
            write_files = _written_files(write)
            if write_files is None or write.completed_at > before:
                continue
            written_files = [
                unclaimed.pop(path) for file in write_files if (path := _plain_path(file.path)) in unclaimed
            ]
            if written_files:
                yield write, written_files

    def is_written(self, dataset: str, before: datetime) -> bool:
        """Whether a run with recorded row lineage had written the dataset by then."""
        try:
            writes = self._facets(dataset=dataset, limit=_MAX_WRITES)
        except UnknownDataset:
            return False
        return any(write.completed_at <= before for write in writes)

    def _is_signed(self, write: OutputFacet) -> bool:
        try:
            self.verified_facet(write)
        except KeptPlanRefused:
            return False
        return True

    def provenance(self, write: OutputFacet, *, known: bool = False) -> tuple[RowProvenance, tuple[str, ...]]:
        """The write's query, and the column names as written."""
        restored = restore(self.spark, self.verified_facet(write), allow_python=self.allow_python)
        return RowProvenance(self.spark, restored.plan, known=known), restored.columns

    def frame(self, write: OutputFacet) -> DataFrame:
        """The write's query as a DataFrame."""
        return frame_of_plan(
            self.spark, restore(self.spark, self.verified_facet(write), allow_python=self.allow_python).plan
        )

    def readers_of(self, dataset: str | Dataset) -> list[OutputFacet]:
        """The latest write of each dataset that was derived from this one."""
        if self.history is None:
            return []
        latest = []
        for node in self._downstream(dataset).nodes:
            if isinstance(node.endpoint, Dataset):
                latest += self._facets(dataset=node.endpoint, limit=1)
        return latest

    def _downstream(self, dataset: str | Dataset) -> Closure:
        history = self.history
        assert history is not None
        return self._by_spelling(dataset, lambda name: history.downstream(name, depth=1))

    def canonical_name(self, dataset: str | Dataset) -> str:
        """The name under which the store has the dataset."""
        return str(self._downstream(dataset).endpoint)

    def names(self, provenance: RowProvenance) -> list[NamedSource]:
        return name_leaves(self.spark, [provenance.leaf(source.number) for source in provenance.sources])

    def read_back(self, write: OutputFacet, provenance: RowProvenance, names: Sequence[str]) -> DataFrame | None:
        """The rows that the run wrote, read from its files; None if they were changed or are gone."""
        written = self.verified_facet(write).content["written"]
        if written.get("format") not in _READABLE_FORMATS or "files" not in written:
            return None
        files = read_file_list(written["files"])
        if not files or changed_files(self.spark, files):
            return None
        schema = ", ".join(
            f"{quote_name(name)} {column.type}" for name, column in zip(names, provenance.columns, strict=True)
        )
        reader = self.spark.read.format(written["format"]).options(**written.get("options", {})).schema(schema)
        reader = reader.option("basePath", written["uri"])
        return reader.option("__globPaths__", "false").load([file.path for file in files])

    def stored_values(
        self, write: OutputFacet, provenance: RowProvenance, rows: DataFrame, options: Mapping[str, str] | None
    ) -> tuple[str | None, ...]:
        """What became of the query's values when they were written, and read as these rows (stored_values.py)."""
        written = self.verified_facet(write).content["written"]
        stored = StoredFormat.of_output(written)
        types = [type for _name, type in rows.dtypes]
        return stored.stored_values(
            provenance.columns, rows.columns, types, stored.options if options is None else options
        )


def _plain_path(path: str) -> str:
    """A file's path without differences between writers: escapes, and the slashes after `file:`."""
    return re.sub(r"^file:/+", "file:/", unquote(path))


def _is_replayable(write: OutputFacet) -> bool:
    facet: object = write.facet  # as received
    return isinstance(facet, Mapping) and facet.get("replayable") is True


def _written_files(write: OutputFacet) -> tuple[PinnedFile, ...] | None:
    """The files that a write claims to have written; None if it names none, or the facet is malformed."""
    try:
        facet: object = write.facet  # as received
        if not isinstance(facet, Mapping):
            return None
        check_shape(facet)
        listed = (facet.get("written") or {}).get("files")
        return None if listed is None else read_file_list(listed)
    except KeptPlanRefused:
        return None


def _is_in_folder(path: str, folder: str) -> bool:
    steps = _plain_path(path).split("/")
    return ".." not in steps and _plain_path(path).startswith(_plain_path(folder).rstrip("/") + "/")


@contextmanager
def condition_errors(subject: str) -> Iterator[None]:
    """Maps Spark's error about a condition to a RowsError in one line that names the subject."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        raise RowsError(f"The condition does not fit {subject}: {str(error).partition(chr(10))[0].strip()}") from error
