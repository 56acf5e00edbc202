"""Evidence of a run of a declared pipeline: its design, its code, and the ledger of its sources' rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from headwater.capture.events.evidence import DeclaredEvidence
from headwater.errors import MismatchRefused
from headwater.evidence.code import function_code
from headwater.model.items import Continuity, Outcome
from headwater.model.ledger import Ledger, SourceLedger
from headwater.pipeline.declare.nodes import PipelineNode, SourceNode
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.declare.pipeline import PipelineDeclaration, edges_of
from headwater.pipeline.items.finalize import ItemFinalizer
from headwater.pipeline.items.item_log import ItemLog
from headwater.pipeline.run.execution import PipelineExecution
from headwater.pipeline.run.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("headwater")
_MAX_NAMED = 10
_NOT_FINISHED = "the run ended before all its nodes had run"
_CERTAIN = (Continuity.EXACT, Continuity.DECLARED, Continuity.NEW)
_UNRECORDED_OPTIONS = ("location", "on_mismatch")
"""Options that are a location or code, and are not recorded."""


@dataclass(frozen=True)
class LedgerBalance:
    """``ledger`` is None if the options follow no items; ``refusal`` is the error if the run must fail. A run does not
    fail because its account could not be made: then the ledger says that, and not whether it balances."""

    ledger: Ledger | None = None
    refusal: MismatchRefused | None = None

    @classmethod
    def of(
        cls, execution: PipelineExecution, items: ItemFinalizer, workspace: Workspace, *, ran: bool
    ) -> LedgerBalance:
        if not execution.options.follows_items:
            return cls()
        if items.item_log is None:
            return cls(Ledger((), partly=_missing_account_reason(items.fault, ran)))
        entries = tuple(_entries(items.item_log, items.end_counts, execution.expected_rows))
        ledger = Ledger(entries, partly=_partial_reason(execution.options, ran))
        if ledger.balanced is not False:
            return cls(ledger)
        ledger = replace(ledger, details=_stray_details(items, workspace))
        return cls(ledger, MismatchRefused(*_refusal_text(ledger)))


def _entries(
    item_log: ItemLog, ended: Mapping[str, Mapping[Outcome, int]], expected: Mapping[str, int]
) -> Iterator[SourceLedger]:
    for source_log in item_log.manifest.sources:
        rows = {"processed": 0, "filtered": 0, "errored": 0}
        for outcome, count in ended.get(source_log.source, {}).items():
            rows[_ledger_column(outcome)] += count
        uncertain = [stage.node for stage in source_log.stages if stage.continuity not in _CERTAIN]
        note = f"row lineage does not show which rows continued after {', '.join(uncertain)}" if uncertain else None
        entered = expected.get(source_log.source, sum(rows.values()))
        ends = (rows["processed"], rows["filtered"], rows["errored"])
        yield SourceLedger(source_log.source, entered, *ends, exact=not uncertain, note=note)


def _ledger_column(outcome: Outcome) -> str:
    if outcome & (Outcome.ERROR | Outcome.DEAD_LETTERED):
        return "errored"
    was_dropped = Outcome.FILTERED_OUT in outcome or not outcome & (
        Outcome.EMITTED | Outcome.JOINED | Outcome.AGGREGATED
    )
    return "filtered" if was_dropped else "processed"


def _partial_reason(options: LineageOptions, ran: bool) -> str | None:
    if options.mode != "full":
        return f"one item in {options.sample_every} was followed, as its options say"
    if not options.ensure_terminal:
        return "the rows of the sources were not counted beforehand, as its options say"
    return None if ran else _NOT_FINISHED


def _missing_account_reason(fault: str | None, ran: bool) -> str:
    if fault is not None:
        return f"the account could not be made: {fault}"
    return "nothing was read that could be followed" if ran else _NOT_FINISHED


def _stray_details(items: ItemFinalizer, workspace: Workspace) -> dict[str, object]:
    """The missing and surplus items, as far as the sources still have them, and the location of all records."""
    missing, surplus = (list(ids[:_MAX_NAMED]) for ids in items.find_strays())
    return {"records": workspace.absolute(workspace.items), "missing": missing, "surplus": surplus}


def _refusal_text(ledger: Ledger) -> tuple[str, str]:
    unbalanced = next(source for source in ledger.sources if not source.balanced)
    accounted = unbalanced.processed + unbalanced.filtered + unbalanced.errored
    reason = f"source '{unbalanced.dataset}' had {unbalanced.entered:,} rows, but {accounted:,} are accounted for"
    for word in ("missing", "surplus"):
        if ledger.details.get(word):
            reason += f"; {word}: {', '.join(ledger.details[word])}"
    return unbalanced.dataset, f"{reason}; all records are in {ledger.details['records']}"


def declared_evidence(
    pipeline: PipelineDeclaration, nodes: Sequence[PipelineNode], options: LineageOptions, ledger: Ledger | None
) -> DeclaredEvidence:
    configured = {
        option.name: getattr(options, option.name)
        for option in fields(options)
        if option.name not in _UNRECORDED_OPTIONS
    }
    return DeclaredEvidence(
        {name: value for name, value in configured.items() if value is not None},  # which an event cannot contain
        function_code(dict(_functions(nodes))),
        {
            "pipeline": pipeline.name,
            "namespace": pipeline.namespace,
            "nodes": [{"name": node.name, "kind": node.kind, "configuration": node.configuration} for node in nodes],
            "edges": [list(edge) for edge in edges_of(nodes)],
        },
        None if ledger is None else ledger.document(),
    )


def key_column_ids(source: SourceNode, frame: DataFrame | None) -> Iterator[frozenset[int]]:
    """The ids of a source's key columns in plans; none if they are not available."""
    if frame is None or not source.key:
        return
    try:
        output = frame._jdf.queryExecution().analyzed().output()
        ids = {
            output.apply(position).name().lower(): output.apply(position).exprId().id()
            for position in range(output.size())
        }
        key = frozenset(int(ids[name.lower()]) for name in source.key)
    except Exception as fault:
        _log.debug("The key columns of %s have no ids in the plan: %s", source.name, fault)
        return
    yield key


def _functions(nodes: Sequence[PipelineNode]) -> Iterator[tuple[str, Callable[..., object]]]:
    for node in nodes:
        for purpose in ("reader", "fn", "mapper", "backoff"):
            function = getattr(node, purpose, None)
            if callable(function):
                yield f"{node.name}.{purpose}", function
