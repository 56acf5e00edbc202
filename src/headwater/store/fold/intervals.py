"""From versions to edges that carry the time they held.

An edge of a :class:`Group` holds while any valid version of the group says so. In the ordinary case, a new version
that is the newest of its group, only what it changes is touched, and nothing at all where it repeats the one before;
that holds for one that arrives late, too, and senders with several connections have many of these. If a late one
differs, or one is removed, the whole group is folded again; all orders lead to the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from headwater.store.engine.prepared import Prepared, together
from headwater.store.fold.entities import Entities
from headwater.store.fold.rows import Group, Newest
from headwater.store.fold.versions import VersionWriter
from headwater.store.fold.writes import Draft, in_group
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import OPEN, column_edge, content, edge, version

Element = PlainRow
"""One thing a version says: an upstream with its type, or one column edge."""


class _Kind:
    """A table of intervals: which part of a version it sums up, and how an element is laid out in its columns."""

    def __init__(self, table: Table, digest: str, columns: tuple[str, ...], *, labelled: bool) -> None:
        """``labelled``: the second and third are column names, which the table holds as label ids."""
        self.table = table
        self.digest = digest
        self.columns = columns
        self.labelled = labelled
        row = table.c.id == bindparam("row")
        self.insert = Prepared(insert(table))
        self.delete = Prepared(delete(table).where(row))
        self.end = Prepared(update(table).where(row).values(valid_to=bindparam("at")))


_KINDS = (
    _Kind(edge, "upstream_digest", ("upstream_id", "basis", "type", "transformation"), labelled=False),
    _Kind(
        column_edge,
        "column_digest",
        (
            "upstream_id",
            "upstream_column_id",
            "downstream_column_id",
            "dependency",
            "subtype",
            "masking",
            "logic",
        ),
        labelled=True,
    ),
)


class Intervals:
    def __init__(self, conn: Connection, entities: Entities) -> None:
        self._conn = conn
        self._entities = entities
        self._memory = entities.memory
        self._versions = VersionWriter(conn)

    def add(self, draft: Draft) -> None:
        """Write a version and bring the group's edges up to date."""
        newest = self._newest(draft.group)
        if newest is not None and newest.stamp > draft.writer.stamp:
            self._add_late(draft)
            return
        before = newest
        if newest is not None and newest.partition_id != draft.partition_id:
            before, _ = self._neighbours(draft)
        self._memory.newest[draft.group] = self._write(draft, (newest, before))
        if before is not None:
            self._versions.end(before.id, draft.writer.written_at)
        repeats = before if before is not None else newest
        if newest is None:
            self._begin(draft)
        elif repeats is None or not draft.repeats(repeats):
            self._settle(draft.group, draft.writer.written_at)

    def _add_late(self, draft: Draft) -> None:
        before, after = self._neighbours(draft)
        self._write(draft, (before, after), OPEN if after is None else after.written_at)
        if before is not None:
            self._versions.end(before.id, draft.writer.written_at)
        if before is None or not draft.repeats(before):
            self.refold(draft.group)

    def _write(self, draft: Draft, near: Iterable[Newest | None], valid_to: int = OPEN) -> Newest:
        known = {digest for row in near if row is not None for digest in row[-3:]}
        return self._versions.add(self._entities.standing.next(version), draft, known, valid_to)

    def _newest(self, group: Group) -> Newest | None:
        parameters = {"dataset": group.dataset_id, "origin": group.origin}
        if group.job_id is not None:
            parameters["job"] = group.job_id
        if group not in self._memory.newest:
            rows = _NEWEST[group.job_id is None].rows(self._conn, parameters)
            self._memory.newest[group] = Newest(*rows[0]) if rows else None
        return self._memory.newest[group]

    def _neighbours(self, draft: Draft) -> list[Newest | None]:
        """The versions before and after a new one, of the same partition."""
        group, writer = draft.group, draft.writer
        parameters = {"dataset": group.dataset_id, "origin": group.origin, "job": group.job_id}
        parameters |= {"partition": draft.partition_id, "at": writer.written_at, "tiebreak": writer.tiebreak}
        given = {name: value for name, value in parameters.items() if value is not None}
        questions = [(side, given) for side in _NEIGHBOURS[group.job_id is None, draft.partition_id is None]]
        return [Newest(*rows[0]) if rows else None for rows in together(self._conn, questions)]

    def _begin(self, draft: Draft) -> None:
        """The first version of its group: there is nothing that it could change."""
        for kind, said in zip(_KINDS, (draft.upstreams, draft.columns.rows), strict=True):
            # In the order they have in the content, which hangs on nothing but what is said.
            elements = self._labelled(kind, dict.fromkeys(map(tuple, said)))
            self._insert(kind, draft.group, [(element, draft.writer.written_at, OPEN) for element in elements])

    # -- the newest version changed something -----------------------------------------------------

    def _settle(self, group: Group, now: int) -> None:
        valid = self._conn.execute(
            select(version.c.upstream_digest, version.c.column_digest)
            .where(in_group(group), version.c.valid_to == OPEN)
            .distinct()
        ).all()
        bodies = self._contents({d for row in valid for d in row})
        for kind in _KINDS:
            wanted = {element for row in valid for element in bodies[getattr(row, kind.digest)]}
            self._settle_kind(kind, group, wanted, now)

    def _settle_kind(self, kind: _Kind, group: Group, wanted: set[Element], now: int) -> None:
        table = kind.table
        wanted = set(self._labelled(kind, wanted))
        rows = self._conn.execute(
            select(table).where(_edges_of(table, group), or_(table.c.valid_to == OPEN, table.c.valid_to == now))
        ).all()
        held = {_element(kind, row): row for row in rows if row.valid_to == OPEN}
        just_ended = {_element(kind, row): row for row in rows if row.valid_to == now}
        never: list[int] = []
        over: list[int] = []
        for element, row in held.items():
            if element not in wanted:
                (never if row.valid_from == now else over).append(row.id)
        new = wanted - held.keys()
        again = [just_ended[element].id for element in new & just_ended.keys()]
        if never:
            kind.delete.run(self._conn, [{"row": row_id} for row_id in never])
        ended = [*((row_id, now) for row_id in over), *((row_id, OPEN) for row_id in again)]
        if ended:
            kind.end.run(self._conn, [{"row": row_id, "at": at} for row_id, at in ended])
        self._insert_sorted(kind, group, [(element, now, OPEN) for element in new - just_ended.keys()])

    # -- the whole group anew ---------------------------------------------------------------------

    def refold(self, group: Group) -> None:
        """Put every version of the group in its place in time and derive its edges from scratch."""
        self._memory.newest.pop(group, None)
        versions = self._conn.execute(
            select(version).where(in_group(group)).order_by(version.c.written_at, version.c.tiebreak)
        ).all()
        ends: dict[int, int] = {}
        following: dict[int | None, int] = {}
        for row in reversed(versions):
            ends[row.id] = following.get(row.partition_id, OPEN)
            following[row.partition_id] = row.written_at
            if row.valid_to != ends[row.id]:
                self._versions.end(row.id, ends[row.id])
        bodies = self._contents({d for row in versions for d in (row.upstream_digest, row.column_digest)})
        for kind in _KINDS:
            spans: dict[Element, list[tuple[int, int]]] = {}
            for row in versions:
                for element in bodies[getattr(row, kind.digest)]:
                    spans.setdefault(element, []).append((row.written_at, ends[row.id]))
            self._replace(kind, group, spans)

    def _replace(self, kind: _Kind, group: Group, spans: Mapping[Element, list[tuple[int, int]]]) -> None:
        names = self._label_lookup(kind, spans)
        wanted = {(names(element), start, end) for element, pieces in spans.items() for start, end in joined(pieces)}
        rows = self._conn.execute(select(kind.table).where(_edges_of(kind.table, group))).all()
        held = {(_element(kind, row), row.valid_from, row.valid_to): row.id for row in rows}
        stale = [row_id for key, row_id in held.items() if key not in wanted]
        for start in range(0, len(stale), 500):
            chunk = stale[start : start + 500]
            self._conn.execute(delete(kind.table).where(kind.table.c.id.in_(chunk)))
        self._insert_sorted(kind, group, wanted - held.keys())

    # -- rows and elements ------------------------------------------------------------------------

    def _insert_sorted(self, kind: _Kind, group: Group, spans: Iterable[tuple[Element, int, int]]) -> None:
        self._insert(kind, group, sorted(spans, key=_in_order))

    def _insert(self, kind: _Kind, group: Group, spans: Iterable[tuple[Element, int, int]]) -> None:
        """Of equally new edges the last one stored is listed first: the order must not depend on that of a set."""
        rows = [
            {
                "job_id": group.job_id,
                "origin": group.origin,
                "downstream_id": group.dataset_id,
                "valid_from": start,
                "valid_to": end,
                **dict(zip(kind.columns, element, strict=True)),
            }
            for element, start, end in spans
        ]
        if rows:
            kind.insert.run(self._conn, rows)

    def _contents(self, digests: Collection[bytes]) -> dict[bytes, list[Element]]:
        found: dict[bytes, list[Element]] = {}
        wanted = list(digests)
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            for row in self._conn.execute(select(content).where(content.c.digest.in_(chunk))):
                found[row.digest] = [tuple(element) for element in row.body]
        return found

    def _labelled(self, kind: _Kind, elements: Collection[Element]) -> list[Element]:
        return list(map(self._label_lookup(kind, elements), elements))

    def _label_lookup(self, kind: _Kind, elements: Iterable[Element]) -> Callable[[Element], Element]:
        if not kind.labelled:
            return lambda element: element
        texts = {text for element in elements for text in element[1:3] if text is not None}
        known = self._entities.label_ids(texts)
        ids: dict[str | None, int | None] = {None: None, **{text: known[text] for text in texts}}
        return lambda element: (element[0], ids[element[1]], ids[element[2]], *element[3:])


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch or overlap become one; empty ones go."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _edges_of(table: Table, group: Group) -> ColumnElement[bool]:
    same_job = table.c.job_id.is_(None) if group.job_id is None else table.c.job_id == group.job_id
    return and_(same_job, table.c.downstream_id == group.dataset_id, table.c.origin == group.origin)


