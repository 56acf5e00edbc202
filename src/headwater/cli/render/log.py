"""The log: verification, checkpoints, proofs and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, join, note, properties, section
from headwater.cli.text import count_of, moment
from headwater.model.capture_keys import CaptureKey
from headwater.model.certificates import Certificate
from headwater.model.log import ConsistencyProof, InclusionProof, SignedCheckpoint, Verified, VerifiedRun


def verification_text(result: Verified) -> RenderableType:
    lines = [
        join([Text("The audit log holds", style="green"), f": {count_of(result.entries, 'entry', 'entries')}."], "")
    ]
    if result.entries:
        lines.append(Text(f"Last hash: {result.head}"))
    if result.certificates:
        lines.append(Text(f"{count_of(result.certificates, 'certificate')}, each linked to the one before."))
    if result.events:
        lines.append(Text(f"{count_of(result.events, 'event')}, each matching the log."))
    if result.graph:
        lines.append(Text(f"{count_of(result.graph, 'row')} of the graph, matching a rebuild from all events."))
    if result.records:
        lines.append(Text(f"{count_of(result.records, 'record')}, recent and archived, each from a load in the log."))
    if result.archive_files:
        lines.append(Text(f"{count_of(result.archive_files, 'file')} of the record archive, matching the log."))
    if result.checkpoints:
        lines.append(
            join([f"{count_of(result.checkpoints, 'checkpoint')}, signed; current key: ", data(result.key)], "")
        )
    lines += [note(f"Not covered: {what}.") for what in result.not_covered]
    if result.anchored is not None:
        lines.append(Text(f"The anchor agrees, up to entry {result.anchored}."))
    elif result.entries:
        lines.append(
            note("No anchor given (--anchor): this does not rule out a rewrite by someone who holds the signing key.")
        )
    return Group(*lines)


def run_verification_text(result: VerifiedRun) -> RenderableType:
    entries, certificates = (
        count_of(len(result.entries), "entry", "entries"),
        count_of(len(result.certificates), "certificate"),
    )
    lines = [join([Text("The run holds", style="green"), f": {entries} of the log, {certificates}."], "")]
    if result.checkpoint is None:
        lines.append(note("Nothing is signed yet: run `headwater checkpoint`."))
    else:
        lines.append(
            Text(f"{result.signed} of them in the checkpoint of {count_of(result.checkpoint, 'entry', 'entries')}.")
        )
    if result.anchored is not None:
        lines.append(Text(f"{result.anchored} of them in the newest checkpoint of the anchor, which agrees."))
    return Group(*lines)


def checkpoint_text(signed: SignedCheckpoint) -> RenderableType:
    """Print the note unchanged, so that it can be copied."""
    return Text(signed.note.removesuffix("\n"))


def inclusion_proof(proof: InclusionProof) -> RenderableType:
    shown = properties(
        [
            ("entry", Text(str(proof.seq))),
            ("hash", Text(proof.entry_hash)),
            ("log size", Text(f"{proof.size:,}")),
            ("root", Text(proof.root)),
        ]
    )
    return Group(shown, section("Path", *(Text(hash_) for hash_ in proof.path)) if proof.path else Text())


def consistency_proof(proof: ConsistencyProof) -> RenderableType:
    shown = properties(
        [
            ("old size", Text(f"{proof.old:,}")),
            ("old root", Text(proof.old_root)),
            ("new size", Text(f"{proof.new:,}")),
            ("new root", Text(proof.new_root)),
        ]
    )
    return Group(shown, section("Path", *(Text(hash_) for hash_ in proof.path)) if proof.path else Text())


def key_created_text(answer: Mapping[str, str]) -> RenderableType:
    return Group(
        join(["Created a key in ", data(answer["file"]), ". Keep a copy of it outside the store."], ""),
        Text(f"Public key: {answer['public']}"),
    )


class LogKeyMember(TypedDict):
    from_entry: int
    key: str


class KeyListing(TypedDict):
    """The key file with its public keys, and the keys that signed the log."""

    file: str
    keys: list[str]
    log: list[LogKeyMember]


def key_list(answer: KeyListing) -> RenderableType:
    parts: list[RenderableType] = [join(["Keys in ", data(answer["file"]), ", newest last:"], "")]
    parts += [Text(f"  {key}") for key in answer["keys"]]
    signing = [join([f"from entry {member['from_entry']} on  ", data(member["key"])], "") for member in answer["log"]]
    parts.append(section("Keys that signed the log", *(signing or [note("None yet: run `headwater checkpoint`.")])))
    return Group(*parts)


def key_rotated_text(answer: Mapping[str, str]) -> RenderableType:
    return join(["The log is now signed with ", data(answer["key"]), "."], "")


def key_trusted_text(key: CaptureKey) -> RenderableType:
    return join(["The store trusts plans that ", data(key.key), " signed", *_key_name(key), "."], "")


def key_untrusted_text(key: CaptureKey) -> RenderableType:
    return join(["The store no longer trusts plans that ", data(key.key), " signed", *_key_name(key), "."], "")


def _key_name(key: CaptureKey) -> list[str | Text]:
    return [" (", data(key.name), ")"] if key.name else []


def capture_key_table(keys: Sequence[CaptureKey]) -> RenderableType:
    if not keys:
        return Text("The store trusts no capture key.")
    rows = ResponsiveTable("Key", "Name", "State", "Trusted (UTC)")
    for key in keys:
        untrusted = key.untrusted_at
        state = (
            Text("trusted", style="green") if untrusted is None else Text(f"untrusted {moment(untrusted)}", style="red")
        )
        rows.add(data(key.key), data(key.name), state, Text(moment(key.trusted_at)))
    return rows


def certificate_section(certificates: Sequence[Certificate]) -> list[RenderableType]:
    """The newest certificate of a run."""
    if not certificates:
        return []
    newest = certificates[0]
    lines = [
        join(
            [
                data(newest.certificate_id),
                f"number {newest.number} in",
                data(newest.namespace),
                "entry",
                f"{newest.seq}",
            ],
            " ",
        )
    ]
    for invariant in newest.invariants:
        state = Text("holds", style="green") if invariant.holds else Text(str(invariant.breach), style="bold red")
        lines.append(
            join([part for part in (state, data(invariant.name), data(invariant.detail or "", "dim")) if part], "  ")
        )
    for undecided in newest.undecided:
        parts = (Text("not decided", style="yellow"), data(undecided.name), data(undecided.detail or "", "dim"))
        lines.append(join([part for part in parts if part], "  "))
    if newest.supersedes is not None:
        lines.append(join(["supersedes", data(newest.supersedes)], " "))
    return [section("Certificate", *lines)]
