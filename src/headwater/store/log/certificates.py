"""Fidelity certificates: issued in the transaction that takes a run's last event in, as entries of the log.

In each namespace they form a chain: a certificate holds the hash of the one before. Only the writer knows the chain's
head, and there is only one writer, so a chain has no branches; the table's unique keys would refuse one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

from sqlalchemy import Connection, bindparam, insert, select

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.event import Event, reread_event
from headwater.formats.openlineage.fidelity import claims, is_certified
from headwater.model.audit import Actor
from headwater.model.certificates import Certificate, CertificateDocument
from headwater.proof.canonical import canonical
from headwater.store.access.view import View
from headwater.store.engine.prepared import Prepared, together
from headwater.store.log import audit as log
from headwater.store.log.audit import Deed
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.query.lookup import find_run
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import audit, certificate, event

ISSUED = "certificate.issued"
OF_THE_CHAIN = frozenset({"number", "issuedAt", "previousCertificateHash", "supersedes"})
"""What a certificate says beside what follows from its event."""

_HEAD = Prepared(
    select(certificate.c.number, certificate.c.hash)
    .where(certificate.c.namespace_key == bindparam("namespace_key"))
    .order_by(certificate.c.number.desc())
    .limit(1)
)
_OF_RUN = Prepared(
    select(certificate.c.certificate_id)
    .where(certificate.c.run_key == bindparam("run_key"))
    .order_by(certificate.c.seq)
)
_INSERT = Prepared(insert(certificate))


def issue(conn: Connection, standing: Standing, ended: Sequence[tuple[Actor, Event]]) -> None:
    """Certify events that were just stored. The caller holds the write lock."""
    made = _Issuing(conn)
    for actor, last_event in ended:
        made.certify(actor, last_event)
    made.record(standing)


class _Issuing:
    """The certificates of one transaction, each of which may follow another of them."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._heads: dict[bytes, tuple[int, bytes | None]] = {}
        self._of_runs: dict[bytes, list[str]] = {}
        self._deeds: list[tuple[Actor, Deed]] = []
        self._rows: list[dict[str, object]] = []
        self._issued_at = datetime.now(UTC).isoformat().replace("+00:00", "Z")

    def certify(self, actor: Actor, last_event: Event) -> None:
        claimed = claims(last_event)
        namespace_key, run_key = key_of(claimed["namespace"]), key_of(claimed["runId"])
        self._read(namespace_key, run_key)
        number, previous = self._heads[namespace_key]
        of_run = self._of_runs[run_key]
        if claimed["certificateId"] in of_run:
            return
        document: CertificateDocument = {
            **claimed,
            "number": number,
            "issuedAt": self._issued_at,
            "previousCertificateHash": None if previous is None else previous.hex(),
            "supersedes": of_run[-1] if of_run else None,
        }
        details = canonical(document)
        digest = sha256(details.encode()).digest()
        self._heads[namespace_key] = number + 1, digest
        of_run.append(claimed["certificateId"])
        self._deeds.append((actor, Deed(ISSUED, "issue", "run", claimed["runId"], details)))
        self._rows.append(
            {
                "namespace_key": namespace_key,
                "number": number,
                "certificate_id": claimed["certificateId"],
                "run_key": run_key,
                "hash": digest,
            }
        )

    def _read(self, namespace_key: bytes, run_key: bytes) -> None:
        questions = [(_HEAD, {"namespace_key": namespace_key}), (_OF_RUN, {"run_key": run_key})]
        head, of_run = together(self._conn, questions)
        if namespace_key not in self._heads:
            self._heads[namespace_key] = (head[0][0] + 1, head[0][1]) if head else (0, None)
        self._of_runs.setdefault(run_key, [one for (one,) in of_run])

    def record(self, standing: Standing) -> None:
        if self._deeds:
            first = standing.seq + 1
            log.record(self._conn, standing, self._deeds)
            _INSERT.run(self._conn, [{"seq": first + i, **row} for i, row in enumerate(self._rows)])


def issue_for_run(conn: Connection, run_id: str, actor: Actor) -> None:
    """For a run whose last event was stored before there were certificates, or by another tool."""
    found = find_run(View.all(conn), run_id)
    stored = conn.execute(
        select(event.c.body, event.c.digest)
        .where(event.c.run_id == found.id, event.c.event_type.in_(("COMPLETE", "FAIL")))
        .order_by(event.c.id)
    )
    ended = [one for one in (reread_event(row.body, row.digest) for row in stored) if is_certified(one)]
    if not ended:
        raise QueryError(f"Run '{shorten(run_id)}' has not ended with a manifest (cdme.runManifest) to certify.")
    ((told,),) = together(conn, [(STANDING, {})])
    issue(conn, Standing.told(told), [(actor, one) for one in ended])


def certificates(
    view: View,
    *,
    namespace: str | None = None,
    run_id: str | None = None,
    certificate_id: str | None = None,
    limit: int,
) -> list[Certificate]:
    """The newest first."""
    certificate = view.tables.certificate
    query = (
        select(certificate.c.seq, certificate.c.hash, audit.c.details)
        .join(audit, audit.c.seq == certificate.c.seq)
        .order_by(certificate.c.seq.desc())
        .limit(limit)
    )
    if namespace is not None:
        query = query.where(certificate.c.namespace_key == key_of(namespace))
    if run_id is not None:
        query = query.where(certificate.c.run_key == key_of(run_id))
    if certificate_id is not None:
        query = query.where(certificate.c.certificate_id == certificate_id)
    return [Certificate.read(json.loads(row.details), row.seq, bytes(row.hash).hex()) for row in view.execute(query)]
