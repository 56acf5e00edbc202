"""Makes the facets of a run's last event from what its writes were: in the capture's own thread, after each write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.capture.events.evidence import EvidenceAsked, RunEnded, WriteEnded
from headwater.capture.events.plan_cuts import Cut
from headwater.capture.events.row_capture import RowsAsked
from headwater.capture.events.writes import Written
from headwater.capture.listener.code import CodeLocation
from headwater.evidence.checksums import Checker, Checksums, joined
from headwater.evidence.code import script_code
from headwater.evidence.designs import redacted_design
from headwater.evidence.grain import Key, grain_safety
from headwater.evidence.jvm import step_classes
from headwater.evidence.ledger import account_of
from headwater.evidence.measures import measured
from headwater.evidence.merging import merged, merged_ledgers
from headwater.evidence.settings import TIME_ZONE, deciding
from headwater.evidence.steps import Step, Steps
from headwater.evidence.stitching import MOST_STEPS
from headwater.evidence.trace import morphisms
from headwater.evidence.types import unification
from headwater.formats.openlineage.fidelity import EXPECTATIONS, GRAIN, LEDGER, MANIFEST, TYPES
from headwater.model.ledger import Ledger
from headwater.model.names import Dataset
from headwater.plan.shape import shape_of
from headwater.proof.canonical import digest_and_preimage, digest_of
from headwater.redaction.literals import mask_design
from headwater.redaction.redactor import Redactor
from headwater.rows.kept_queries.capture import QueryCapture
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.pairs.capture import InputCheck, written_rows
from headwater.rows.pairs.write import tag_own_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRACE = "cdme.morphismTrace"
_STREAMED = "a streaming query reads and writes it batch by batch"
_MOST_SHOWN = 64 * 1024
"""Bytes of a design that an event carries."""
_UNPLANNED = "the run failed before Spark had planned how to read it"


class Hashed(NamedTuple):
    """A document by its hash, and the text that was hashed."""

    digest: str
    text: bytes

    @classmethod
    def of(cls, document: Any) -> Hashed:
        return cls(*digest_and_preimage(document))


@dataclass
class Part:
    """What one write says for itself."""

    target: str
    settings: Mapping[str, str]
    design: Hashed
    inputs: Checksums = field(default_factory=Checksums)
    outputs: Checksums = field(default_factory=Checksums)
    types: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    grain: dict[str, Any] | None = None
    ledger: dict[str, Any] | None = None
    shows_design: bool = True
    """Whether an event may carry the design beside its hash."""


class Evidence:
    """For one Spark application. ``report`` is told of faults that leave the rest of the evidence standing;
    ``redactor`` takes secrets out of documents before they are hashed, so that whoever sees one can hash it again."""

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

    def of_write(self, ended: WriteEnded, asked: EvidenceAsked) -> Part:
        part = self._part(ended)
        self._try(self._check, part, ended, asked)
        self._try(self._read, part, ended, asked)
        return part

    def of_stream(self, ended: WriteEnded) -> Part:
        part = self._part(ended)
        part.inputs.unknown = {str(Dataset(*item.place.key)): _STREAMED for item in ended.written.inputs}
        part.outputs.unknown = {part.target: _STREAMED}
        self._try(self._read, part, ended, EvidenceAsked())
        return part

    def _part(self, ended: WriteEnded) -> Part:
        zone = str(self._spark.conf.get(TIME_ZONE))
        target = str(Dataset(*ended.written.target.key))
        settings = self._redactor.options(deciding(self._application, ended.settings, zone))
        design = self._hashed(_design(ended.written, target), ended.literals)
        return Part(target, settings, design, shows_design=ended.literals != "drop")

    def _hashed(self, design: Any, literals: str) -> Hashed:
        """Of what an event may show: of a design without literals, two that differ in these alone are one."""
        return Hashed.of(redacted_design(design if literals == "keep" else mask_design(design), self._redactor))

    def _try(self, find: Callable[[Part, WriteEnded, EvidenceAsked], None], *about: Any) -> None:
        """One thing that cannot be found out leaves the others."""
        try:
            find(*about)
        except Exception as fault:
            if self.is_over():
                raise
            self._report(fault)

    def _check(self, part: Part, ended: WriteEnded, asked: EvidenceAsked) -> None:
        if ended.failed and not ended.execution.isPlanned():
            part.inputs.unknown = {str(Dataset(*item.place.key)): _UNPLANNED for item in ended.written.inputs}
            return
        kept = ended.rows or self._plans.keep(ended.execution, ended.written, RowsAsked(), ended.started)
        if kept is None:
            return
        checker = Checker(self._spark, asked.checksums)
        with tag_own_jobs(self._spark):
            part.inputs = checker.inputs(kept, ended.written)
            if not ended.failed:
                part.outputs = checker.output(kept, ended.written)

    def _read(self, part: Part, ended: WriteEnded, asked: EvidenceAsked) -> None:
        command = plan_classes(self._spark.sparkContext._gateway).new("WrittenQuery", ended.execution.analyzed())
        query = command.plan()
        if query is None:
            return
        steps = Steps.read(self._told(query), tuple(_cuts(ended.written)), ended.literals)
        keys = tuple(asked.keys)  # the run goes on, and may add others
        part.types = unification(steps)
        part.trace = morphisms(steps, _naming(ended.written))
        part.grain = grain_safety(steps, declared=keys)
        if not ended.failed and (asked.ledger or (asked.grain and part.grain["undecided"])):
            ledger, part.grain = self._account(ended, command, steps, keys)
            part.ledger = ledger.document() if asked.ledger else None

    def steps(self, plan: Any) -> str | None:
        try:
            return self._told(plan)
        except Exception as fault:
            if not self.is_over():
                self._report(fault)
            return None

    def _told(self, plan: Any) -> str:
        return str(step_classes(self._spark.sparkContext._gateway).new("Steps", plan, MOST_STEPS).told())

    def _account(
        self, ended: WriteEnded, command: Any, steps: Steps, keys: Sequence[Key]
    ) -> tuple[Ledger, dict[str, Any]]:
        """The ledger, and what the rows that were counted say of the grain."""
        kept = ended.rows or {}
        with tag_own_jobs(self._spark):
            names, output = written_rows(self._spark, command, kept) if "written" in kept else (None, None)
            with account_of(self._spark, command.plan(), _by_column(ended.written), names, output) as account:
                grain = grain_safety(steps, account.repeats, keys)
            spoiled = InputCheck(self._spark, kept)()
        if spoiled is None:
            return account.ledger, grain
        return replace(account.ledger, partly=spoiled), grain_safety(steps, declared=keys)

    def facets(self, ended: RunEnded) -> dict[str, dict[str, Any]]:
        parts: Sequence[Part] = ended.parts
        if not parts and ended.declared is None and not ended.expectations:
            return {}
        found = {MANIFEST: self._manifest(ended)}
        ledger = ended.declared.ledger if ended.declared is not None else None
        if ledger is None:
            ledger = merged_ledgers([(part.target, part.ledger) for part in parts if part.ledger])
        for name, told in (
            (LEDGER, ledger),
            (TYPES, merged([(part.target, part.types) for part in parts if part.types])),
            (TRACE, merged([(part.target, part.trace) for part in parts if part.trace])),
            (GRAIN, merged([(part.target, part.grain) for part in parts if part.grain])),
        ):
            if told is not None:
                found[name] = dict(told)
        if ended.expectations:
            numbers = measured(ended, found)
            found[EXPECTATIONS] = {"expectations": [each.judged(numbers) for each in ended.expectations]}
        return found

    def _manifest(self, ended: RunEnded) -> dict[str, Any]:
        parts, declared, partition = ended.parts, ended.declared, ended.partition
        settings = [dict(each) for each in dict.fromkeys(tuple(sorted(part.settings.items())) for part in parts)]
        config: dict[str, Any] = {"settings": settings[0] if len(settings) == 1 else settings}
        if partition is not None:  # an event has no place for what is nothing, and shall show all that is hashed
            config["partition"] = self._redactor.text(partition)
        code: dict[str, Any] = dict(self._script or {})
        designs = sorted(part.design for part in parts)
        shows = ended.literals != "drop" and all(part.shows_design for part in parts)
        design = designs[0] if len(designs) == 1 else Hashed.of([each.digest for each in designs])
        if declared is not None:
            config["options"] = dict(declared.options)
            code["functions"] = dict(declared.functions)
            design, designs = self._hashed(declared.design, ended.literals), []
        manifest: dict[str, Any] = {"configHash": digest_of(config), "config": config}
        if code:
            manifest |= {"codeHash": digest_of(code), "code": code}
        manifest |= {
            "designHash": design.digest,
            **(_shown(design, designs) if shows else {}),
            "inputChecksums": _all([part.inputs for part in parts]),
            "outputChecksums": _all([part.outputs for part in parts]),
        }
        unknown = {name: why for part in parts for name, why in {**part.inputs.unknown, **part.outputs.unknown}.items()}
        not_read = {name: files for part in parts for name, files in part.inputs.not_read.items()}
        not_read |= {name: files for part in parts for name, files in part.outputs.not_read.items()}
        if ended.expectations:
            manifest["contractVersion"] = digest_of([each.promise() for each in ended.expectations])
        if unknown:
            manifest["withoutChecksum"] = unknown
        if not_read:
            manifest["filesNotRead"] = not_read
        return manifest


def _shown(design: Hashed, of_writes: Sequence[Hashed]) -> dict[str, Any]:
    """The design itself, as the text that was hashed, where it is not too long for an event; of several writes, whose
    hashes that is, those of each."""
    told: dict[str, Any] = {"design": design.text.decode()} if len(design.text) <= _MOST_SHOWN else {}
    if len(of_writes) > 1 and sum(len(each.text) for each in of_writes) <= _MOST_SHOWN:
        told["designs"] = {each.digest: each.text.decode() for each in of_writes}
    return told


def _all(found: Sequence[Checksums]) -> dict[str, str]:
    by_name: dict[str, list[str]] = {}
    for each in found:
        for name, checksum in each.of.items():
            by_name.setdefault(name, []).append(checksum)
    return {name: joined(checksums) for name, checksums in by_name.items()}


def _design(written: Written, target: str) -> dict[str, Any]:
    reads = {id: str(Dataset(*item.place.key)) for item in written.inputs for id in item.ids}
    if written.plan is None:
        return {"command": written.command, "target": target, "reads": sorted(set(reads.values()))}
    return shape_of(written.plan, reads, target, written.behind)


def _cuts(written: Written) -> Iterator[Cut]:
    yield from written.cuts
    for view in written.views:
        yield from _cuts(view.written)


def _by_column(written: Written) -> dict[int, str]:
    """By the id of a source's column, the dataset; also below views."""
    found: dict[int, str] = {}
    for view in written.views:
        found |= _by_column(view.written)
    return found | {
        id: str(Dataset(*item.place.key)) for item in written.inputs for id in item.ids if item.place.kind != "VIEW"
    }


def _naming(written: Written) -> Callable[[Step, int], str]:
    datasets = _by_column(written)

    def name(step: Step, id: int) -> str:
        return f"{datasets.get(id, step.operator)}.{(step.leaf or {})[id]}"

    return name