def _element(kind: _Kind, row: object) -> Element:
    return tuple(getattr(row, column) for column in kind.columns)


def _in_order(span: tuple[Element, int, int]) -> tuple[list[tuple[bool, object]], int, int]:
    element, start, end = span
    return [(value is not None, value) for value in element], start, end


def _nearest(*which: ColumnElement[bool], latest: bool = True) -> Select[*tuple[object, ...]]:
    """The last of them in time, or the first."""
    order = (version.c.written_at, version.c.tiebreak)
    query = select(*(version.c[name] for name in Newest._fields)).where(*which)
    return query.order_by(*(column.desc() for column in order) if latest else order).limit(1)


def _of_group(jobless: bool) -> tuple[ColumnElement[bool], ...]:
    """NULL is found by IS NULL alone."""
    return (
        version.c.job_id.is_(None) if jobless else version.c.job_id == bindparam("job"),
        version.c.dataset_id == bindparam("dataset"),
        version.c.origin == bindparam("origin"),
    )


def _sides(jobless: bool, whole: bool) -> tuple[Prepared, Prepared]:
    same = version.c.partition_id.is_(None) if whole else version.c.partition_id == bindparam("partition")
    slot = (*_of_group(jobless), same)
    at: BindParameter[int] = bindparam("at")
    tiebreak: BindParameter[bytes] = bindparam("tiebreak")
    written_at = version.c.written_at
    # The first condition says nothing that the second does not, but it is the one that an index helps with.
    before = (written_at <= at, or_(written_at < at, version.c.tiebreak < tiebreak))
    after = (written_at >= at, or_(written_at > at, version.c.tiebreak > tiebreak))
    return Prepared(_nearest(*slot, *before)), Prepared(_nearest(*slot, *after, latest=False))


_EITHER = (False, True)
_NEWEST = {jobless: Prepared(_nearest(*_of_group(jobless))) for jobless in _EITHER}
_NEIGHBOURS = {(jobless, whole): _sides(jobless, whole) for jobless in _EITHER for whole in _EITHER}
