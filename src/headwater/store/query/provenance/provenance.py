"""Who created, modified, accessed or deleted a dataset: read off the runs that used it, and off what was stated.

Nothing is stored for it a second time. A run that read a dataset accessed it, however it ended; one that completed and
wrote it created it, if no earlier write is known, or modified it; unless it says itself what it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headwater.errors import QueryError
from headwater.formats.provenance import agent_from, context_from, operation_from, write_provenance
from headwater.formats.wia.ids import StableIds
from headwater.model.names import Dataset, Job
from headwater.model.provenance import Agent, Operation, Provenance, ProvenanceEvent
from headwater.store.access.view import View
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.provenance.stated import PositionedProvenance, default_operation, stated_provenance
from headwater.store.query.provenance.uses import (
    Name,
    RunWords,
    UseOfDataset,
    first_writes,
    latest_uses,
    names_of,
    select_uses,
    used_at,
    words_of,
)
from headwater.store.schema.stored_rows import StoredDataset, StoredName
from headwater.store.schema.tables import from_micros

KINDS = (int, str, str)
"""Of a position: the moment, what tells things of one moment apart, and the direction."""
_AT_ONCE = 500
_RANKS = {"output": 0, "input": 1, "stated": 2}  # the newest first, and a run writes after it has read


def list_provenance(
    view: View,
    owner: StoredDataset,
    *,
    event: ProvenanceEvent | None = None,
    since: int | None = None,
    until: int | None = None,
    after: Position | None = None,
    limit: int = 100,
) -> list[PositionedProvenance]:
    """The newest first, ``after`` a position; of one dataset, under whatever names it was used."""
    if limit == 0:
        return []
    mint = StableIds(view.exchange_secret())
    said = stated_provenance(view, [owner], mint)[owner.id]
    found = [one for one in said if _within(one, event, since, until, after)]
    of_runs = 0
    for one in _of_runs(view, owner, said, mint, event, since, until, after, limit):
        if event is None or one.provenance.event is event:
            found.append(one)
            of_runs += 1
            if of_runs == limit:
                break
    return sorted(found, key=lambda one: _order(one.position))[:limit]


def _within(
    one: PositionedProvenance,
    event: ProvenanceEvent | None,
    since: int | None,
    until: int | None,
    after: Position | None,
) -> bool:
    known = one.provenance.at is not None
    return (
        (event is None or one.provenance.event is event)
        and (since is None or (known and one.position[0] >= since))
        and (until is None or (known and one.position[0] < until))
        and (after is None or _order(one.position) > _order(after))
    )


def _order(position: Position) -> tuple[int, str, int]:
    moment, key, direction = position
    return -moment, key, _RANKS.get(direction, len(_RANKS))


def _of_runs(
    view: View,
    owner: StoredDataset,
    said: Sequence[PositionedProvenance],
    mint: StableIds,
    event: ProvenanceEvent | None,
    since: int | None,
    until: int | None,
    after: Position | None,
    limit: int,
) -> Iterator[PositionedProvenance]:
    """What a write was is in its events, so writes are looked through in portions until enough of them fit."""
    run = view.tables.run
    query, uses = select_uses(view, [owner.id])
    at = used_at(run)
    order = (at.desc(), run.c.key, uses.c.direction.desc())
    query = query.order_by(*order)
    if event is not None:
        query = query.where(uses.c.direction == ("input" if event is ProvenanceEvent.ACCESSED else "output"))
    if since is not None:
        query = query.where(at >= since)
    if until is not None:
        query = query.where(at < until)
    names = names_of(view, [owner.id])
    firsts = _first_runs(view, {owner.id: said})
    at_once = limit if event in (None, ProvenanceEvent.ACCESSED) else max(limit, _AT_ONCE)
    while True:
        portion = query if after is None else query.where(beyond(_in_columns(after), *order))
        rows = view.execute(portion.limit(at_once)).all()
        yield from _derived(view, rows, {owner.id: Dataset(owner.namespace, owner.name)}, names, firsts, mint)
        if len(rows) < at_once:
            return
        after = _position(rows[-1])


def _in_columns(position: Position) -> Position:
    moment, key, direction = position
    try:
        return moment, bytes.fromhex(key), direction
    except ValueError:
        raise QueryError("This cursor is not one that this list has given.") from None


def _position(row: UseOfDataset) -> tuple[int, str, str]:
    return row.at, bytes(row.key).hex(), row.direction


def _first_runs(view: View, said: Mapping[int, Sequence[PositionedProvenance]]) -> dict[int, int]:
    """By dataset: the run that wrote it first, unless an earlier write is stated."""
    firsts = first_writes(view, said.keys())
    return {owner: row.id for owner, row in firsts.items() if not any(_wrote_by(one, row.at) for one in said[owner])}


def _wrote_by(one: PositionedProvenance, moment: int) -> bool:
    told = one.provenance
    writes = told.event is not None and told.event is not ProvenanceEvent.ACCESSED
    return writes and told.at is not None and one.position[0] <= moment


def _derived(
    view: View,
    rows: Sequence[UseOfDataset],
    named: Mapping[int, Dataset],
    names: Mapping[int, set[Name]],
    firsts: Mapping[int, int],
    mint: StableIds,
) -> Iterator[PositionedProvenance]:
    words = words_of(view, sorted({row.id for row in rows}))
    for row in rows:
        own = words.get(row.id) or RunWords()
        change = own.change(names[row.owner_id]) if row.direction == "output" else None
        kind = ProvenanceEvent.ACCESSED
        if row.direction == "output":
            kind = write_provenance(change, first=firsts.get(row.owner_id) == row.id)
        of = named[row.owner_id]
        provenance = Provenance(
            provenance_id=mint.id("provenance", of.namespace, of.name, row.run_id, row.direction),
            dataset=of,
            event=kind,
            at=from_micros(row.at),
            agent=_agent(own, row),
            operation=_operation(own, kind, change, had_inputs=bool(row.had_inputs)),
            context=context_from(own.document),
            stated=False,
            job=Job(row.namespace, row.name),
            run_id=row.run_id,
        )
        yield PositionedProvenance(_position(row), provenance)


def _agent(own: RunWords, row: UseOfDataset) -> Agent:
    if "agent" in own.document:
        return agent_from(own.document)
    return Agent("job", f"{row.namespace}/{row.name}", row.name)


def _operation(own: RunWords, kind: ProvenanceEvent, change: str | None, *, had_inputs: bool) -> Operation:
    """What a run says of its operation holds for all it did; what is not said follows from what it used."""
    told = operation_from(own.document)
    derived = default_operation(kind)
    if had_inputs and kind in (ProvenanceEvent.CREATED, ProvenanceEvent.MODIFIED):
        derived = "transform"
    return Operation(told.type or derived, told.method or change, told.parameters)


# -- for an export --------------------------------------------------------------------------------


def exported(
    view: View, owners: Sequence[StoredName], mint: StableIds, as_of: int | None
) -> Iterator[tuple[int, Provenance]]:
    """By dataset: what was stated here; of each job the newest read and the newest write; and the first write.

    All of it would be as long as the list of runs; what imports brought is exported as it came.
    """
    named = {row.id: Dataset(row.namespace, row.name) for row in owners}
    said = stated_provenance(view, owners, mint)
    for owner, each in said.items():
        for one in each:
            if one.document is None and (as_of is None or one.position[0] <= as_of):
                yield owner, one.provenance
    rows = latest_uses(view, list(named), as_of)
    names, firsts = names_of(view, list(named)), _first_runs(view, said)
    derived = _derived(view, rows, named, names, firsts, mint)
    for row, one in zip(rows, derived, strict=True):
        yield row.owner_id, one.provenance
