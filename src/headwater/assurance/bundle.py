"""Verifies an evidence bundle: recomputes everything in it, without the store."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from headwater.errors import EventRefused, EvidenceBroken, NoteInvalid
from headwater.formats.openlineage.event import Event, reread_event
from headwater.formats.openlineage.run_handoff import same_state, shared_datasets
from headwater.model.bundles import RunHandoff, VerifiedBundle
from headwater.model.certificates import Certificate, CertificateDocument
from headwater.model.names import Job
from headwater.proof.bundle import EvidenceBundle, KeyEntry, ProvenEntry
from headwater.proof.history import KeyHistory, origin_of
from headwater.proof.merkle import leaf_hash, verify_consistency, verify_inclusion
from headwater.proof.notes import Checkpoint, Note, Verifier
from headwater.store.log.audit import INGESTED
from headwater.store.log.certificates import ISSUED
from headwater.store.log.checkpoints import Anchored, note_in
from headwater.store.log.verify import document_in
from headwater.store.log.verify_events import digest_in, verify_claims


def verify_bundle(
    content: bytes, *, key: str | None = None, anchored: Sequence[Anchored] | None = None
) -> VerifiedBundle:
    """Verify a bundle. Raises :class:`EvidenceBroken` with the first failure.

    ``key`` is a public key that must have signed the log at some time; the log's rotations lead from it to the key of
    the bundle. Without it, the key in the file says nothing about who signed. ``anchored`` are checkpoints of an
    anchor, which must include that of the bundle.
    """
    bundle = EvidenceBundle.read(content)
    log = _BundleLog(bundle)
    log.is_signed(key)
    if anchored is not None:
        log.is_among(anchored)
    return _BundleRun(bundle, log).verified(trusted=key is not None, anchored=None if anchored is None else True)


class _BundleLog:
    """The log, as far as the checkpoint and the proofs of the bundle show it."""

    def __init__(self, bundle: EvidenceBundle) -> None:
        self._bundle = bundle
        try:
            self._note = Note.parse(bundle.checkpoint)
            self.state = Checkpoint.of(self._note)
        except NoteInvalid as invalid:
            raise EvidenceBroken("The checkpoint", str(invalid)) from None
        size, root = self.state.size, self.state.root
        if not verify_inclusion(leaf_hash(bundle.first), 0, size, bundle.first_path, root):
            raise EvidenceBroken("The log's first entry", "it is not among those that were signed")
        if self.state.origin != origin_of(bundle.first):
            raise EvidenceBroken("The checkpoint", "it is signed under a name that is not this log's")

    def has(self, *entries: ProvenEntry) -> None:
        """Check that each entry is in the log, in ascending order: a bundle has exactly one encoding."""
        last = 0
        for entry in entries:
            if not entry.is_in(self.state.size, self.state.root):
                raise EvidenceBroken(f"Entry {entry.seq}", "it is not among those that were signed")
            if entry.seq <= last:
                raise EvidenceBroken(f"Entry {entry.seq}", "it is not in its place")
            last = entry.seq

    def is_signed(self, trusted: str | None) -> None:
        history = KeyHistory(self.state.origin)
        for key_entry in self._bundle.keys:
            self._follow(history, key_entry)
        key = history.at(self.state.size)
        if key is None or not self._note.is_signed_by(key):
            raise EvidenceBroken("The checkpoint", "it is not signed by the key in force" + (f", {key}" if key else ""))
        if self._bundle.key != str(key):
            raise EvidenceBroken("The key in the file", f"it is not the one that signed, {key}")
        if trusted is not None and Verifier.parse(trusted) not in [period.key for period in history.periods]:
            raise EvidenceBroken("The log", f"it was never signed with {trusted}")

    def _follow(self, history: KeyHistory, key_entry: KeyEntry) -> None:
        self.has(key_entry.proven)
        entry, before = key_entry.proven, key_entry.proven.seq - 1
        if not verify_consistency(before, self.state.size, key_entry.consistency, key_entry.root, self.state.root):
            raise EvidenceBroken(f"Entry {entry.seq}", "the log that was signed does not go on from its state")
        history.follow(entry.seq, entry.event_type, note_in(entry.details), lambda _: key_entry.root)

    def is_among(self, anchored: Sequence[Anchored]) -> None:
        for where, note in anchored:
            try:
                there = Checkpoint.of(Note.parse(note))
            except NoteInvalid as invalid:
                raise EvidenceBroken(where, str(invalid)) from None
            if there == self.state:
                return
            if there.size == self.state.size:
                raise EvidenceBroken("The checkpoint", f"{where} is another one")
        raise EvidenceBroken("The checkpoint", f"the anchor has none of {self.state.size} entries")


class _BundleRun:
    """The run's part of the bundle, checked against the log."""

    def __init__(self, bundle: EvidenceBundle, log: _BundleLog) -> None:
        self._bundle = bundle
        self._log = log
        self._events: dict[str, Event] = {}
        self._issued: dict[int, CertificateDocument] = {}
        """The documents of the run's certificates by the entry of each."""

    def verified(self, *, trusted: bool, anchored: bool | None) -> VerifiedBundle:
        self._match_events()
        self._check_certificates()
        self._log.has(*(upstream.certificate for upstream in self._bundle.upstream))
        upstream = tuple(self._verify_upstream(number) for number in range(len(self._bundle.upstream)))
        newest = self._newest()
        job = next(iter(self._events.values())).job
        assert job is not None
        return VerifiedBundle(
            run_id=self._bundle.run_id,
            job=job,
            entries=tuple(entry.seq for entry in self._bundle.entries),
            events=len(self._events),
            certificates=tuple(str(document["certificateId"]) for document in self._issued.values()),
            number=None if newest is None else newest.number,
            broken=()
            if newest is None
            else tuple(invariant.name for invariant in newest.invariants if not invariant.holds),
            undecided=() if newest is None else tuple(item.name for item in newest.undecided),
            upstream=upstream,
            origin=self._log.state.origin,
            checkpoint=self._log.state.size,
            root=self._log.state.root.hex(),
            key=self._bundle.key,
            trusted=trusted,
            anchored=anchored,
        )

    def _match_events(self) -> None:
        """Check that all entries are about this run, and match the events with theirs."""
        bodies = iter(self._bundle.events)
        self._log.has(*self._bundle.entries)
        for entry in self._bundle.entries:
            if (entry.entry["resource_type"], entry.entry["resource_id"]) != ("run", self._bundle.run_id):
                raise EvidenceBroken(f"Entry {entry.seq}", f"it is not about run {self._bundle.run_id}")
            if entry.event_type == INGESTED:
                self._match(entry, next(bodies, None))
        if next(bodies, None) is not None:
            raise EvidenceBroken(f"Event {len(self._events) + 1}", "there is no entry of it")
        if not self._events:
            raise EvidenceBroken("The file", f"it has no event of run {self._bundle.run_id}")

    def _match(self, proven: ProvenEntry, body: bytes | None) -> None:
        what = f"Event {len(self._events) + 1} (entry {proven.seq})"
        if body is None:
            raise EvidenceBroken(what, "it is missing")
        event = _read(what, body)
        digest = _digest(event)
        if digest != digest_in(proven.details) or event.run_id != self._bundle.run_id:
            raise EvidenceBroken(what, "it is not the one that the log has in its place")
        self._events[digest] = event

    def _check_certificates(self) -> None:
        self._log.has(*self._bundle.chain)
        before: dict[str | None, ProvenEntry] = {_document_hash(entry): entry for entry in self._bundle.chain}
        needed: set[str | None] = set()
        superseded = None
        for entry in self._bundle.entries:
            if entry.event_type != ISSUED:
                continue
            document = document_in(entry.seq, entry.details)
            what = f"Certificate {document['certificateId']}"
            if document["eventDigest"] not in self._events:
                raise EvidenceBroken(what, "its event is not in the file")
            verify_claims(document, self._events[document["eventDigest"]])
            if document["supersedes"] != superseded:
                raise EvidenceBroken(what, "the one of the same run before it is not in the file")
            needed.add(document["previousCertificateHash"])
            if not _follows(document, before.get(document["previousCertificateHash"])):
                raise EvidenceBroken(what, "it does not follow from the certificate before it")
            superseded = document["certificateId"]
            before[_document_hash(entry)] = entry
            self._issued[entry.seq] = document
        for entry in self._bundle.chain:
            if _document_hash(entry) not in needed:
                raise EvidenceBroken(f"Entry {entry.seq}", "no certificate in the file follows from it")

    def _verify_upstream(self, number: int) -> RunHandoff:
        upstream = self._bundle.upstream[number]
        what = f"Upstream event {number + 1}"
        event = _read(what, upstream.event)
        document = document_in(upstream.certificate.seq, upstream.certificate.details)
        verify_claims(document, event)
        datasets = shared_datasets(event, self._events.values())
        if not datasets:
            raise EvidenceBroken(what, "it wrote nothing that the run has read")
        newest = self._newest()
        input_states = {} if newest is None else newest.source_state_hashes
        return RunHandoff(
            run_id=document["runId"],
            job=Job(document["namespace"], document["job"]),
            certificate_id=document["certificateId"],
            datasets=datasets,
            same_state=same_state(datasets, document["targetStateHashes"], input_states),
        )

    def _newest(self) -> Certificate | None:
        seq = max(self._issued, default=None)
        return None if seq is None else Certificate.read(self._issued[seq], seq, "")


def _read(what: str, body: bytes) -> Event:
    try:
        return reread_event(body, b"")  # without a digest, which is then computed
    except EventRefused as refused:
        raise EvidenceBroken(what, f"it cannot be read: {refused.reason}") from None


def _digest(event: Event) -> str:
    return f"sha256:{event.digest.hex()}"


def _document_hash(certificate: ProvenEntry) -> str:
    return sha256(certificate.details.encode()).hexdigest()


def _follows(document: CertificateDocument, before: ProvenEntry | None) -> bool:
    """Whether a certificate directly follows that of the entry ``before``, or is the first of its namespace."""
    if document["previousCertificateHash"] is None:
        return document["number"] == 0
    if before is None:
        return False
    previous = document_in(before.seq, before.details)
    return (previous["namespace"], previous["number"] + 1) == (document["namespace"], document["number"])
