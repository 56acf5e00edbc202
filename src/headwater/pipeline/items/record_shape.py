"""Reduces a record to the members that the options ask for."""

from __future__ import annotations

from dataclasses import replace

from headwater.errors import PipelineError, PipelineFailed
from headwater.model.items import Cardinality, Hop, ItemRecord, Outcome, Reason
from headwater.pipeline.declare.options import LineageOptions
from headwater.redaction.literals import message_without_values


def shape_record(record: ItemRecord, options: LineageOptions) -> ItemRecord:
    """Idempotent."""
    hops = record.hops if options.intermediate_records else record.hops[-1:]
    cut = len(hops) > options.max_hops
    if cut:
        hops = (*hops[: options.max_hops - 1], replace(hops[-1], truncated=True))
    return replace(
        record,
        hops=tuple(_shape_hop(hop, options) for hop in hops),
        contributors=record.contributors if options.contributor_ids else (),
        error=redact_error(record.error) if options.redact else record.error,
        data=None if options.redact else record.data,
        truncated=record.truncated or cut,
    )


def drop_record(record: ItemRecord) -> ItemRecord:
    """Reduces a dropped record to its id and the fact that it was dropped."""
    stub = replace(record, path=(), hops=(), contributors=(), data=None, truncated=True)
    return replace(stub, reason=min(record.reason, Reason.DROPPED_BY_BACKPRESSURE, key=lambda reason: reason.rank))


def redact_error(error: str | None) -> str | None:
    """The type of an error, because its text may quote the row."""
    return None if error is None else error.partition(":")[0]


def describe_without_values(failure: BaseException) -> str:
    """The node that failed and the type of its error. Headwater's own errors contain only nodes, files and counts."""
    if isinstance(failure, PipelineFailed):
        return str(PipelineFailed(failure.pipeline, failure.node, redact_error(failure.reason) or "")).splitlines()[0][
            :500
        ]
    if isinstance(failure, PipelineError):
        return str(failure).splitlines()[0][:500]
    return message_without_values(f"{type(failure).__name__}: {failure}")


def _shape_hop(hop: Hop, options: LineageOptions) -> Hop:
    shown = options.snapshots and not options.redact
    return replace(
        hop,
        outcome=hop.outcome if options.decisions else Outcome(0),
        cardinality=hop.cardinality if options.cardinality else Cardinality.UNKNOWN,
        ancestry=hop.ancestry if options.ancestry else None,
        at=hop.at if options.hop_timestamps else None,
        input=hop.input if shown else None,
        output=hop.output if shown else None,
    )
