"""A record as the options want it: less of it, never other than it was."""

from __future__ import annotations

from dataclasses import replace

from headwater.errors import PipelineError, PipelineFailed
from headwater.model.items import Cardinality, Hop, ItemRecord, Outcome, Reason
from headwater.pipeline.declare.options import LineageOptions
from headwater.redaction.literals import message_without_values


def shape_record(record: ItemRecord, options: LineageOptions) -> ItemRecord:
    """Shaping twice changes nothing more."""
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
    """What is left of a record for which there was no room: whose it was, and that it was dropped."""
    stub = replace(record, path=(), hops=(), contributors=(), data=None, truncated=True)
    return replace(stub, reason=min(record.reason, Reason.DROPPED_BY_BACKPRESSURE, key=lambda reason: reason.rank))


def redact_error(error: str | None) -> str | None:
    """Of an error its kind: what it says may quote the row."""
    return None if error is None else error.partition(":")[0]


def describe_without_values(failure: BaseException) -> str:
    """Which node failed, and with what kind of error. Our own errors name nodes, files and counts alone."""
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
