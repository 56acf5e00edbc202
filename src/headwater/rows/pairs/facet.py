"""The entry for an output's pair tables in the run facet `cdme.adjointMetadata`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from headwater.rows.grain import Grain
from headwater.rows.names import NamedSource
from headwater.rows.pairs.agreement import Agreement
from headwater.rows.pairs.layout import FILES, FORMAT, block_folder, digest_of, source_file, source_row
from headwater.rows.provenance import Block, RowProvenance


class _FileFacts(TypedDict):
    name: str
    size: int
    sha256: str


class FolderFacts(TypedDict):
    """Those of jvm/ParquetFolder.java. ``columns``: by name the number of values and their bytes."""

    files: list[_FileFacts]
    rows: int
    columns: dict[str, tuple[int, int]]


class _SourceAmounts(TypedDict):
    pairs: int
    bytes: int


class DatasetName(TypedDict):
    namespace: str
    name: str


class PairsSource(_SourceAmounts):
    """One occurrence of a dataset in the entry."""

    occurrence: int
    dataset: DatasetName
    id: str
    grain: Grain


class PairsEntry(TypedDict, total=False):
    """The entry of one output; with ``invalid``, the reason why no tables were stored."""

    format: str
    mode: str
    sample: float
    complete: bool
    location: str
    reverseJoinLocations: dict[str, str]
    outs: str
    identity: list[str]
    sources: list[PairsSource]
    composition: list[dict[str, object]]
    rows: int
    pairs: int
    bytes: int
    digests: dict[str, str]
    agreement: dict[str, str]
    notes: list[str]
    invalid: str


@dataclass(frozen=True)
class PairTable:
    """A written table: its rows, and by column the number of non-null values and their bytes."""

    rows: int
    bytes: int
    digest: str
    values: Mapping[str, int]
    column_bytes: Mapping[str, int]

    @staticmethod
    def of(facts: FolderFacts) -> PairTable:
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
) -> PairsEntry:
    grains = provenance.grains()
    sources = [
        PairsSource(
            occurrence=source.number,
            dataset=DatasetName(namespace=named.dataset.namespace, name=named.dataset.name),
            id=source.id,
            grain=grains[source.number],
            **_source_amounts(source.number, provenance.blocks, tables),
        )
        for source, named in zip(provenance.sources, names, strict=True)
    ]
    entry = PairsEntry(
        format=FORMAT,
        mode="full" if sample is None else "sampled",
        location=location,
        reverseJoinLocations={
            f"block-{block.number}/source-{number}": f"{location}/{block_folder(block.number)}"
            for block in provenance.blocks
            for number in block.sources
        },
        outs=f"{location}/{block_folder(0)}",
        identity=list(identity),
        sources=sources,
        composition=[_block_entry(block) for block in provenance.blocks],
        rows=tables[block_folder(0)].rows,
        pairs=sum(source["pairs"] for source in sources),
        bytes=sum(table.bytes for table in tables.values()),
        digests={**{folder: table.digest for folder, table in tables.items()}, FILES: files_digest},
        agreement=agreement.to_dict(),
        notes=list(provenance.notes),
    )
    return entry if sample is None else {**entry, "sample": sample, "complete": False}


def invalid_entry(location: str, sample: float | None, reason: str) -> PairsEntry:
    """The entry for tables that were not stored."""
    return {
        "format": FORMAT,
        "mode": "full" if sample is None else "sampled",
        "location": location,
        "reverseJoinLocations": {},
        "invalid": reason,
    }


def _block_entry(block: Block) -> dict[str, object]:
    return {
        "block": block.number,
        "kind": block.kind,
        "sources": list(block.sources),
        "links": [{"link": link.number, "to": link.to, "kind": link.kind} for link in block.links],
    }


def _source_amounts(source: int, blocks: Sequence[Block], tables: Mapping[str, PairTable]) -> _SourceAmounts:
    """The number of rows with an id of the source, and the bytes of these ids, without owners."""
    source_tables = [tables[block_folder(block.number)] for block in blocks if source in block.sources]
    columns = (source_file(source), source_row(source))
    return {
        "pairs": sum(table.values.get(columns[0], 0) for table in source_tables),
        "bytes": sum(table.column_bytes.get(column, 0) for table in source_tables for column in columns),
    }
