"""Makes the evidence facets of a run's last event: in the capture's own thread, after each write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from headwater.capture.events.evidence import EndedRun, EndedWrite, EvidenceOptions
from headwater.capture.events.plan_cuts import PlanCut
from headwater.capture.events.row_capture import RowCaptureOptions
from headwater.capture.events.writes import CapturedWrite
from headwater.capture.listener.code import CodeLocation
from headwater.evidence.checksums import ChecksumCalculator, Checksums, combined_checksum
from headwater.evidence.code import script_code
from headwater.evidence.designs import redact_design
from headwater.evidence.documents import GrainFacet, ManifestFacet, TraceFacet, TypesFacet
from headwater.evidence.grain import Key, grain_safety
from headwater.evidence.jvm import step_classes
from headwater.evidence.ledger import count_ledger
from headwater.evidence.measures import expectation_measures
from headwater.evidence.merging import merge_facets, merge_ledgers
from headwater.evidence.settings import TIME_ZONE, relevant_settings
from headwater.evidence.steps import MeasuredOperator, PlanSteps
from headwater.evidence.stitching import MAX_STEPS
from headwater.evidence.trace import morphism_trace
from headwater.evidence.types import type_unification
from headwater.formats.openlineage.facet_names import (
    EXPECTATIONS_FACET,
    GRAIN_FACET,
    LEDGER_FACET,
    MANIFEST_FACET,
    TRACE_FACET,
    TYPES_FACET,
)
from headwater.jvm import JavaObject, gateway_of
from headwater.model.ledger import Ledger
from headwater.model.names import Dataset
from headwater.plan.shape import canonical_plan
from headwater.proof.canonical import digest_and_preimage, digest_of
from headwater.redaction.literals import mask_design
from headwater.redaction.redactor import Redactor
from headwater.rows.kept_queries.capture import QueryCapture
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.pairs.capture import InputCheck, written_rows
from headwater.rows.pairs.write import tag_own_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STREAMED = "a streaming query reads and writes it batch by batch"
_MAX_DESIGN_BYTES = 64 * 1024
"""Bytes of a design that an event carries."""
_UNPLANNED = "the run failed before Spark had planned how to read it"


class HashedDocument(NamedTuple):
    """A document by its hash, with the text that was hashed."""

    digest: str
    text: bytes

    @classmethod
    def of(cls, document: object) -> HashedDocument:
        return cls(*digest_and_preimage(document))


@dataclass
class WriteEvidence:
    """The evidence of one write."""

    target: str
    settings: Mapping[str, str]
    design: HashedDocument
    inputs: Checksums = field(default_factory=Checksums)
    outputs: Checksums = field(default_factory=Checksums)
    types: TypesFacet | None = None
    trace: TraceFacet | None = None
    grain: GrainFacet | None = None
    ledger: dict[str, object] | None = None
    shows_design: bool = True
    """Whether an event may contain the design beside its hash."""


class RunEvidence:
    """The evidence provider of one Spark application. ``report`` gets errors that leave the rest of the evidence valid;
    ``redactor`` removes secrets from documents before they are hashed, so that a reader can hash them again."""

    def __init__(
        self,
        spark: SparkSession,
        code: CodeLocation | None,
        report: Callable[[Exception], None],
        redactor: Redactor | None = None,
    ) -> None:
        self._spark = spark
        self._redactor = redactor or Redactor()
        self._script = script_code(code)
        self._report = report
        self._plans = QueryCapture(spark)

    def is_over(self) -> bool:
        return self._spark.sparkContext._jsc is None

    @cached_property
    def _application(self) -> dict[str, str]:
        return dict(self._spark.sparkContext.getConf().getAll())

    def of_write(self, ended: EndedWrite, options: EvidenceOptions) -> WriteEvidence:
        part = self._part(ended)
        self._try(self._check, part, ended, options)
        self._try(self._read, part, ended, options)
        return part

    def of_stream(self, ended: EndedWrite) -> WriteEvidence:
        part = self._part(ended)
        part.inputs.unknown = {str(Dataset(*item.dataset.key)): _STREAMED for item in ended.written.inputs}
        part.outputs.unknown = {part.target: _STREAMED}
        self._try(self._read, part, ended, EvidenceOptions())
        return part

    def _part(self, ended: EndedWrite) -> WriteEvidence:
        zone = str(self._spark.conf.get(TIME_ZONE))
        target = str(Dataset(*ended.written.target.key))
        settings = self._redactor.settings(relevant_settings(self._application, ended.settings, zone))
        design = self._hashed(_design(ended.written, target), ended.literals)
        return WriteEvidence(target, settings, design, shows_design=ended.literals != "drop")

    def _hashed(self, design: object, literals: str) -> HashedDocument:
        """The hash of what an event may show: two designs that differ only in literals are the same without them."""
        return HashedDocument.of(redact_design(design if literals == "keep" else mask_design(design), self._redactor))

    def _try(
        self,
        take: Callable[[WriteEvidence, EndedWrite, EvidenceOptions], None],
        part: WriteEvidence,
        ended: EndedWrite,
        options: EvidenceOptions,
    ) -> None:
        """An error in one part leaves the others."""
        try:
            take(part, ended, options)
        except Exception as error:
            if self.is_over():
                raise
            self._report(error)

    def _check(self, part: WriteEvidence, ended: EndedWrite, options: EvidenceOptions) -> None:
        if ended.failed and not ended.execution.isPlanned():
            part.inputs.unknown = {str(Dataset(*item.dataset.key)): _UNPLANNED for item in ended.written.inputs}
            return
        captured = ended.rows or self._plans.keep(ended.execution, ended.written, RowCaptureOptions(), ended.started)
        if captured is None:
            return
        checker = ChecksumCalculator(self._spark, options.checksums)
        with tag_own_jobs(self._spark):
            part.inputs = checker.inputs(captured, ended.written)
            if not ended.failed:
                part.outputs = checker.output(captured, ended.written)

    def _read(self, part: WriteEvidence, ended: EndedWrite, options: EvidenceOptions) -> None:
        command = plan_classes(gateway_of(self._spark.sparkContext)).new("WrittenQuery", ended.execution.analyzed())
        query = command.plan()
        if query is None:
            return
        steps = PlanSteps.read(self._read_steps(query), tuple(_cuts(ended.written)), ended.literals)
        keys = tuple(options.keys)  # the run continues, and may add others
        part.types = type_unification(steps)
        part.trace = morphism_trace(steps, _column_naming(ended.written))
        part.grain = grain_safety(steps, declared=keys)
        if not ended.failed and (options.ledger or (options.grain and part.grain["undecided"])):
            ledger, part.grain = self._count_ledger(ended, command, steps, keys)
            part.ledger = ledger.document() if options.ledger else None

    def steps(self, plan: JavaObject) -> str | None:
        try:
            return self._read_steps(plan)
        except Exception as error:
            if not self.is_over():
                self._report(error)
            return None

    def _read_steps(self, plan: JavaObject) -> str:
        return str(step_classes(gateway_of(self._spark.sparkContext)).new("PlanSteps", plan, MAX_STEPS).toJson())

    def _count_ledger(
        self, ended: EndedWrite, command: JavaObject, steps: PlanSteps, keys: Sequence[Key]
    ) -> tuple[Ledger, GrainFacet]:
        """The ledger, and the grain verdicts from the rows that were counted."""
        captured = ended.rows or {}
        with tag_own_jobs(self._spark):
            names, output = written_rows(self._spark, command, captured) if "written" in captured else (None, None)
            with count_ledger(self._spark, command.plan(), _dataset_by_column(ended.written), names, output) as account:
                grain = grain_safety(steps, account.repeats, keys)
            change = InputCheck(self._spark, captured)()
        if change is None:
            return account.ledger, grain
        return replace(account.ledger, partly=change), grain_safety(steps, declared=keys)

    def facets(self, ended: EndedRun) -> dict[str, dict[str, object]]:
        parts: Sequence[WriteEvidence] = ended.parts
        if not parts and ended.declared is None and not ended.expectations:
            return {}
        facets: dict[str, dict[str, object]] = {MANIFEST_FACET: dict(self._manifest(ended))}
        ledger = ended.declared.ledger if ended.declared is not None else None
        if ledger is None:
            ledger = merge_ledgers([(part.target, part.ledger) for part in parts if part.ledger])
        for name, facet in (
            (LEDGER_FACET, ledger),
            (TYPES_FACET, merge_facets([(part.target, part.types) for part in parts if part.types])),
            (TRACE_FACET, merge_facets([(part.target, part.trace) for part in parts if part.trace])),
            (GRAIN_FACET, merge_facets([(part.target, part.grain) for part in parts if part.grain])),
        ):
            if facet is not None:
                facets[name] = dict(facet)
        if ended.expectations:
            numbers = expectation_measures(ended, facets)
            facets[EXPECTATIONS_FACET] = {
                "expectations": [expectation.judged(numbers) for expectation in ended.expectations]
            }
        return facets

    def _manifest(self, ended: EndedRun) -> ManifestFacet:
        parts, declared, partition = ended.parts, ended.declared, ended.partition
        distinct = dict.fromkeys(tuple(sorted(part.settings.items())) for part in parts)
        settings = [dict(items) for items in distinct]
        config: dict[str, object] = {"settings": settings[0] if len(settings) == 1 else settings}
        if partition is not None:  # an event cannot contain None, and has to show all that is hashed
            config["partition"] = self._redactor.text(partition)
        code: dict[str, object] = dict(self._script or {})
        designs = sorted(part.design for part in parts)
        shows = ended.literals != "drop" and all(part.shows_design for part in parts)
        design = designs[0] if len(designs) == 1 else HashedDocument.of([item.digest for item in designs])
        if declared is not None:
            config["options"] = dict(declared.options)
            code["functions"] = dict(declared.functions)
            design, designs = self._hashed(declared.design, ended.literals), []
        manifest: ManifestFacet = {
            "configHash": digest_of(config),
            "config": config,
            "designHash": design.digest,
            "inputChecksums": _combined_checksums([part.inputs for part in parts]),
            "outputChecksums": _combined_checksums([part.outputs for part in parts]),
        }
        if code:
            manifest |= {"codeHash": digest_of(code), "code": code}
        if shows:
            _add_designs(manifest, design, designs)
        unknown = {name: why for part in parts for name, why in {**part.inputs.unknown, **part.outputs.unknown}.items()}
        not_read = {name: files for part in parts for name, files in part.inputs.not_read.items()}
        not_read |= {name: files for part in parts for name, files in part.outputs.not_read.items()}
        if ended.expectations:
            manifest["contractVersion"] = digest_of([expectation.promise() for expectation in ended.expectations])
        if unknown:
            manifest["withoutChecksum"] = unknown
        if not_read:
            manifest["filesNotRead"] = not_read
        return manifest


def _add_designs(manifest: ManifestFacet, design: HashedDocument, of_writes: Sequence[HashedDocument]) -> None:
    """The design itself, as the text that was hashed, if it is not too long for an event; of several writes, whose
    hashes are hashed together, each design."""
    if len(design.text) <= _MAX_DESIGN_BYTES:
        manifest["design"] = design.text.decode()
    if len(of_writes) > 1 and sum(len(item.text) for item in of_writes) <= _MAX_DESIGN_BYTES:
        manifest["designs"] = {item.digest: item.text.decode() for item in of_writes}


def _combined_checksums(all_checksums: Sequence[Checksums]) -> dict[str, str]:
    by_name: dict[str, list[str]] = {}
    for checksums_of_write in all_checksums:
        for name, checksum in checksums_of_write.of.items():
            by_name.setdefault(name, []).append(checksum)
    return {name: combined_checksum(checksums) for name, checksums in by_name.items()}


def _design(written: CapturedWrite, target: str) -> dict[str, object]:
    reads = {id: str(Dataset(*item.dataset.key)) for item in written.inputs for id in item.ids}
    if written.plan is None:
        return {"command": written.command, "target": target, "reads": sorted(set(reads.values()))}
    return canonical_plan(written.plan, reads, target, written.cut_plans)


def _cuts(written: CapturedWrite) -> Iterator[PlanCut]:
    yield from written.cuts
    for view in written.views:
        yield from _cuts(view.written)


def _dataset_by_column(written: CapturedWrite) -> dict[int, str]:
    """By the id of a source's column, the dataset; also below views."""
    datasets: dict[int, str] = {}
    for view in written.views:
        datasets |= _dataset_by_column(view.written)
    return datasets | {
        id: str(Dataset(*item.dataset.key)) for item in written.inputs for id in item.ids if item.dataset.kind != "VIEW"
    }


def _column_naming(written: CapturedWrite) -> Callable[[MeasuredOperator, int], str]:
    datasets = _dataset_by_column(written)

    def name(step: MeasuredOperator, id: int) -> str:
        return f"{datasets.get(id, step.operator)}.{(step.leaf or {})[id]}"

    return name
