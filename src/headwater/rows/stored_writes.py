"""What the store knows of rows: which runs wrote a dataset, what they read, and their queries, restored."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from headwater.capture.naming.paths import location_name
from headwater.errors import KeptPlanRefused, QueryError, RowsError, SignatureRefused, UnknownDataset
from headwater.formats.openlineage.signed_rows import FACET, FacetPlace
from headwater.model.answers import Closure
from headwater.model.names import Dataset, Endpoint
from headwater.model.runs import OutputFacet
from headwater.rows.kept_queries.files import PinnedFile, read_file_list
from headwater.rows.kept_queries.restore import changed_files, restore
from headwater.rows.kept_queries.roots import PlanRoots
from headwater.rows.kept_queries.shape import check_shape
from headwater.rows.kept_queries.trust import PlanTrust, TrustedFacet
from headwater.rows.names import NamedSource, name_leaves
from headwater.rows.provenance import RowProvenance, frame_of_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_READABLE_FORMATS = ("parquet", "orc", "json", "avro")
"""Formats whose files, and the plan's own schema, are all it takes to read them."""
_MAX_WRITES = 1_000  # that are looked through for the one that wrote a file


class WriteHistory(Protocol):
    """The store, as far as it is asked here."""

    def output_facets(
        self, facet: str, *, dataset: str | Endpoint | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]: ...

    def downstream(self, dataset: str | Endpoint, *, depth: int | None = None) -> Closure: ...

    def trusted_capture_keys(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class StoredWrites:
    """``history`` is None where only what Spark has at hand is asked about. Python functions that a query has brought
    along run only if ``allow_python``, and a plan without a signature is read only if ``trust_unsigned``. ``roots`` are
    the places that stored plans may read."""

    spark: SparkSession
    history: WriteHistory | None
    allow_python: bool = False
    trust_unsigned: bool = False
    roots: PlanRoots = field(default_factory=PlanRoots)

    def writes_of(self, what: str | Dataset, output: str | None = None) -> list[OutputFacet]:
        """The write of a run; of a dataset, those whose rows are in it now: the last one, and those it added to."""
        if isinstance(what, str) and _RUN_ID.fullmatch(what):
            return [self._write_of_run(what, output)]
        writes = self._writes_of_dataset(what)
        if not writes:
            raise RowsError(f"Nothing was kept of the rows of {what}: no run that wrote it told of them.")
        folder = self.trusted(writes[0]).content["written"].get("uri") if _is_replayable(writes[0]) else None
        return [write for write in writes if write is writes[0] or self._still_exists(write, folder)]

    def _write_of_run(self, run_id: str, output: str | None) -> OutputFacet:
        told = self._facets(run_id=run_id)
        fitting = [each for each in told if output is None or str(each.dataset).endswith(output)]
        if len(fitting) == 1:
            return fitting[0]
        if not told:
            raise RowsError(f"Run {run_id} told nothing of the rows it wrote.")
        there = ", ".join(str(each.dataset) for each in told)
        raise RowsError(f"Run {run_id} has {len(fitting)} outputs that fit. Say which: output=. There are: {there}")

    def _writes_of_dataset(self, what: str | Dataset) -> list[OutputFacet]:
        try:
            return self._facets(dataset=what)
        except UnknownDataset as unknown:
            if isinstance(what, Dataset):
                raise
            try:
                return self._facets(dataset=dataset_of_path(what))
            except QueryError:
                raise unknown from None

    def _facets(self, **asked: Any) -> list[OutputFacet]:
        return [] if self.history is None else self.history.output_facets(FACET, **asked)

    @cached_property
    def _trust(self) -> PlanTrust:
        keys = frozenset[str]() if self.history is None else self.history.trusted_capture_keys()
        return PlanTrust(keys, self.trust_unsigned, self.roots)

    def trusted(self, write: OutputFacet) -> TrustedFacet:
        """The facet of a write, verified. Until then nothing that it names is opened, and nothing is deserialized."""
        return self._trust.verify(write.facet, FacetPlace(write.run_id, write.job, write.dataset))

    def _still_exists(self, write: OutputFacet, folder: str | None) -> bool:
        """Whether the files of an earlier write are still in the dataset. Of a write that is not trusted only files
        below the dataset's own ``folder`` are looked at; where they are there, its rows are part of the answer, and the
        question is refused."""
        files = _written_files(write)
        if files is None:
            return False
        try:
            self.trusted(write)
        except SignatureRefused:
            if folder is None or any(not _is_in_folder(file.path, folder) for file in files):
                return False
            if changed_files(self.spark, files):
                return False
            raise
        return not changed_files(self.spark, files)

    def writers(self, dataset: str, files: Sequence[str], before: datetime) -> Iterator[tuple[OutputFacet, list[str]]]:
        """The writes that these files of a dataset come from, each with its own; of files from elsewhere there is
        none."""
        try:
            writes = self._facets(dataset=dataset, limit=_MAX_WRITES)
        except UnknownDataset:
            return
        left = {_plain_path(file): file for file in files}
        # Those that are trusted first: an event that claims another run's files does not take them from it.
        for write in sorted(writes, key=lambda one: not self._is_signed(one)):
            listed = _written_files(write)
            if listed is None or write.completed_at > before:
                continue
            here = [left.pop(path) for file in listed if (path := _plain_path(file.path)) in left]
            if here:
                yield write, here

    def _is_signed(self, write: OutputFacet) -> bool:
        try:
            self.trusted(write)
        except KeptPlanRefused:
            return False
        return True

    def provenance(self, write: OutputFacet, *, known: bool = False) -> tuple[RowProvenance, tuple[str, ...]]:
        """The write's query, and the names its columns were written under."""
        restored = restore(self.spark, self.trusted(write), allow_python=self.allow_python)
        return RowProvenance(self.spark, restored.plan, known=known), restored.columns

    def frame(self, write: OutputFacet) -> DataFrame:
        """The write's query, as if it had just been written down."""
        return frame_of_plan(self.spark, restore(self.spark, self.trusted(write), allow_python=self.allow_python).plan)

    def readers_of(self, dataset: str | Dataset) -> list[OutputFacet]:
        """The latest write of each dataset that was made of this one."""
        if self.history is None:
            return []
        latest = []
        for node in self._downstream(dataset).nodes:
            if isinstance(node.endpoint, Dataset):
                latest += self._facets(dataset=node.endpoint, limit=1)
        return latest

    def _downstream(self, dataset: str | Dataset) -> Closure:
        assert self.history is not None
        try:
            return self.history.downstream(dataset, depth=1)
        except UnknownDataset as unknown:
            if isinstance(dataset, Dataset):
                raise
            try:
                return self.history.downstream(dataset_of_path(dataset), depth=1)
            except QueryError:
                raise unknown from None

    def names(self, provenance: RowProvenance) -> list[NamedSource]:
        return name_leaves(self.spark, [provenance.leaf(source.number) for source in provenance.sources])

    def read_back(self, write: OutputFacet, provenance: RowProvenance, names: Sequence[str]) -> DataFrame | None:
        """What the run wrote, as it still is there; None where it is not, or not only that."""
        written = self.trusted(write).content["written"]
        if written.get("format") not in _READABLE_FORMATS or "files" not in written:
            return None
        files = read_file_list(written["files"])
        if not files or changed_files(self.spark, files):
            return None
        schema = ", ".join(
            f"`{name.replace('`', '``')}` {column.type}" for name, column in zip(names, provenance.columns, strict=True)
        )
        reader = self.spark.read.format(written["format"]).schema(schema).option("basePath", written["uri"])
        return reader.option("__globPaths__", "false").load([file.path for file in files])


def dataset_of_path(path: str) -> Dataset:
    """A path as one types it."""
    return Dataset(*location_name(path if "://" in path else os.path.abspath(path)))


def quote_name(name: str) -> str:
    """A column's name as Spark takes any."""
    return f"`{name.replace('`', '``')}`"


def _plain_path(path: str) -> str:
    """A file's path without what its writers differ in: escapes, and the slashes after `file:`."""
    return re.sub(r"^file:/+", "file:/", unquote(path))


def _is_replayable(write: OutputFacet) -> bool:
    facet: object = write.facet  # what somebody sent
    return isinstance(facet, Mapping) and facet.get("replayable") is True


def _written_files(write: OutputFacet) -> tuple[PinnedFile, ...] | None:
    """The files that a write says it wrote; None where it names none, or not as a capture does."""
    try:
        facet: object = write.facet  # what somebody sent
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
def condition_errors(what: str) -> Iterator[None]:
    """Spark's complaint about a condition, in one line and with our name for what it is about."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as wrong:
        raise RowsError(f"The condition does not fit {what}: {str(wrong).partition(chr(10))[0].strip()}") from wrong
