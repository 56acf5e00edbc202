"""`headwater records status`"""

from __future__ import annotations

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, print_text
from headwater.cli.records.options import ArchiveOption


def status(archive: ArchiveOption = None, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show the queue, the hot records and the archive."""
    with open_store(store) as lineage:
        answer = lineage.records.at(archive).status()
    if as_json:
        print_json(answer.document())
    else:
        from headwater.cli.render.records.listing import status_table

        print_text(status_table(answer))
