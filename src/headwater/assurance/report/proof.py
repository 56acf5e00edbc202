"""The section on proof: hashes, the ledger, declared checks, the certificate, and its inclusion in the signed log."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.ledger import ledger
from headwater.assurance.report.manifest import manifest
from headwater.assurance.report.markup import (
    Html,
    Part,
    absent_note,
    code,
    facts,
    join_parts,
    lines,
    mark,
    table,
    tag,
    words,
)
from headwater.model.certificates import Certificate, Invariant
from headwater.model.log import InclusionProof, SignedCheckpoint


def proof(case: ReportData) -> Html:
    return join_parts(
        [
            tag("h3", "Manifest", id="manifest"),
            manifest(case),
            tag("h3", "Ledger", id="ledger"),
            ledger(case),
            tag("h3", "Declared checks", id="invariants"),
            _claims_section(case),
            tag("h3", "Certificate", id="certificate"),
            _certificate(case.certificate),
            tag("h3", "The log", id="log"),
            _log(case),
            tag("h3", "Verify it yourself", id="check"),
            _check(case),
        ]
    )


def _claims_section(case: ReportData) -> Html:
    undecided = () if case.certificate is None else case.certificate.undecided
    if not case.invariants and not undecided:
        return absent_note("Not shown by this run: it has no declared checks.")
    rows: list[list[Part]] = [
        [_claim_row(invariant), invariant.name, invariant.detail or "—", words(invariant.threshold)]
        for invariant in sorted(case.invariants, key=lambda one: one.holds)
    ]
    rows += [[mark(None, "not decided"), item.name, item.detail or "—", "—"] for item in undecided]
    return table(["", "Check", "Result", "Threshold"], rows)


def _claim_row(invariant: Invariant) -> Html:
    return mark(invariant.holds, "holds" if invariant.holds else str(invariant.breach or "does not hold"))


def _certificate(certificate: Certificate | None) -> Html:
    if certificate is None:
        return absent_note("No certificate was issued for this run.")
    members = facts(
        [
            ("Id", code(certificate.certificate_id)),
            ("Issued", certificate.issued_at),
            ("Hash", code(certificate.hash)),
            (
                "Position in its chain",
                f"number {certificate.number:,} (from 0) in the namespace {certificate.namespace}",
            ),
            ("Hash of the previous one", code(certificate.previous_certificate_hash or "none, it is the first")),
            ("Supersedes", None if certificate.supersedes is None else code(certificate.supersedes)),
            ("Event", code(certificate.event_digest)),
            ("Algorithm", code(certificate.algorithm)),
            ("Rules of its claims", f"version {certificate.claims_version}"),
        ]
    )
    rows = ([code(name), code(one)] for name, one in certificate.evidence_hashes.items())
    return join_parts([members, table(["Evidence", "Hash"], rows)])


def _log(case: ReportData) -> Html:
    if case.verified is None:
        return tag("p", mark(False, "the evidence of this run fails verification"))
    entries = ", ".join(f"{seq:,}" for seq in case.verified.entries)
    parts = [tag("p", mark(True, "verified when this page was written"), f": entries {entries} of the log.")]
    if case.checkpoint is None:
        return join_parts([*parts, absent_note("Nothing is signed yet: run `headwater checkpoint`.")])
    return join_parts([*parts, *_checkpoint_section(case.checkpoint), _inclusion(case.inclusion)])


def _checkpoint_section(checkpoint: SignedCheckpoint) -> Iterator[Html]:
    yield tag("h4", f"Checkpoint of {checkpoint.size:,} entries, signed")
    yield lines(checkpoint.note)
    yield facts([("Root, in hexadecimal", code(checkpoint.root)), ("Signed by", code(checkpoint.key))])


def _inclusion(result: InclusionProof | None) -> Html:
    if result is None:
        return absent_note("That checkpoint does not include a certificate of this run.")
    path = [tag("li", code(one)) for one in result.path]
    return join_parts(
        [
            tag("h4", f"The certificate is entry {result.seq:,} of these: proof of inclusion (RFC 6962)"),
            facts([("Hash of the entry", code(result.entry_hash)), ("Root", code(result.root))]),
            tag("ol", *path, class_="path")
            if path
            else absent_note("The log has only this entry: its leaf is the root."),
        ]
    )


def _check(case: ReportData) -> Html:
    run = shlex.quote(case.detail.run.run_id)
    key = "" if case.checkpoint is None else f" --key {shlex.quote(case.checkpoint.key)}"
    return join_parts(
        [
            tag(
                "p",
                "This page is a summary, not the evidence. The evidence is a file that anyone can verify "
                "without the store. Get the key confirmed by someone other than the author of this page.",
            ),
            lines(f"headwater bundle {run} --out evidence.json\nheadwater verify evidence.json{key}"),
            tag(
                "p",
                "By hand: a leaf is SHA-256(00 ‖ hash of the entry), a node SHA-256(01 ‖ left ‖ right). From the leaf "
                "through the hashes above, the first one being its neighbour, comes the root that the checkpoint signs "
                "with Ed25519 over the lines before its blank one.",
            ),
        ]
    )
