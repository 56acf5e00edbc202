"""Prometheus metrics of the server."""

from __future__ import annotations

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

EVENTS = Counter("lineage_events_total", "Events received, by result", ["outcome"])
PROCESSING = Histogram(
    "lineage_event_processing_duration_seconds",
    "Time from the complete request body to committed events",
    buckets=_SECONDS,
)
# Each worker reports what it counted last. All count the same store, so the most recent value is right.
NODES = Gauge("lineage_graph_nodes_total", "Datasets and jobs in the graph", multiprocess_mode="mostrecent")
EDGES = Gauge("lineage_graph_edges_total", "Current edges", multiprocess_mode="mostrecent")
REQUESTS = Histogram(
    "lineage_api_request_duration_seconds", "Requests, by route", ["method", "route", "status"], buckets=_SECONDS
)
IN_FLIGHT = Gauge("lineage_requests_in_flight", "Requests waiting to be stored", multiprocess_mode="livesum")

CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition() -> bytes:
    """Return all metrics as text, of all workers together."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
