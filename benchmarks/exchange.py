"""Lineage in files: a store exported, the file validated, and imported into an empty store, in each format.

    ./dev bench exchange [EDGES]

A generated DAG of about that many edges, a million unless told, some 25 to a dataset. Each step is a process of its
own: its time without the start of Python, its processor time, and the peak of its resident memory. An import is one
transaction.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.dag import Shape, lay
from benchmarks.harness import console, show
from benchmarks.resources import peak_mib
from headwater import connect
from headwater.exchange.validating import validate

EDGES = 1_000_000
READS = 25
"""On average, twice as many less one at most."""
LAYERS = 41
EDGES_OF_A_CLUSTER = 250_000
FORMATS = {
    "wia-json": "graph.json",
    "wia-jsonl": "graph.jsonl",
    "wia-parquet": "tables",
    "graphml": "graph.graphml",
    "openlineage": "events.jsonl",
}


def shape_of(edges: int) -> Shape:
    clusters = max(1, round(edges / EDGES_OF_A_CLUSTER))
    width = max(2 * READS, round(edges / (READS * clusters * (LAYERS - 1))))
    return Shape(clusters, LAYERS, width, READS)


def measure(edges: int) -> None:
    shape = shape_of(edges)
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        store = Path(folder) / "source.db"
        console.print(f"laying {shape.nodes:,} datasets …")
        laid = lay(f"sqlite:///{store}", shape)
        rows: list[Sequence[object]] = []
        for format, name in FORMATS.items():
            file = Path(folder) / name
            exported = _step("export", f"sqlite:///{store}", format, str(file))
            size = sum(each.stat().st_size for each in (file.iterdir() if file.is_dir() else [file])) / 2**20
            validated = _step("validate", str(file))
            imported = _step("import", f"sqlite:///{folder}/{format}.db", str(file))
            rows.append([format, f"{laid:,}", f"{size:.0f}", *exported, *validated, *imported])
            console.print(f"{format}: export {exported}, validate {validated}, import {imported}")
            (Path(folder) / f"{format}.db").unlink()
    columns = (
        "format",
        "edges",
        "MiB",
        "export s",
        "cpu s",
        "MiB",
        "validate s",
        "cpu s",
        "MiB",
        "import s",
        "cpu s",
        "MiB",
    )
    show(f"{shape.nodes:,} datasets; seconds and peak memory of each process", columns, rows)


def _step(*arguments: str) -> tuple[str, str, str]:
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.exchange", "--step", *arguments], check=True, capture_output=True, text=True
    )
    seconds, processor, peak = map(float, told.stdout.split())
    return f"{seconds:.1f}", f"{processor:.1f}", f"{peak:.0f}"


def _export(store: str, format: str, file: str) -> None:
    with connect(store) as lineage:
        # The events of a laid graph are none: a point in time makes declarations of it, as of a part.
        as_of = datetime.now(UTC) if format == "openlineage" else None
        lineage.export(file, format=format, as_of=as_of)


def _import(store: str, file: str) -> None:
    with connect(store) as lineage:
        lineage.import_(file)


def _validate(file: str) -> None:
    assert validate(file).sound


_STEPS: dict[str, Callable[..., None]] = {"export": _export, "import": _import, "validate": _validate}


def _run_step(name: str, *arguments: str) -> None:
    began, worked = time.perf_counter(), time.process_time()
    _STEPS[name](*arguments)
    sys.stdout.write(f"{time.perf_counter() - began} {time.process_time() - worked} {peak_mib()}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        _run_step(*sys.argv[2:])
    else:
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else EDGES)
