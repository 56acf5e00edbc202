"""The source rows in a sample: chosen by a hash of their position, so that every run chooses the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.rows.names import NamedSource
from headwater.rows.pairs.layout import source_file, source_row
from headwater.rows.provenance import Block, PlanSource, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_BITS = 53


def sampling_marks(provenance: RowProvenance, names: Sequence[NamedSource], rate: float) -> dict[int, str]:
    """For each source the condition for its sampled rows."""
    limit = int(rate * 2**_BITS)
    return {
        source.number: f"shiftrightunsigned(xxhash64({_stable_columns(source, named)}), {64 - _BITS}) < {limit}L"
        for source, named in zip(provenance.sources, names, strict=True)
    }


def _stable_columns(source: PlanSource, named: NamedSource) -> str:
    """Expressions that stay the same when the dataset is moved: the path below the dataset's folder, and the row
    number."""
    if source.id == "position":
        steps = len([step for step in urlsplit(named.paths[0]).path.split("/") if step]) if named.paths else 0
        path = "regexp_replace(_metadata.file_path, '^[A-Za-z][A-Za-z0-9+.-]*:/+', '')"
        if named.paths and "://" in named.paths[0] and urlsplit(named.paths[0]).netloc:
            steps += 1
        return f"array_join(slice(split({path}, '/'), {steps + 1}, 10000), '/'), _metadata.row_index"
    if source.id == "table position":
        return "_file, _pos"
    return "id" if source.id == "range" else "to_json(struct(*))"


def sample_block(rows: DataFrame, block: Block, sources: Sequence[PlanSource]) -> DataFrame:
    """Removes ids of rows outside the sample, and rows that lead nowhere."""
    from pyspark.sql import functions as F

    changed: dict[str, Column] = {}
    for number in block.sources:
        for name in (source_file(number), source_row(number)):
            changed[name] = F.when(rows[sources[number].mark], rows[name])
    rows = rows.select(*(changed[name].alias(name) if name in changed else rows[name] for name in rows.columns))
    if block.number == 0:
        return rows
    leads = [rows[source_file(number)].isNotNull() for number in block.sources]
    leads += [F.coalesce(rows[link.present], F.lit(False)) for link in block.links]
    return rows.where(F.array_contains(F.array(*leads), True)) if leads else rows.where("false")
