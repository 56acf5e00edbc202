"""Pair tables of `SELECT customer, count(*) FROM orders GROUP BY customer`, as `rows="full"` writes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.rows.pairs.layout import (
    FILES,
    FORMAT,
    MARKER_FILE,
    OUT_HI,
    OUT_LO,
    OWNER,
    block_folder,
    digest_of,
    link_hash,
    source_file,
    source_row,
)

CUSTOMERS = 9
FILE_NUMBER = 77


def write_orders(file: Path, rows: int = 100) -> Path:
    """The source: row `n` has customer `n % 9`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    ids = list(range(rows))
    pq.write_table(
        pa.table({"id": ids, "customer": [i % CUSTOMERS for i in ids], "amount": [i * 2 for i in ids]}), file
    )
    return file


def write_pair_tables(
    location: Path, run_id: str, orders: Path, rows: int = 100, row_group: int = 122_880
) -> dict[str, Any]:
    """Returns the entry of the facet; the tables are in `<location>/<run_id>/0`."""
    folder = location / run_id / "0"
    ids = list(range(rows))
    outs = list(range(CUSTOMERS))
    _write(folder / block_folder(0), {OUT_HI: outs, OUT_LO: outs, "customer": outs, link_hash(0): outs}, row_group)
    owned = sorted(ids, key=lambda i: i % CUSTOMERS)
    _write(
        folder / block_folder(1),
        {
            OWNER: [i % CUSTOMERS for i in owned],
            source_file(0): [FILE_NUMBER] * rows,
            source_row(0): owned,
        },
        row_group,
    )
    (folder / FILES).write_text(json.dumps({"0": {str(FILE_NUMBER): orders.as_uri()}}))
    place = folder.as_uri()
    entry = {
        "format": FORMAT,
        "mode": "full",
        "location": place,
        "reverseJoinLocations": {"block-1/source-0": f"{place}/{block_folder(1)}"},
        "outs": f"{place}/{block_folder(0)}",
        "identity": ["customer"],
        "sources": [
            {
                "occurrence": 0,
                "dataset": {"namespace": "file", "name": str(orders)},
                "id": "position",
                "grain": "exact",
                "pairs": rows,
                "bytes": 16 * rows,
            }
        ],
        "composition": [
            {"block": 0, "kind": "rows", "sources": [], "links": [{"link": 0, "to": 1, "kind": "aggregate"}]},
            {"block": 1, "kind": "aggregate", "sources": [0], "links": []},
        ],
        "rows": CUSTOMERS,
        "pairs": rows,
        "bytes": 1_000,
        "digests": {
            **{block_folder(n): _digest(folder / block_folder(n)) for n in (0, 1)},
            FILES: f"sha256:{hashlib.sha256((folder / FILES).read_bytes()).hexdigest()}",
        },
        "agreement": {"checked": "read"},
        "notes": [],
    }
    (folder / MARKER_FILE).write_text(json.dumps(entry))
    return entry


def _write(folder: Path, columns: dict[str, list[int]], row_group: int) -> None:
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "part-0.parquet", row_group_size=row_group)


def _digest(folder: Path) -> str:
    files = [(file.name, file.stat().st_size, file.read_bytes()) for file in folder.glob("*.parquet")]
    return digest_of([(name, size, hashlib.sha256(content).hexdigest()) for name, size, content in files])
