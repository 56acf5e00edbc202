"""What a store proves: the audit log, certificates, checkpoints and their verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from headwater.errors import NotPermitted, QueryError
from headwater.formats.query_checks import refuse_unaskable
from headwater.model.audit import Actor, AuditEntry
from headwater.model.certificates import Certificate
from headwater.model.log import ConsistencyProof, InclusionProof, SignedCheckpoint, Verified, VerifiedRun
from headwater.proof.history import KeyPeriod
from headwater.proof.keys import KeyRing, default_key_file
from headwater.store.access.view import View
from headwater.store.access.visibility import Visibility
from headwater.store.engine.database import Database
from headwater.store.log import audit, certificates, checkpoints, merkle_log
from headwater.store.log.bundle import bundle
from headwater.store.log.checkpoints import Anchored
from headwater.store.log.verify import VerifyProgress, verify
from headwater.store.log.verify_run import verify_certificate, verify_run
from headwater.store.log.visible_entries import entry_visible, visible_entries


class StoreProofs:
    """The part of :class:`~headwater.store.store.Store` that answers from the audit log."""

    _database: Database
    _actor: Actor
    _visibility: Visibility

    @contextmanager
    def _view(self) -> Iterator[View]:
        """What this store's user sees, in one read transaction."""
        with self._database.read() as conn:
            yield View(conn, self._visibility)

    def _refuse_parts(self) -> None:
        """For what is about the store as a whole."""
        if not self._visibility.is_everything:
            raise NotPermitted("admin", whole=True)

    def audit(
        self,
        *,
        event_type: str | None = None,
        actor: str | None = None,
        resource: str | None = None,
        correlation_id: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """The newest entries first; ``before`` an entry's number goes on from there."""
        refuse_unaskable(event_type, actor, resource, correlation_id, before, limit)
        about = {"event_type": event_type, "actor_id": actor, "resource_id": resource, "correlation_id": correlation_id}
        with self._view() as view:
            if not view.is_everything:
                return visible_entries(view, limit=limit, before=before, **about)
            return audit.entries(view.conn, limit=limit, before=before, **about)

    def certificates(
        self, *, namespace: str | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[Certificate]:
        """The newest first."""
        refuse_unaskable(namespace, run_id, limit)
        with self._view() as view:
            return certificates.certificates(view, namespace=namespace, run_id=run_id, limit=limit)

    def issue_certificate(self, run_id: str, *, actor: Actor | None = None) -> Certificate:
        """Certify a run that ended before certificates existed. An existing certificate stays.

        Usually a run is certified when its last event is ingested, if that event contains a manifest.
        """
        self._refuse_parts()
        with self._database.write() as conn:
            certificates.issue_for_run(conn, run_id, actor or self._actor)
        return self.certificates(run_id=run_id, limit=1)[0]

    def checkpoint(
        self, *, key: KeyRing | None = None, anchored: Sequence[Anchored] = (), actor: Actor | None = None
    ) -> SignedCheckpoint:
        """Sign the current log, by default with the keys in HEADWATER_KEY. The log adopts the first key to sign.

        It is refused if the log does not extend what was signed before, here or in the ``anchored`` checkpoints.
        """
        self._refuse_parts()
        ring = key or KeyRing.load(default_key_file())
        with self._database.write() as conn:
            return checkpoints.sign(conn, ring, actor or self._actor, anchored)

    def checkpoints(self, *, before: int | None = None, limit: int = 100) -> list[SignedCheckpoint]:
        """The newest first; ``before`` a checkpoint's size goes on from there."""
        refuse_unaskable(before, limit)
        with self._view() as view:
            return checkpoints.checkpoints(view.conn, limit, before)

    def rotate_key(self, *, key: KeyRing | None = None, actor: Actor | None = None) -> str:
        """Have a new key sign from here on; the public part of it. The old one stays in the file, and in the log."""
        self._refuse_parts()
        ring = key or KeyRing.load(default_key_file())
        with self._database.write() as conn:
            return checkpoints.rotate(conn, ring, actor or self._actor)

    def signing_keys(self) -> list[KeyPeriod]:
        """The keys that signed for this log, the first one first, each with the entry from which on it did."""
        with self._view() as view:
            return checkpoints.periods(view.conn)

    def inclusion(self, seq: int, size: int | None = None) -> InclusionProof:
        """Proof that an entry is in the log of ``size`` entries, by default all of them."""
        refuse_unaskable(seq, size)
        with self._view() as view:
            if not view.is_everything and not entry_visible(view, seq):
                raise QueryError(f"Entry {seq} is not known.")
            return merkle_log.inclusion(view.conn, seq, size)

    def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """Proof that the log of ``new`` entries, by default all of them, begins with the log of ``old``."""
        refuse_unaskable(old, new)
        with self._view() as view:
            return merkle_log.consistency(view.conn, old, new)

    def verify(
        self,
        *,
        key: str | None = None,
        anchored: Sequence[Anchored] | None = None,
        events: bool = True,
        graph: bool = True,
        progress: VerifyProgress | None = None,
    ) -> Verified:
        """Recompute everything: the log, its checkpoints and certificates, the events, and the graph that they fold
        into. Raises an error for the first failure.

        ``key``: a public key that must have signed; ``anchored``: checkpoints from an anchor, which must be of this
        log; without ``events`` only the log, without ``graph`` no fresh fold.
        """
        self._refuse_parts()
        with self._database.read() as conn:
            return verify(
                self._database,
                conn,
                key=key,
                anchored=anchored,
                events=events,
                graph=graph,
                progress=progress,
            )

    def verify_run(
        self, run_id: str, *, key: str | None = None, anchored: Sequence[Anchored] | None = None
    ) -> VerifiedRun:
        """Recompute what one run left: its events, its certificates, and their place in the log."""
        with self._view() as view:
            return verify_run(view, run_id, key, anchored)

    def verify_certificate(
        self, certificate_id: str, *, key: str | None = None, anchored: Sequence[Anchored] | None = None
    ) -> VerifiedRun:
        """The same for the run that a certificate is of."""
        refuse_unaskable(certificate_id)
        with self._view() as view:
            return verify_certificate(view, certificate_id, key, anchored)

    def bundle(self, run_id: str) -> bytes:
        """The evidence of a run as one file, which `headwater verify FILE` checks without this store.

        Everything about the run has to be signed: see :meth:`checkpoint`.
        """
        with self._view() as view:
            return bundle(view, run_id)
