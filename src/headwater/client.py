"""What :func:`headwater.connect` returns: the store, and the record ledger in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.model.audit import Actor
from headwater.model.exchange import Exported, Imported
from headwater.store.store import DatasetName, Store

if TYPE_CHECKING:
    from headwater.records.ledger import Records


class Lineage(Store):
    """A store with its records. Safe to share between threads; any number of processes may open the same one."""

    @property
    def records(self) -> Records:
        """They have no namespaces, so no veil could part them: whoever sees only some sees none."""
        self._refuse_parts()
        return self._records

    def export(
        self,
        path: str | Path | None = None,
        *,
        format: str = "wia-json",
        datasets: Sequence[DatasetName] = (),
        direction: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
        gzip: bool = False,
    ) -> Exported:
        """Write lineage to a file: all of it, around some ``datasets``, as it was known to hold ``as_of`` a time.

        ``format``: wia-json, wia-jsonl, wia-parquet, graphml, openlineage or mermaid. ``direction``: upstream,
        downstream or both.
        """
        from headwater.exchange.exporting import export_file

        return export_file(
            self, path, format=format, datasets=datasets, direction=direction, depth=depth, as_of=as_of, gzip=gzip
        )

    def import_(self, path: str | Path, *, actor: Actor | None = None) -> Imported:
        """Take in what an export wrote, here or elsewhere: all of it, with its ids, or nothing if a rule is broken."""
        from headwater.exchange.importing import import_file

        return import_file(self, path, actor=actor)

    @cached_property
    def _records(self) -> Records:
        from headwater.records.ledger import Records

        return Records(self._database, actor=self._actor)
