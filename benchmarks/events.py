"""Events as a Spark job sends them: about 4 KB, START and COMPLETE, two inputs, one output, column lineage."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

_PRODUCER = "https://github.com/headwater/benchmarks"
_COLUMNS = ("order_id", "customer_id", "day", "country", "currency", "amount", "eur", "rate")


def stream(writer: int, runs: range, jobs: int = 5) -> list[bytes]:
    """The runs of those numbers, of ``jobs`` jobs that belong to this writer, in the order they happen."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    events = []
    for number in runs:
        run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{writer}/{number}"))
        for event_type, seconds in (("START", 0), ("COMPLETE", 30)):
            at = start + timedelta(minutes=number, seconds=seconds)
            events.append(json.dumps(_event(event_type, at, run_id, f"w{writer}_job_{number % jobs}")).encode())
    return events


def _event(event_type: str, at: datetime, run_id: str, job: str) -> dict[str, Any]:
    return {
        "eventType": event_type,
        "eventTime": at.isoformat(),
        "run": {"runId": run_id, "facets": {"processing_engine": _facet(version="4.3.0", name="spark")}},
        "job": {
            "namespace": "prod",
            "name": job,
            "facets": {"jobType": _facet(processingType="BATCH", integration="SPARK", jobType="SQL_JOB")},
        },
        "inputs": [_dataset(f"{job}/orders"), _dataset(f"{job}/rates")],
        "outputs": [_output(job)],
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def _facet(**body: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": "https://openlineage.io/spec/facets/1-0-0/Facet.json", **body}


def _dataset(name: str) -> dict[str, Any]:
    fields = [{"name": column, "type": "string"} for column in _COLUMNS]
    return {"namespace": "s3://lake", "name": name, "facets": {"schema": _facet(fields=fields)}}


def _output(job: str) -> dict[str, Any]:
    fields = {
        column: {
            "inputFields": [
                {
                    "namespace": "s3://lake",
                    "name": f"{job}/orders",
                    "field": column,
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                }
            ]
        }
        for column in _COLUMNS
    }
    join_keys = [
        {
            "namespace": "s3://lake",
            "name": f"{job}/rates",
            "field": "currency",
            "transformations": [{"type": "INDIRECT", "subtype": "JOIN", "masking": False}],
        }
    ]
    output = _dataset(f"{job}/priced")
    output["facets"]["columnLineage"] = _facet(fields=fields, dataset=join_keys)
    return output
