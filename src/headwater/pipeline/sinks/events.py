"""The report as an OpenLineage event of the run, for receivers that do not get the run's own events, which carry it as
well.

`StoreSink(hw.connect("postgresql://…"))`, `OpenLineageSink("http://marquez:5000")`.
"""

from __future__ import annotations

import json
from datetime import UTC
from typing import Protocol

from headwater.capture.delivery.ingest import EventStore
from headwater.formats.openlineage.facet_names import PIPELINE_FACET, schema_url
from headwater.pipeline.run.report import PipelineReport

PRODUCER = "urn:headwater:pipeline"


class _EventSink(Protocol):
    def deliver(self, events: list[bytes], /) -> None: ...


def report_event(report: PipelineReport) -> dict[str, object]:
    from openlineage.client import event_v2 as ol
    from openlineage.client.serde import Serde

    time = report.ended or report.started
    facet = {
        "_producer": PRODUCER,
        "_schemaURL": schema_url(PIPELINE_FACET),
        **report.to_dict(),
    }
    event = ol.RunEvent(
        eventType=ol.RunState(str(report.state)),
        eventTime=time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        run=ol.Run(report.run_id, facets={}),
        job=ol.Job(report.namespace, report.pipeline),
        producer=PRODUCER,
    )
    document = Serde.to_dict(event)
    document["run"]["facets"] = {PIPELINE_FACET: facet}
    return document


class OpenLineageSink:
    """Sends to an address that accepts OpenLineage events: `file:///path/events.jsonl`, `http://host:port`,
    `console`."""

    def __init__(self, target: str, *, api_key: str | None = None) -> None:
        from headwater.capture.delivery.targets import sink_for

        self._sink: _EventSink = sink_for(target, api_key=api_key)

    def record(self, report: PipelineReport) -> None:
        self._sink.deliver([_event_bytes(report)])


class StoreSink:
    """Writes to a Headwater store: ``store`` comes from `hw.connect`, and stays open."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def record(self, report: PipelineReport) -> None:
        self._store.ingest_many([_event_bytes(report)])


def _event_bytes(report: PipelineReport) -> bytes:
    return json.dumps(report_event(report)).encode()
