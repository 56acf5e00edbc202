"""What :func:`headwater.connect` returns: the store, and the record ledger in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.model.audit import Actor
from headwater.model.exchange import ExportResult, ImportResult
from headwater.model.log import Verified
from headwater.store.log.checkpoints import Anchored
from headwater.store.log.verify import VerifyProgress, verify
from headwater.store.store import DatasetName, Store

if TYPE_CHECKING:
    from headwater.records.ledger import Records


class Lineage(Store):
    """A store with its records. Safe to share between threads; any number of processes may open the same one."""

    @property
    def records(self) -> Records:
        """Records have no namespaces, so only a store that shows everything has them."""
        self._refuse_parts()
        return self._records

    def verify(
        self,
        *,
        key: str | None = None,
        anchored: Sequence[Anchored] | None = None,
        events: bool = True,
        graph: bool = True,
        records: bool = True,
        progress: VerifyProgress | None = None,
    ) -> Verified:
        """Recompute everything: the log, its checkpoints and certificates, the events, the graph that they fold
        into, and the records. Raises an error for the first failure.

        ``key``: a public key that must have signed; ``anchored``: checkpoints from an anchor, which must be of this
        log; without ``events`` only the log and the records, without ``graph`` no fresh fold.
        """
        self._refuse_parts()
        archive = self._records.archive
        files = archive.storage() if records and archive.exists() else None
        with self._database.read() as conn:
            found = verify(
                self._database,
                conn,
                key=key,
                anchored=anchored,
                events=events,
                graph=graph,
                progress=progress,
            )
            if not records:
                return found
            from headwater.records.verify import verify_records

            told = verify_records(conn, files, None if progress is None else partial(progress, "records"))
        return found._replace(
            records=told.records, archive_files=told.files, not_covered=(*found.not_covered, *told.not_covered)
        )

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
    ) -> ExportResult:
        """Write lineage to a file: all of it, around some ``datasets``, as it was known to hold ``as_of`` a time.

        ``format``: one that `headwater export --help` lists. ``direction``: upstream, downstream or both.
        """
        from headwater.exchange.exporting import export_file

        return export_file(
            self, path, format=format, datasets=datasets, direction=direction, depth=depth, as_of=as_of, gzip=gzip
        )

    def import_(self, path: str | Path, *, actor: Actor | None = None) -> ImportResult:
        """Import an export of this or another store: all of it, with its ids, or nothing if a rule is broken."""
        from headwater.exchange.importing import import_file

        return import_file(self, path, actor=actor)

    @cached_property
    def _records(self) -> Records:
        from headwater.records.ledger import Records

        return Records(self._database, actor=self._actor)
