"""A bundle with every value that docs/proof-format.md mentions, for implementations in other languages.

python -m tests.assurance.proof_example      regenerates docs/proof-example.json
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.stores import ended, manifest
from tests.conftest import ROOT
from tests.support.events import run_event, run_id

DOCS = ROOT / "docs" / "proof-format.md"
EXAMPLE = ROOT / "docs" / "proof-example.json"
RUN = run_id("report")


def recipe() -> dict[str, Any]:
    """The functions of the page, unchanged."""
    functions: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL):
        exec(compile(block, DOCS.name, "exec"), functions)
    return functions


def fill(store: Store, folder: Path) -> bytes:
    """A run that reads the output of another, with a key rotation in between; and its bundle."""
    ring = KeyRing.create(folder / "key.pem")
    store.ingest(ended("daily", outputs=["daily"], minute=1))
    store.checkpoint(key=ring)
    store.rotate_key(key=ring)
    store.ingest(run_event("START", run="report", job="report", inputs=["daily"], minute=2))
    facets = {**manifest(), "spark_é𝄞": {"share": 0.1, "tiny": 1e-05, "whole": 1.0, "rows": 12_345_678_901}}
    store.ingest(ended("report", job="report", inputs=["daily"], outputs=["report"], facets=facets, minute=3))
    store.checkpoint(key=KeyRing.load(ring.file))
    return store.bundle(RUN)


def values(bundle: dict[str, Any]) -> dict[str, Any]:
    """The value of each step, computed by the functions of the page."""
    by = recipe()
    log = bundle["log"]
    text, signatures = by["read_note"](log["checkpoint"])
    origin, size, root = by["read_checkpoint"](text)
    name, public = by["read_key"](log["key"])
    issued = [told["entry"] for told in bundle["entries"] if told["entry"]["event_type"] == "certificate.issued"]
    return {
        "entries": [
            {
                "seq": told["entry"]["seq"],
                "canonical": by["canonical"](told["entry"]).decode(),
                "hash": by["entry_hash"](told["entry"]).hex(),
                "leaf": by["leaf"](by["entry_hash"](told["entry"])).hex(),
            }
            for told in [*bundle["entries"], *bundle["chain"], *log["keys"]]
        ],
        "checkpoint": {"signed": text, "origin": origin, "size": size, "root": root.hex()},
        "signatures": [{"name": of, "id": id.hex(), "signature": one.hex()} for of, id, one in signatures],
        "key": {"vkey": log["key"], "name": name, "public": public.hex()},
        "events": [by["event_digest"](by["decoded"](told["body"])) for told in bundle["events"]],
        "certificates": {
            json.loads(entry["details"])["certificateId"]: by["certificate_hash"](entry).hex() for entry in issued
        },
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Store("memory://") as store:
        bundle = json.loads(fill(store, Path(folder)))
    EXAMPLE.write_text(json.dumps({"bundle": bundle, "values": values(bundle)}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
