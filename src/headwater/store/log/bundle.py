"""The evidence of one run, taken out of the store as one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import select

from headwater.errors import NoEvidence, QueryError, shorten
from headwater.formats.openlineage.event import Event, reread_event
from headwater.formats.openlineage.run_handoff import shared_datasets
from headwater.formats.openlineage.visibility import names_hidden
from headwater.proof.bundle import EvidenceBundle, KeyEntry, ProvenEntry, UpstreamEvidence
from headwater.proof.notes import Checkpoint, Note
from headwater.proof.tiles import Tiles
from headwater.store.access.view import View
from headwater.store.log.audit import INGESTED
from headwater.store.log.certificates import ISSUED
from headwater.store.log.checkpoints import KEY_ENTRIES, checkpoints
from headwater.store.log.merkle_log import tree
from headwater.store.log.verify_events import digest_in
from headwater.store.log.verify_run import verify_run
from headwater.store.log.visible_entries import entry_visible
from headwater.store.query.lookup import find_run
from headwater.store.query.writers_before import runs_before
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import StoredRun
from headwater.store.schema.tables import audit, certificate, event


def bundle(view: View, run_id: str) -> bytes:
    """Of entries that the newest checkpoint covers. Nothing is handed out that does not hold, or that is hidden."""
    verified = verify_run(view, run_id, None)
    if verified.checkpoint is None or verified.signed < len(verified.entries):
        raise QueryError(
            f"Not everything about run '{shorten(run_id)}' is signed yet. `headwater checkpoint` signs the log."
        )
    (newest,) = checkpoints(view.conn, 1)
    taking = _Taking(view, Checkpoint.of(Note.parse(newest.note)).size)
    entries = list(map(taking.proven, verified.entries))
    events = [taking.event(digest_in(each.details)) for each in entries if _is(each, INGESTED)]
    first = taking.proven(1)
    return EvidenceBundle(
        run_id=run_id,
        entries=tuple(entries),
        events=tuple(one.body for one in events),
        chain=tuple(sorted(taking.chain([each for each in entries if _is(each, ISSUED)]), key=lambda one: one.seq)),
        upstream=tuple(sorted(taking.upstream(find_run(view, run_id), events), key=lambda one: one.certificate.seq)),
        checkpoint=newest.note,
        first=first.hash,
        first_path=first.path,
        keys=tuple(taking.keys()),
        key=newest.key,
    ).write()


class _Taking:
    """``size``: of the log that was signed."""

    def __init__(self, view: View, size: int) -> None:
        self._view = view
        self._size = size
        self._tree: Tiles = tree(view.conn)

    def proven(self, seq: int) -> ProvenEntry:
        row = self._view.execute(select(audit).where(audit.c.seq == seq)).one()._mapping
        entry: dict[str, object] = {column.name: row[column.name] for column in audit.c if column.name != "hash"}
        entry["previous_hash"] = row["previous_hash"].hex()
        return ProvenEntry(entry, tuple(self._tree.inclusion(seq - 1, self._size)))

    def event(self, digest: str | None) -> Event:
        found = bytes.fromhex((digest or "").removeprefix("sha256:"))
        body = self._view.scalars(select(event.c.body).where(event.c.digest == found)).one()
        told = reread_event(body, found)
        if not self._view.is_everything and names_hidden(told, self._view.sees, parents=True):
            raise NoEvidence(told.run_id or "")
        return told

    def chain(self, certificates: Sequence[ProvenEntry]) -> Iterator[ProvenEntry]:
        """The certificates before these that are not among them."""
        there = {each.seq for each in certificates}
        for each in certificates:
            document = json.loads(each.details)
            before = self._view.scalars(
                select(certificate.c.seq).where(
                    certificate.c.namespace_key == key_of(document["namespace"]),
                    certificate.c.number == document["number"] - 1,
                )
            ).one_or_none()
            if before is not None and before not in there:
                there.add(before)
                if self._hidden(before):
                    raise NoEvidence(document["runId"])  # without it the certificate would prove nothing
                yield self.proven(before)

    def upstream(self, run: StoredRun, events: Iterable[Event]) -> Iterator[UpstreamEvidence]:
        """Of the runs that wrote what was read: those whose certified event says so by the same name."""
        for run_key in runs_before(self._view, run):
            newest = select(certificate.c.seq).where(certificate.c.run_key == run_key, certificate.c.seq <= self._size)
            seq = self._view.scalars(newest.order_by(certificate.c.seq.desc()).limit(1)).one_or_none()
            if seq is not None and not self._hidden(seq):
                issued = self.proven(seq)
                ended = self.event(json.loads(issued.details)["eventDigest"])
                if shared_datasets(ended, events):
                    yield UpstreamEvidence(issued, ended.body)

    def _hidden(self, seq: int) -> bool:
        return not self._view.is_everything and not entry_visible(self._view, seq)

    def keys(self) -> Iterator[KeyEntry]:
        told = select(audit.c.seq).where(audit.c.event_type.in_(KEY_ENTRIES), audit.c.seq <= self._size)
        for seq in self._view.scalars(told.order_by(audit.c.seq)).all():
            before = seq - 1
            yield KeyEntry(self.proven(seq), self._tree.root(before), tuple(self._tree.consistency(before, self._size)))


def _is(proven: ProvenEntry, kind: str) -> bool:
    return bool(proven.entry["event_type"] == kind)
