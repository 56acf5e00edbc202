"""Writes the pair tables of one output, after the output itself.

There is one Spark job for each block of the plan; the first only reads the output, if that has all needed columns.
Nothing is collected by group: a group of a hundred million rows is that many rows of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.capture.events.row_capture import INTERNAL_JOB_TAG
from headwater.jvm import JavaObject, gateway_of
from headwater.redaction.redactor import Redactor
from headwater.rows.names import NamedSource, name_leaves
from headwater.rows.pairs.agreement import Agreement
from headwater.rows.pairs.blocks import BlockRows, WrittenBlock
from headwater.rows.pairs.facet import PairsEntry, facet_entry, invalid_entry
from headwater.rows.pairs.jvm import pair_classes
from headwater.rows.pairs.layout import OUT_HI, OWNER, block_folder, link_hash, source_file, source_row
from headwater.rows.pairs.outs import OutputRows, output_rows_of
from headwater.rows.pairs.sampling import sample_block, sampling_marks
from headwater.rows.pairs.tables import PairTableWriter
from headwater.rows.provenance import Block, RowProvenance
from headwater.rows.stored_values import StoredFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.jvm import JavaClasses


@dataclass(frozen=True)
class PairTablesResult:
    """``facet`` is the entry of this output in `cdme.adjointMetadata`; if it has ``invalid``, no tables were stored."""

    location: str
    facet: PairsEntry


def write_pairs(
    spark: SparkSession,
    plan: JavaObject,
    location: str,
    run_id: str,
    output_number: int,
    sample: float | None = None,
    output: DataFrame | None = None,
    *,
    names: Sequence[str] | None = None,
    stored_format: StoredFormat | None = None,
    still_holds: Callable[[], str | None] = lambda: None,
    redactor: Redactor | None = None,
) -> PairTablesResult:
    """``plan`` is the analyzed query below the write, in the JVM. ``output`` are the rows that this run wrote, if they
    can be read back: the tables are compared with them. ``names`` are the column names as written, if they differ from
    the plan's, and ``stored_format`` says how values were written. ``still_holds`` is called at the end and returns the
    reason if the tables are invalid.

    Tables that do not agree with the output are removed, and the entry says why. An error removes them too.
    """
    classes = pair_classes(gateway_of(spark.sparkContext))
    with tag_own_jobs(spark):
        tables = PairTableWriter(spark, classes, f"{location.rstrip('/')}/{run_id}/{output_number}", redactor)
        try:
            marks = {} if sample is None else _sample_conditions(spark, plan, sample)
            provenance, outs = output_rows_of(spark, plan, marks, output, names, stored_format)
            leaves = _name_sources(spark, provenance)
            agreement = _write_blocks(spark, provenance, outs, classes, tables, sample is not None)
            spoiled = agreement.reason if agreement.differs else still_holds()
            if spoiled:
                tables.remove()
                return PairTablesResult(tables.location, invalid_entry(tables.location, sample, spoiled))
            return PairTablesResult(tables.location, _finish(provenance, leaves, outs, tables, agreement, sample))
        except BaseException:
            with suppress(Exception):  # the original error matters more
                tables.remove()
            raise


@contextmanager
def tag_own_jobs(spark: SparkSession) -> Iterator[None]:
    """Tags the Spark jobs of this thread as Headwater's own."""
    spark.sparkContext.addJobTag(INTERNAL_JOB_TAG)
    try:
        yield
    finally:
        with suppress(Exception):  # the session may have ended
            spark.sparkContext.removeJobTag(INTERNAL_JOB_TAG)


def _name_sources(spark: SparkSession, provenance: RowProvenance) -> list[NamedSource]:
    return name_leaves(spark, [provenance.leaf(source.number) for source in provenance.sources])


def _sample_conditions(spark: SparkSession, plan: JavaObject, sample: float) -> dict[int, str]:
    provenance = RowProvenance(spark, plan)
    return sampling_marks(provenance, _name_sources(spark, provenance), sample)


def _write_blocks(
    spark: SparkSession,
    provenance: RowProvenance,
    outs: OutputRows,
    classes: JavaClasses,
    tables: PairTableWriter,
    sampling: bool,
) -> Agreement:
    below = BlockRows(provenance, classes.new("NumericIds", spark._jsparkSession))
    above: dict[int, WrittenBlock] = {}
    cached: list[DataFrame] = []
    try:
        for block in provenance.blocks:  # parents first
            first = block.number == 0
            rows = outs.rows(below) if first else below.rows(block, above)
            if sampling:
                rows = sample_block(rows, block, provenance.sources)
            owner = outs.owner_columns(rows) if first else [rows[OWNER]]
            stored = rows.select(
                *owner, *_id_columns(block), *below.link_hashes(rows, block), *_link_value_columns(block)
            )
            if any(link.columns for link in block.links) and not (first and outs.reads_output):
                cached.append(stored.persist())  # its links are read after it is written
            table = stored.drop(*_link_value_columns(block))
            if sampling and not first:
                table = table.distinct()  # many rows have nothing left but the link
            if provenance.has_key if first else below.has_many_owners(block, above):
                table = table.sortWithinPartitions(OUT_HI if first else OWNER)
            name = block_folder(block.number)
            written = tables.write(name, table, _dictionary_columns(block))
            above[block.number] = WrittenBlock(stored, written, tables.tables[name].rows)
        return outs.agreement(above[0].table)
    finally:
        for frame in cached:
            frame.unpersist()


def _finish(
    provenance: RowProvenance,
    leaves: Sequence[NamedSource],
    outs: OutputRows,
    tables: PairTableWriter,
    agreement: Agreement,
    sample: float | None,
) -> PairsEntry:
    files = tables.write_files(provenance)
    entry = facet_entry(tables.location, sample, provenance, leaves, outs.stored_names, tables.tables, files, agreement)
    tables.finish(entry)
    return entry


def _id_columns(block: Block) -> list[str]:
    return [name for number in block.sources for name in (source_file(number), source_row(number))]


def _link_value_columns(block: Block) -> list[str]:
    return [name for link in block.links for name in (link.present, *link.columns, *link.condition_columns)]


def _dictionary_columns(block: Block) -> list[str]:
    """Columns with few distinct values in sequence, for which Parquet's dictionary pays off."""
    owner = [] if block.number == 0 else [OWNER]
    return [*owner, *map(source_file, block.sources), *(link_hash(link.number) for link in block.links)]
