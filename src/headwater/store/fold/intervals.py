"""From versions to edges that carry the time they held.

An edge of a :class:`Group` holds while any valid version of the group says so. In the ordinary case, a new version
that is the newest of its group, only what it changes is touched, and nothing at all where it repeats the one before;
that holds for one that arrives late, too, and senders with several connections have many of these. If a late one
differs, or one is removed, only the time in which it was valid is folded again, however long the history of the group
is. If several are removed, the whole group is folded again. All orders lead to the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Protocol

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

from headwater.model.lineage import Dependency
from headwater.store.engine.prepared import Prepared, together
from headwater.store.fold.entities import Entities
from headwater.store.fold.rows import Group, Newest
from headwater.store.fold.versions import VersionWriter
from headwater.store.fold.writes import Draft, in_group
from headwater.store.schema.stored_rows import PlainRow, StoredVersion
from headwater.store.schema.tables import OPEN, column_edge, content, edge, version

Element = PlainRow
"""One thing a version says: an upstream with its type, or one column edge."""


Time = tuple[int, int]
"""From when, and to when."""

Span = tuple[Element, int, int]
"""An element, with the time in which it held."""


class Digests(Protocol):
    """Of what a version says."""

    @property
    def upstream_digest(self) -> bytes: ...
    @property
    def column_digest(self) -> bytes: ...


class _Kind:
    """A table of intervals: which part of a version it sums up, and how an element is laid out in its columns.

    One event may have a hundred thousand elements, which all other writers wait for: rows are plain tuples here.
    """

    def __init__(self, table: Table, digest: str, columns: tuple[str, ...], *, labelled: bool) -> None:
        """``labelled``: the second and third are column names, which the table holds as label ids."""
        self.digest_of: Callable[[Digests], bytes] = attrgetter(digest)
        self.labelled = labelled
        row = table.c.id == bindparam("row")
        self._insert = Prepared(insert(table))
        self._inserted = [column.name for column in table.c if column.name != "id"]
        self.delete = Prepared(delete(table).where(row))
        self.end = Prepared(update(table).where(row).values(valid_to=bindparam("at")))
        stored = select(*(table.c[name] for name in ("id", "valid_from", "valid_to", *columns)))
        near = and_(table.c.valid_from <= bindparam("end"), table.c.valid_to >= bindparam("start"))
        self._all, self._near = (
            {jobless: Prepared(stored.where(*_edges_of(table, jobless), *which)) for jobless in _EITHER}
            for which in ((), (near,))
        )

    def insert(self, conn: Connection, group: Group, spans: Iterable[Span]) -> None:
        """Of equally new edges the last one stored is listed first: the order must not depend on that of a set."""
        # Plain strings: a driver adapts those of an enum one by one.
        job_id, origin, target = group.job_id, str(group.origin), group.dataset_id
        if self.labelled:
            rows: list[PlainRow] = [
                (job_id, origin, up, source, target, column, _PLAIN[how], subtype, masking, logic, start, end)
                for (up, source, column, how, subtype, masking, logic), start, end in spans
            ]
        else:
            rows = [
                (job_id, origin, up, target, str(basis), str(kind), transformation, start, end)
                for (up, basis, kind, transformation), start, end in spans
            ]
        if rows:
            self._insert.insert(conn, self._inserted, rows)

    def stored(self, conn: Connection, group: Group, window: Time | None = None) -> Iterator[tuple[int, Span]]:
        """The rows of a group by their ids; with ``window`` those that overlap or touch it."""
        if window is None:
            return _rows(conn, self._all, group)
        return _rows(conn, self._near, group, start=window[0], end=window[1])


def _rows(conn: Connection, queries: Mapping[bool, Prepared], group: Group, **times: int) -> Iterator[tuple[int, Span]]:
    parameters: dict[str, int | str] = {"dataset": group.dataset_id, "origin": group.origin, **times}
    if group.job_id is not None:
        parameters["job"] = group.job_id
    for row in queries[group.job_id is None].rows(conn, parameters):
        yield row[0], (row[3:], row[1], row[2])


def _edges_of(table: Table, jobless: bool) -> tuple[ColumnElement[bool], ...]:
    """NULL is found by IS NULL alone."""
    return (
        table.c.job_id.is_(None) if jobless else table.c.job_id == bindparam("job"),
        table.c.downstream_id == bindparam("dataset"),
        table.c.origin == bindparam("origin"),
    )


_EITHER = (False, True)
_PLAIN = {dependency: dependency.value for dependency in Dependency}


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
            before, _ = self._neighbours(draft.group, draft.partition_id, draft.writer.stamp)
        self._memory.newest[draft.group] = self._write(draft, (newest, before))
        if before is not None:
            self._versions.end(before.id, draft.writer.written_at)
        if newest is None:
            self._begin(draft)
        elif not draft.repeats(newest if before is None else before):
            self._change(draft.group, (draft.writer.written_at, OPEN), before, draft)

    def _add_late(self, draft: Draft) -> None:
        before, after = self._neighbours(draft.group, draft.partition_id, draft.writer.stamp)
        end = OPEN if after is None else after.written_at
        self._write(draft, (before, after), end)
        if before is not None:
            self._versions.end(before.id, draft.writer.written_at)
        if before is None or not draft.repeats(before):
            self._change(draft.group, (draft.writer.written_at, end), before, draft)

    def remove(self, group: Group, gone: Sequence[StoredVersion]) -> None:
        """Bring the group's edges up to date after some of its versions were removed."""
        if len(gone) > 1:
            self.refold(group)
            return
        self._memory.newest.pop(group, None)
        for row in gone:
            before, _ = self._neighbours(group, row.partition_id, (row.written_at, row.tiebreak))
            if before is not None:
                self._versions.end(before.id, row.valid_to)
            self._change(group, (row.written_at, row.valid_to), row, before)

    def _write(self, draft: Draft, near: Iterable[Newest | None], valid_to: int = OPEN) -> Newest:
        self._entities.new_datasets.discard(draft.group.dataset_id)
        known = {digest for row in near if row is not None for digest in row[-3:]}
        return self._versions.add(self._entities.standing.next(version), draft, known, valid_to)

    def _newest(self, group: Group) -> Newest | None:
        if group not in self._memory.newest:
            parameters = {"dataset": group.dataset_id, "origin": group.origin}
            if group.job_id is not None:
                parameters["job"] = group.job_id
            is_new = group.dataset_id in self._entities.new_datasets
            rows = [] if is_new else _NEWEST[group.job_id is None].rows(self._conn, parameters)
            self._memory.newest[group] = Newest(*rows[0]) if rows else None
        return self._memory.newest[group]

    def _neighbours(self, group: Group, partition_id: int | None, stamp: tuple[int, bytes]) -> list[Newest | None]:
        """The versions of a partition before and after a stamp."""
        at, tiebreak = stamp
        parameters = {"dataset": group.dataset_id, "origin": group.origin, "job": group.job_id}
        parameters |= {"partition": partition_id, "at": at, "tiebreak": tiebreak}
        given = {name: value for name, value in parameters.items() if value is not None}
        questions = [(side, given) for side in _NEIGHBOURS[group.job_id is None, partition_id is None]]
        return [Newest(*rows[0]) if rows else None for rows in together(self._conn, questions)]

    def _begin(self, draft: Draft) -> None:
        """The first version of its group: there is nothing that it could change."""
        # Each once, in the order of the content, which depends on the statements alone.
        statements: tuple[Collection[Element], ...] = (dict.fromkeys(map(tuple, draft.upstreams)), draft.columns.rows)
        for kind, said in zip(_KINDS, statements, strict=True):
            elements = self._labelled(kind, said)
            kind.insert(self._conn, draft.group, zip(elements, repeat(draft.writer.written_at), repeat(OPEN)))

    # -- in some time, another version is valid ----------------------------------------------------

    def _change(self, group: Group, window: Time, before: Digests | None, after: Digests | None) -> None:
        """Within ``window``, ``after`` is valid where ``before`` was. What both say holds as it did."""
        start, end = window
        if start >= end:
            return
        valid = self._conn.execute(
            select(version.c.upstream_digest, version.c.column_digest, version.c.written_at, version.c.valid_to).where(
                in_group(group), version.c.written_at < end, version.c.valid_to > start
            )
        ).all()
        for kind in _KINDS:
            said, says = (None if one is None else kind.digest_of(one) for one in (before, after))
            if said == says:
                continue
            times: dict[bytes, list[Time]] = {}
            for row in valid:
                clipped = max(row.written_at, start), min(row.valid_to, end)
                times.setdefault(kind.digest_of(row), []).append(clipped)
            bodies = self._contents({digest for digest in (said, says, *times) if digest is not None})
            differing = _differing(*(() if digest is None else bodies[digest] for digest in (said, says)))
            spans = _spans({digest: filter(differing.__contains__, bodies[digest]) for digest in times}, times)
            self._replace_within(kind, group, window, {element: spans.get(element, ()) for element in differing})

    def _replace_within(self, kind: _Kind, group: Group, window: Time, spans: Mapping[Element, Sequence[Time]]) -> None:
        """Within ``window``, each element holds as ``spans`` has it; before and after it as it did."""
        start, end = window
        elements = dict(zip(self._labelled(kind, spans.keys()), spans.values(), strict=True))
        held: dict[Element, dict[Time, int]] = {}
        for row_id, (element, since, until) in kind.stored(self._conn, group, window):
            if element in elements:
                held.setdefault(element, {})[since, until] = row_id
        stale, ended, new = list[int](), list[tuple[int, int]](), list[Span]()
        for element, inside in elements.items():
            rows = held.get(element)
            if rows is None:
                new += [(element, *time) for time in inside]
                continue
            outside = [piece for row in rows for piece in ((row[0], min(row[1], start)), (max(row[0], end), row[1]))]
            wanted = joined([*outside, *inside])
            beginning = {time[0]: row_id for time, row_id in rows.items() if time not in wanted}
            for time in wanted:
                if time[0] in beginning:
                    ended.append((beginning.pop(time[0]), time[1]))
                elif time not in rows:
                    new.append((element, *time))
            stale += beginning.values()
        self._write_rows(kind, group, stale, ended, new)

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
            times: dict[bytes, list[Time]] = {}
            for row in versions:
                times.setdefault(kind.digest_of(row), []).append((row.written_at, ends[row.id]))
            spans = _spans({digest: bodies[digest] for digest in times}, times)
            elements = zip(self._labelled(kind, spans.keys()), spans.values(), strict=True)
            wanted = {(element, start, end) for element, pieces in elements for start, end in joined(pieces)}
            held = {span: row_id for row_id, span in kind.stored(self._conn, group)}
            stale = [row_id for span, row_id in held.items() if span not in wanted]
            self._write_rows(kind, group, stale, (), sorted(wanted - held.keys(), key=_in_order))

    # -- rows and elements ------------------------------------------------------------------------

    def _write_rows(
        self, kind: _Kind, group: Group, stale: Collection[int], ended: Collection[tuple[int, int]], new: Iterable[Span]
    ) -> None:
        if stale:
            kind.delete.run(self._conn, [{"row": row_id} for row_id in stale])
        if ended:
            kind.end.run(self._conn, [{"row": row_id, "at": at} for row_id, at in ended])
        kind.insert(self._conn, group, new)

    def _contents(self, digests: Collection[bytes]) -> dict[bytes, list[Element]]:
        found: dict[bytes, list[Element]] = {}
        wanted = list(digests)
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            for row in self._conn.execute(select(content).where(content.c.digest.in_(chunk))):
                found[row.digest] = [tuple(element) for element in row.body]
        return found

    def _labelled(self, kind: _Kind, elements: Collection[Element]) -> list[Element]:
        """With the ids of labels for names of columns."""
        if not kind.labelled:
            return list(elements)
        texts = {element[1] for element in elements} | {element[2] for element in elements}
        texts.discard(None)
        known = self._entities.label_ids(texts)
        ids: dict[str | None, int | None] = {None: None, **{text: known[text] for text in texts}}
        return [
            (up, ids[source], ids[column], how, subtype, masking, logic)
            for up, source, column, how, subtype, masking, logic in elements
        ]


