"""Collects the data of a report from the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from headwater.errors import AuditBroken, EvidenceBroken
from headwater.model.answers import RunDetail
from headwater.model.certificates import Certificate, Invariant
from headwater.model.log import InclusionProof, SignedCheckpoint, VerifiedRun
from headwater.model.runs import RunState
from headwater.proof.canonical import digest_of
from headwater.store.store import Store


@dataclass(frozen=True)
class ReportData:
    detail: RunDetail
    verified: VerifiedRun | None
    broken: str | None
    """The first failure of the verification, if it failed."""
    checkpoint: SignedCheckpoint | None
    inclusion: InclusionProof | None
    """Proof that the checkpoint includes the certificate."""
    written_at: datetime

    @cached_property
    def certificate(self) -> Certificate | None:
        """The newest certificate of the current evidence: events may arrive out of order."""
        return _certificate(self.detail)

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        return () if self.certificate is None else self.certificate.invariants

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(self._failures())

    @property
    def gaps(self) -> tuple[str, ...]:
        """What could neither be proven nor refuted."""
        return tuple(self._gaps())

    @property
    def concerns(self) -> tuple[str, ...]:
        return self.failures + self.gaps

    def facet(self, name: str) -> Mapping[str, object] | None:
        facet = self.detail.run_facets.get(name)
        return facet if isinstance(facet, Mapping) else None

    def is_certified(self, name: str) -> bool | None:
        """Whether the certificate covers this facet's content; None if it has no hash of it."""
        if self.certificate is None or name not in self.certificate.evidence_hashes:
            return None
        return _is_about(self.certificate, self.detail, name)

    def _failures(self) -> Iterator[str]:
        if self.broken is not None:
            yield self.broken
        state = self.detail.run.state
        if state in (RunState.FAIL, RunState.ABORT):
            yield f"The run ended in {state.value}."
        for invariant in self.invariants:
            if not invariant.holds:
                why = f": {invariant.detail}" if invariant.detail else ""
                yield f"{invariant.breach or 'MATERIAL'}: {invariant.name} does not hold{why}."
        for name in self.certificate.evidence_hashes if self.certificate is not None else ():
            if self.is_certified(name) is False:
                yield f"{name} differs from the certified one."

    def _gaps(self) -> Iterator[str]:
        if not self.detail.run.state.terminal:
            yield "The run has not ended."
        if self.certificate is None:
            yield "No certificate was issued: the run did not end with a manifest (cdme.runManifest)."
        else:
            for undecided in self.certificate.undecided:
                why = f": {undecided.detail}" if undecided.detail else ""
                yield f"{undecided.name} is not decided{why}."
        if self.certificate is not None and self.inclusion is None:
            yield "The certificate is not signed yet: `headwater checkpoint` signs the log."


def gather_report(store: Store, run_id: str) -> ReportData:
    detail = store.run(run_id)
    verified, broken = _verify(store, run_id)
    checkpoint = inclusion = None
    if broken is None:
        checkpoint = next(iter(store.checkpoints(limit=1)), None)
        certificate = _certificate(detail)
        if checkpoint is not None and certificate is not None and certificate.seq <= checkpoint.size:
            inclusion = store.inclusion(certificate.seq, checkpoint.size)
    return ReportData(detail, verified, broken, checkpoint, inclusion, datetime.now(UTC))


def _certificate(detail: RunDetail) -> Certificate | None:
    current = (
        certificate
        for certificate in detail.certificates
        if all(_is_about(certificate, detail, name) for name in certificate.evidence_hashes)
    )
    return next(current, next(iter(detail.certificates), None))


def _is_about(certificate: Certificate, detail: RunDetail, name: str) -> bool:
    return name in detail.run_facets and certificate.evidence_hashes[name] == digest_of(detail.run_facets[name])


def _verify(store: Store, run_id: str) -> tuple[VerifiedRun | None, str | None]:
    """Verify the run and return a failure as text, because the page reports it."""
    try:
        return store.verify_run(run_id), None
    except (AuditBroken, EvidenceBroken) as broken:
        return None, f"{broken}."
