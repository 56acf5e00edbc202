"""The entry for an output's pair tables in the run facet `cdme.adjointMetadata`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.rows.names import NamedSource
from headwater.rows.pairs.agreement import Agreement
from headwater.rows.pairs.layout import FILES, FORMAT, block_folder, digest_of, source_file, source_row
from headwater.rows.provenance import Block, RowProvenance


@dataclass(frozen=True)
class PairTable:
    """A written table: its rows, and by column the number of non-null values and their bytes."""

    rows: int
    bytes: int
    digest: str
    values: Mapping[str, int]
    column_bytes: Mapping[str, int]

    @staticmethod
    def of(facts: Mapping[str, Any]) -> PairTable:
        """``facts`` are those of jvm/ParquetFolder.java."""
        files = [(file["name"], file["size"], file["sha256"]) for file in facts["files"]]
        columns = facts["columns"]
        return PairTable(
            facts["rows"],
            sum(size for _, size, _ in files),
            digest_of(files),
            {name: values for name, (values, _) in columns.items()},
            {name: bytes for name, (_, bytes) in columns.items()},
        )


def facet_entry(
    location: str,
    sample: float | None,
    provenance: RowProvenance,
    names: Sequence[NamedSource],
    identity: Sequence[str],
    tables: Mapping[str, PairTable],
    files_digest: str,
    agreement: Agreement,
) -> dict[str, Any]:
    grains = provenance.grains()
    sources = [
        {
            "occurrence": source.number,
            "dataset": {"namespace": named.dataset.namespace, "name": named.dataset.name},
            "id": source.id,
            "grain": grains[source.number],
            **_source_amounts(source.number, provenance.blocks, tables),
        }
        for source, named in zip(provenance.sources, names, strict=True)
    ]
    return {
        "format": FORMAT,
        "mode": "full" if sample is None else "sampled",
        **({} if sample is None else {"sample": sample, "complete": False}),
        "location": location,
        "reverseJoinLocations": {
            f"block-{block.number}/source-{number}": f"{location}/{block_folder(block.number)}"
            for block in provenance.blocks
            for number in block.sources
        },
        "outs": f"{location}/{block_folder(0)}",
        "identity": list(identity),
        "sources": sources,
        "composition": [_block_entry(block) for block in provenance.blocks],
        "rows": tables[block_folder(0)].rows,
        "pairs": sum(source["pairs"] for source in sources),
        "bytes": sum(table.bytes for table in tables.values()),
        "digests": {**{folder: table.digest for folder, table in tables.items()}, FILES: files_digest},
        "agreement": agreement.to_dict(),
        "notes": list(provenance.notes),
    }


def invalid_entry(location: str, sample: float | None, reason: str) -> dict[str, Any]:
    """The entry for tables that were not stored."""
    return {
        "format": FORMAT,
        "mode": "full" if sample is None else "sampled",
        "location": location,
        "reverseJoinLocations": {},
        "invalid": reason,
    }


def _block_entry(block: Block) -> dict[str, Any]:
    return {
        "block": block.number,
        "kind": block.kind,
        "sources": list(block.sources),
        "links": [{"link": link.number, "to": link.to, "kind": link.kind} for link in block.links],
    }


def _source_amounts(source: int, blocks: Sequence[Block], tables: Mapping[str, PairTable]) -> dict[str, Any]:
    """The number of rows with an id of the source, and the bytes of these ids, without owners."""
    source_tables = [tables[block_folder(block.number)] for block in blocks if source in block.sources]
    columns = (source_file(source), source_row(source))
    return {
        "pairs": sum(table.values.get(columns[0], 0) for table in source_tables),
        "bytes": sum(table.column_bytes.get(column, 0) for table in source_tables for column in columns),
    }
