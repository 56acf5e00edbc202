"""Files of a graph with hubs have as many edges as the store, are valid, and show the job between inputs and
outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headwater
from tests.support.events import run_event

INPUTS, OUTPUTS = ["a", "b", "c"], ["x", "y", "z"]


FORMATS = ["wia-json", "wia-jsonl", "wia-parquet", "graphml"]


@pytest.mark.parametrize(
    ("format", "back"), [("mermaid", False), *((format, back) for format in FORMATS for back in (False, True))]
)
def test_a_hub_is_a_job_between_inputs_and_outputs(tmp_path: Path, format: str, back: bool) -> None:
    """``back``: the job also read what it wrote, so that the graph is exported version by version."""
    inputs = [*INPUTS, *(OUTPUTS[:1] if back else ())]
    with headwater.connect("memory://", max_direct_edges=3) as store:
        for run, minute in (("first", 0), ("second", 5)):
            event = run_event(run=run, job="j", inputs=inputs, outputs=OUTPUTS, minute=minute)
            store.ingest(event)
        exported = store.export(tmp_path / "file", format=format)
        assert exported.counts["edge"] <= 2 * (len(inputs) + len(OUTPUTS)) + 2
        around = store.export(tmp_path / "around", format=format, datasets=["x"], direction="upstream", depth=1)
        assert around.counts["edge"] >= len(INPUTS) + 1
    if format == "wia-json" and not back:
        document = json.loads((tmp_path / "file").read_text())
        kinds = [node.get("metadata", {}).get("custom", {}) for node in document["nodes"]]
        assert sum("via_job" in json.dumps(kind) for kind in kinds) == 1
        assert all("via_job" in json.dumps(edge["metadata"]) for edge in document["edges"])
        with headwater.connect("memory://") as other:
            other.import_(tmp_path / "file")
            reached = {node.endpoint.name for node in other.upstream("x").nodes if node.depth == 2}
            assert reached == set(INPUTS)
