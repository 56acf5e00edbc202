"""Does the store hold? Everything recomputed, the first thing that does not hold named.

In this order: every entry and how it follows from the one before; the tree over them; who signs; what was signed; the
checkpoints of an anchor; whether a checkpoint is missing that the log announces; the chains of certificates; the
events, each against its entry in the log; and the graph, against a fresh fold of all events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from itertools import zip_longest

from sqlalchemy import Connection, func, select

from headwater.errors import EvidenceBroken, NoteInvalid
from headwater.model.certificates import Certificate, CertificateDocument
from headwater.model.log import Verified
from headwater.proof.canonical import canonical
from headwater.proof.history import ADOPTED, KeyHistory, origin_of
from headwater.proof.merkle import perfect_root
from headwater.proof.notes import Checkpoint, Note, Verifier
from headwater.proof.tiles import WIDTH
from headwater.store.engine.database import Database
from headwater.store.fold.edge_limits import read_max_direct_edges, verify_limit
from headwater.store.fold.refold import Refold
from headwater.store.log.certificates import ISSUED
from headwater.store.log.checkpoints import ANNOUNCED, KEY_ENTRIES, Anchored, announcement, note_in
from headwater.store.log.entries import as_stored
from headwater.store.log.event_partitions import verify_events
from headwater.store.log.log_partitions import Progress, WholeLog, recompute_all
from headwater.store.log.verify_graph import NOT_COVERED, verify_graph
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import audit, certificate, checkpoint, event, log_tile

VerifyProgress = Callable[[str, int, int], None]
"""What is being verified (entries, events, …), how much of it is done, and how much there is."""


def verify(
    database: Database,
    conn: Connection,
    *,
    key: str | None = None,
    anchored: Sequence[Anchored] | None = None,
    events: bool = True,
    graph: bool = True,
    progress: VerifyProgress | None = None,
) -> Verified:
    """``graph`` counts only with ``events``: the folded events must be the ingested ones."""
    count = conn.execute(select(func.count()).select_from(event)).scalar_one() if events and graph else 0
    refold = Refold(database, count, read_max_direct_edges(conn))
    try:
        found, documents = _verify_log(database, conn, key, anchored, progress)
        if events:
            tell, folding = _part(progress, "events"), int(refold.has_process)
            found = found._replace(events=verify_events(database, conn, documents, tell, busy=folding))
        if events and graph:
            compared = verify_graph(conn, refold, _part(progress, "events folded again"))
            found = found._replace(graph=compared, not_covered=(*found.not_covered, *NOT_COVERED))
        return found
    finally:
        refold.close()


def _part(progress: VerifyProgress | None, part: str) -> Progress | None:
    return None if progress is None else partial(progress, part)


def _verify_log(
    database: Database,
    conn: Connection,
    key: str | None,
    anchored: Sequence[Anchored] | None,
    progress: VerifyProgress | None,
) -> tuple[Verified, dict[str, CertificateDocument]]:
    """What holds of the log, and the documents of the certificates by the digest of the event that each is of."""
    kept = as_stored(conn, select(checkpoint.c.size, checkpoint.c.note).order_by(checkpoint.c.size))
    signed = [(f"The checkpoint of {size} entries", size, note) for size, note in kept]
    elsewhere = [(where, _state(where, note)[1].size, note) for where, note in anchored or ()]
    stated = [seq - 1 for seq in conn.scalars(select(audit.c.seq).where(audit.c.event_type.in_(KEY_ENTRIES)))]
    whole = recompute_all(
        database, conn, [*(size for _, size, _ in [*signed, *elsewhere]), *stated], _part(progress, "entries")
    )
    _verify_tiles(conn, whole)
    history = _verify_keys(conn, whole, key)
    for what, size, note in [*signed, *elsewhere]:
        _verify_checkpoint(what, size, note, whole, history)
    not_covered = _verify_sequence(kept, whole)
    verify_limit(conn, whole.others)
    documents = _verify_certificates(conn, whole)
    found = Verified(
        entries=whole.size,
        head=whole.head.hex(),
        root=whole.root_at[whole.size].hex(),
        checkpoints=len(signed),
        certificates=len(documents),
        events=None,
        anchored=None if anchored is None else max((size for _, size, _ in elsewhere), default=0),
        key=None if history is None or history.current is None else str(history.current),
        not_covered=tuple(not_covered),
    )
    return found, documents


def _verify_tiles(conn: Connection, whole: WholeLog) -> None:
    expected: list[tuple[int, int, bytes]] = []
    level, hashes = 1, list(whole.roots)
    while hashes:
        expected += [(level, number, one) for number, one in enumerate(hashes)]
        whole_tiles = range(0, len(hashes) - WIDTH + 1, WIDTH)
        level, hashes = level + 1, [perfect_root(hashes[start : start + WIDTH]) for start in whole_tiles]
    there = as_stored(conn, select(log_tile).order_by(log_tile.c.level, log_tile.c.number))
    for should, tile in zip_longest(expected, there):
        if tile is None or (should is not None and should[:2] < tile[:2]):
            raise EvidenceBroken(f"Tile {should[0]}/{should[1]} of the log", "it is missing")
        if should != tile:
            raise EvidenceBroken(f"Tile {tile[0]}/{tile[1]} of the log", "it is not the root over its entries")


def _verify_keys(conn: Connection, whole: WholeLog, trusted: str | None) -> KeyHistory | None:
    history: KeyHistory | None = None
    if whole.size:
        history = KeyHistory(origin_of(whole.first))
        for seq, kind, details in whole.others:
            if kind in KEY_ENTRIES:
                history.follow(seq, kind, note_in(details), lambda size: whole.root_at.get(size, b""))
    if trusted is not None:
        key = Verifier.parse(trusted)
        if history is None or key not in [period.key for period in history.periods]:
            raise EvidenceBroken("The log", f"it was never signed with {key}")
    return history


def _state(what: str, note: str) -> tuple[Note, Checkpoint]:
    try:
        if not isinstance(note, str):
            raise NoteInvalid("it is not text")
        signed = Note.parse(note)
        return signed, Checkpoint.of(signed)
    except NoteInvalid as invalid:
        raise EvidenceBroken(what, str(invalid)) from None


def _verify_checkpoint(what: str, size: int, note: str, whole: WholeLog, history: KeyHistory | None) -> None:
    signed, state = _state(what, note)
    if state.size != size:
        raise EvidenceBroken(what, f"it is one of {state.size} entries")
    if size > whole.size:
        raise EvidenceBroken(what, f"the log has only {whole.size} entries")
    if history is None or state.origin != history.origin:
        raise EvidenceBroken(what, f"it is of another log, {state.origin}")
    if state.root != whole.root_at[size]:
        raise EvidenceBroken(what, "the entries are not those that were signed")
    key = history.at(size)
    if key is None or not signed.is_signed_by(key):
        raise EvidenceBroken(what, "it is not signed by the key in force" + (f", {key}" if key else ""))


def _verify_sequence(kept: Sequence[tuple[int, str]], whole: WholeLog) -> list[str]:
    """That the checkpoints are those that the log announces, each once; what cannot be said of them.

    ``kept`` are verified by then, ordered by their size.
    """
    announced = {seq: details for seq, kind, details in whole.others if kind == ANNOUNCED}
    adopted = next((seq for seq, kind, _ in whole.others if kind == ADOPTED), None)
    if adopted is not None and not kept:
        raise EvidenceBroken("The first checkpoint", f"it is missing: entry {adopted} adopts the key that signed it")
    first = min(announced, default=None)
    sizes = {size for size, _ in kept}
    for seq in announced:
        if seq not in sizes:
            raise EvidenceBroken(f"The checkpoint of {seq} entries", f"it is missing: entry {seq} announces it")
    previous: tuple[int, str] | None = None
    for number, (size, note) in enumerate(kept, start=1):
        if size in announced:
            if announced[size] != canonical(announcement(number, previous)):
                raise EvidenceBroken(
                    f"The checkpoint of {size} entries", "the log announces it with other checkpoints before it"
                )
        elif first is not None and size > first:
            raise EvidenceBroken(f"The checkpoint of {size} entries", "the log does not announce it")
        previous = size, note
    if kept and first is None:
        return ["whether a checkpoint is missing: the log announces none yet, the next `headwater checkpoint` does"]
    return []


def _verify_certificates(conn: Connection, whole: WholeLog) -> dict[str, CertificateDocument]:
    """Their documents by the digest of the event each is of."""
    documents: dict[str, CertificateDocument] = {}
    heads: dict[str, tuple[int, str | None]] = {}
    of_runs: dict[str, str] = {}
    there = iter(as_stored(conn, select(certificate).order_by(certificate.c.seq)))
    for seq, kind, details in whole.others:
        if kind != ISSUED:
            continue
        document = document_in(seq, details)
        what = f"Certificate {document['certificateId']} (entry {seq})"
        namespace, run = document["namespace"], document["runId"]
        number, previous = heads.get(namespace, (0, None))
        if document["number"] != number or document["previousCertificateHash"] != previous:
            raise EvidenceBroken(what, f"it does not follow from certificate {number - 1} of its namespace")
        if document["supersedes"] != of_runs.get(run):
            raise EvidenceBroken(what, "it does not name the certificate that its run had before")
        digest = sha256(details.encode())
        indexed = (seq, key_of(namespace), number, document["certificateId"], key_of(run), digest.digest())
        if next(there, None) != indexed:
            raise EvidenceBroken(what, "the table of certificates has it otherwise, or not at all")
        heads[namespace] = number + 1, digest.hexdigest()
        of_runs[run] = document["certificateId"]
        documents[document["eventDigest"]] = document
    for seq, *_ in there:
        raise EvidenceBroken(f"The certificate said to be entry {seq}", "it is not in the log")
    return documents


def document_in(seq: int, details: str) -> CertificateDocument:
    """The certificate that an entry of the log holds."""
    try:
        document: CertificateDocument = json.loads(details)
        Certificate.read(document, seq, "")
    except (ValueError, KeyError, TypeError):
        raise EvidenceBroken(f"The certificate in entry {seq}", "it is none") from None
    return document
