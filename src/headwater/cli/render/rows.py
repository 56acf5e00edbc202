"""The tables of row lineage that are kept, and those that were removed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import table
from headwater.cli.render.parts import data
from headwater.cli.text import moment
from headwater.rows.pairs.folders import KeptTables


def pair_table_list(found: Sequence[KeptTables]) -> RenderableType:
    if not found:
        return Text("No pair tables in this folder.")
    listed = table("Written (UTC)", "Mode", "Rows", "Pairs", "Bytes", "Run", "Output")
    for each in found:
        amounts = (f"{each.rows:,}", f"{each.pairs:,}", f"{each.bytes:,}")
        listed.add_row(moment(each.written), each.mode, *amounts, data(each.run_id), str(each.output))
    return listed


def prune_text(gone: Sequence[KeptTables], dry_run: bool) -> RenderableType:
    if not gone:
        return Text("No pair tables are that old.")
    total = f"{len(gone):,} outputs, {sum(each.bytes for each in gone):,} bytes"
    return Group(pair_table_list(gone), Text(f"Would remove {total}." if dry_run else f"Removed {total}."))
