"""Lists of pair tables, and of those removed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import table
from headwater.cli.render.parts import data
from headwater.cli.text import moment
from headwater.rows.pairs.folders import StoredPairTables


def pair_table_list(tables: Sequence[StoredPairTables]) -> RenderableType:
    if not tables:
        return Text("No pair tables in this folder.")
    listed = table("Written (UTC)", "Mode", "Rows", "Pairs", "Bytes", "Run", "Output")
    for table_set in tables:
        amounts = (f"{table_set.rows:,}", f"{table_set.pairs:,}", f"{table_set.bytes:,}")
        listed.add_row(
            moment(table_set.written), table_set.mode, *amounts, data(table_set.run_id), str(table_set.output)
        )
    return listed


def prune_text(removed: Sequence[StoredPairTables], dry_run: bool) -> RenderableType:
    if not removed:
        return Text("No pair tables are that old.")
    total = f"{len(removed):,} outputs, {sum(tables.bytes for tables in removed):,} bytes"
    return Group(pair_table_list(removed), Text(f"Would remove {total}." if dry_run else f"Removed {total}."))