def _differing(before: Collection[Element], after: Collection[Element]) -> dict[Element, None]:
    """The elements of one content that the other lacks, in an order that depends on the statements alone."""
    gone, new = dict.fromkeys(before), dict.fromkeys(after)
    return dict.fromkeys([*(one for one in gone if one not in new), *(one for one in new if one not in gone)])


def _spans(
    bodies: Mapping[bytes, Iterable[Element]], times: Mapping[bytes, Iterable[Time]]
) -> dict[Element, list[Time]]:
    """When each element was said, by the times of the contents that say it: most versions have one of few contents."""
    spans: dict[Element, list[Time]] = {}
    for digest, elements in bodies.items():
        pieces = joined(times[digest])
        for element in elements:
            spans.setdefault(element, []).extend(pieces)
    return spans


def joined(spans: Iterable[Time]) -> list[Time]:
    """Spans that touch or overlap become one; empty ones go."""
    merged: list[Time] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _in_order(span: Span) -> tuple[list[tuple[bool, object]], int, int]:
    element, start, end = span
    return [(value is not None, value) for value in element], start, end


def _nearest(*which: ColumnElement[bool], latest: bool = True) -> Select[*tuple[object, ...]]:
    """The last of them in time, or the first."""
    order = (version.c.written_at, version.c.tiebreak)
    query = select(*(version.c[name] for name in Newest._fields)).where(*which)
    return query.order_by(*(column.desc() for column in order) if latest else order).limit(1)


def _of_group(jobless: bool) -> tuple[ColumnElement[bool], ...]:
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


_NEWEST = {jobless: Prepared(_nearest(*_of_group(jobless))) for jobless in _EITHER}
_NEIGHBOURS = {(jobless, whole): _sides(jobless, whole) for jobless in _EITHER for whole in _EITHER}
