"""VersionWriter on their way into the store.

A batch of events is often several runs of a few jobs, each of which ends the version before it. What was begun and
ended within one batch need not be written twice, and rows of a table that go together cost a fraction of rows that go
one by one. So they are gathered, and sent ahead of whatever would see them missing (:func:`pending.gather`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial

from sqlalchemy import Connection, LargeBinary, Text, bindparam, column, insert, select, table, update

from headwater.store.engine.pending import gather
from headwater.store.engine.prepared import Lookup, Prepared
from headwater.store.fold.rows import Newest
from headwater.store.fold.writes import Draft, content_text
from headwater.store.schema.tables import OPEN, content, lineage, version


class VersionWriter:
    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._new: dict[int, tuple[Draft, int]] = {}
        """With the time each ends."""
        self._ended: dict[int, int] = {}
        self._known: set[bytes | None] = set()
        """Digests of content that this transaction found, or left, in the store."""

    def add(self, version_id: int, draft: Draft, known: Collection[bytes | None], valid_to: int = OPEN) -> Newest:
        """``known``: digests of content that is certainly stored already."""
        self._keep_content(draft, known)
        self._expect_to_be_sent()
        self._new[version_id] = draft, valid_to
        return Newest(
            id=version_id,
            partition_id=draft.partition_id,
            written_at=draft.writer.written_at,
            tiebreak=draft.writer.tiebreak,
            upstream_digest=draft.upstream_digest,
            column_digest=draft.column_digest,
            schema_digest=draft.schema_digest,
        )

    def end(self, version_id: int, at: int) -> None:
        if version_id in self._new:
            self._new[version_id] = self._new[version_id][0], at
        else:
            self._expect_to_be_sent()
            self._ended[version_id] = at

    def _expect_to_be_sent(self) -> None:
        if not self._new and not self._ended:
            gather(self._conn, self._send)

    def _send(self) -> None:
        new, ended = self._new, self._ended
        self._new, self._ended = {}, {}
        if new:
            _INSERT_VERSION.run(self._conn, [_row(version_id, *written) for version_id, written in new.items()])
        read = [row for version_id, written in new.items() for row in _lineage_rows(version_id, *written)]
        if read:
            _INSERT_LINEAGE.run(self._conn, read)
        for statement in _END if ended else ():
            statement.run(self._conn, [{"ended": version_id, "at": at} for version_id, at in ended.items()])

    def _keep_content(self, draft: Draft, known: Collection[bytes | None]) -> None:
        texts: dict[bytes, Callable[[], str]] = {
            draft.upstream_digest: _content_text(draft.upstreams),
            draft.column_digest: partial(str, draft.columns.text),
        }
        if draft.schema_digest is not None:
            texts[draft.schema_digest] = _content_text(draft.schema)
        unsure = [digest for digest in texts if digest not in known and digest not in self._known]
        if unsure:
            stored = {digest for (digest,) in _STORED_CONTENT.rows(self._conn, unsure)}
            new = [{"digest": digest, "body": texts[digest]()} for digest in unsure if digest not in stored]
            if new:
                _INSERT_CONTENT.run(self._conn, new)
            self._known.update(unsure)


def _row(version_id: int, draft: Draft, valid_to: int) -> dict[str, object]:
    writer = draft.writer
    return {
        "id": version_id,
        "dataset_id": draft.group.dataset_id,
        "partition_id": draft.partition_id,
        "origin": writer.origin,
        "job_id": writer.job_id,
        "run_id": writer.run_id,
        "event_id": writer.event_id,
        "written_at": writer.written_at,
        "tiebreak": writer.tiebreak,
        "valid_to": valid_to,
        "label": draft.label,
        "schema_digest": draft.schema_digest,
        "upstream_digest": draft.upstream_digest,
        "column_digest": draft.column_digest,
        "digest": draft.digest,
    }


def _lineage_rows(version_id: int, draft: Draft, valid_to: int) -> Iterator[dict[str, object]]:
    writer = draft.writer
    for read in draft.reads:
        for upstream_partition_id in read.partition_ids:
            yield {
                "version_id": version_id,
                "downstream_id": draft.group.dataset_id,
                "partition_id": draft.partition_id,
                "run_id": writer.run_id,
                "job_id": writer.job_id,
                "upstream_id": read.upstream_id,
                "upstream_partition_id": upstream_partition_id,
                "consumed_at": writer.written_at,
                "valid_to": valid_to,
                "origin": writer.origin,
                "basis": read.basis,
                "type": read.type,
                "transformation": read.transformation,
            }


def _content_text(body: object) -> Callable[[], str]:
    return partial(content_text, body)


_CONTENT_TEXT = table(content.name, column("digest", LargeBinary), column("body", Text))
"""``content`` with bodies that are JSON already."""
_INSERT_VERSION, _INSERT_LINEAGE, _INSERT_CONTENT = map(
    Prepared, (insert(version), insert(lineage), insert(_CONTENT_TEXT))
)
_STORED_CONTENT = Lookup(select(content.c.digest), content.c.digest)
_END = (
    Prepared(update(version).where(version.c.id == bindparam("ended")).values(valid_to=bindparam("at"))),
    Prepared(update(lineage).where(lineage.c.version_id == bindparam("ended")).values(valid_to=bindparam("at"))),
)
