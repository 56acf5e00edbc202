"""`headwater verify`"""

from __future__ import annotations

from typing import Any

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store, print_json, show
from headwater.errors import AuditBroken


def verify(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Recompute the audit log; exit 1 and name the first entry that does not hold."""
    from headwater.cli.render.audit import verdict

    with open_store(store) as lineage:
        try:
            entries, head = lineage.verify()
        except AuditBroken as broken:
            if as_json:
                print_json({"holds": False, "entry": broken.seq, "reason": broken.reason})
            raise
    answer: dict[str, Any] = {"holds": True, "entries": entries, "head": head}
    show(answer, as_json, lambda _: verdict(entries, head))
