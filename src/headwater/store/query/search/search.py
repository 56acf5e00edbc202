"""Search for datasets, jobs, columns and runs by approximate names, best match first.

The database searches for a part of the name. Only if that finds too few are all names compared for similarity.
"""

from __future__ import annotations

from collections.abc import Iterator

from rapidfuzz import fuzz, process
from sqlalchemy import Select, func, select

from headwater.model.names import Dataset, Job
from headwater.model.pages import Hit, Match
from headwater.store.access.view import View, VisibleTables
from headwater.store.query.lookup import is_known
from headwater.store.query.search.columns import find_columns
from headwater.store.query.search.matching import escaped, match_in
from headwater.store.query.search.runs import find_runs

_MOST_PIECES = 2_000
_ALIKE = 70.0
ANY = "any"
_ORDER = {match: place for place, match in enumerate(Match)}
Named = tuple[str, str, str]
"""Type, namespace, name."""


def find(view: View, text: str, *, kind: str | None = None, limit: int = 100) -> list[Hit]:
    """``text`` is a name, a prefix or a part of it, possibly misspelled; case is ignored.

    ``kind``: `dataset`, `job`, `column`, `run` or `any` of these; by default datasets and jobs.
    """
    wanted = text.strip()
    if not wanted:
        return []
    hits = _find_named(view, wanted, kind, limit) if kind in (None, ANY, "dataset", "job") else []
    if kind in (ANY, "column"):
        hits += find_columns(view, wanted)
    if kind in (ANY, "run"):
        hits += find_runs(view, wanted)
    return sorted(hits, key=rank)[:limit]


def _find_named(view: View, wanted: str, kind: str | None, limit: int) -> list[Hit]:
    pieces = [_hit(named, wanted) for named in _named(view, kind, wanted)]
    if len(pieces) >= limit:
        return pieces
    known = {(hit.type, hit.endpoint) for hit in pieces}
    return pieces + [hit for hit in _alike(view, wanted, kind) if (hit.type, hit.endpoint) not in known]


Rank = tuple[int, float, int, str, str, str, str]
RANK = (int, float, int, str, str, str, str)


def rank(hit: Hit) -> Rank:
    """How the hits are ordered: by the kind of match, then the short names first; a column's or a run's is its own."""
    endpoint = hit.endpoint
    name = next((own for own in (hit.column, hit.run_id) if own is not None), endpoint.name)
    return _ORDER[hit.match], -hit.score, len(name), name, endpoint.namespace, hit.type, endpoint.name


def match_of(namespace: str, name: str, wanted: str) -> Match | None:
    """How a name matches as text; None where it does not."""
    return match_in(name, f"{namespace}/{name}", wanted)


def _hit(named: Named, wanted: str) -> Hit:
    kind, namespace, name = named
    # The database may fold a letter that Python does not: what it has found is a piece at least.
    match = match_of(namespace, name, wanted) or Match.PIECE
    return Hit(_endpoint(named), kind, match, 100.0)


def _alike(view: View, wanted: str, kind: str | None) -> Iterator[Hit]:
    every = list(_named(view, kind, None))
    names = [name.lower() for _, _, name in every]
    matches = process.extract(wanted.lower(), names, scorer=fuzz.WRatio, limit=_MOST_PIECES, score_cutoff=_ALIKE)
    for _, score, place in matches:
        yield Hit(_endpoint(every[place]), every[place][0], Match.FUZZY, round(float(score), 2))


def _endpoint(named: Named) -> Dataset | Job:
    kind, namespace, name = named
    return Job(namespace, name) if kind == "job" else Dataset(namespace, name)


def _named(view: View, kind: str | None, wanted: str | None) -> Iterator[Named]:
    dataset, job = view.tables.dataset, view.tables.job
    for one, query in _queries(view.tables).items():
        if kind not in (None, ANY, one):
            continue
        table = dataset if one == "dataset" else job
        if wanted is not None:
            label = table.c.namespace + "/" + table.c.name
            # The closest first, should there be more than are looked at.
            query = (  # noqa: PLW2901 (the same query, for fewer names)
                query.where(func.lower(label).like(func.lower(f"%{escaped(wanted)}%"), escape="\\"))
                .order_by(func.length(table.c.name), table.c.name, table.c.namespace)
                .limit(_MOST_PIECES)
            )
        for row in view.execute(query):
            yield one, row.namespace, row.name


def _queries(tables: VisibleTables) -> dict[str, Select[tuple[str, str]]]:
    dataset, job = tables.dataset, tables.job
    datasets = select(dataset.c.namespace, dataset.c.name).where(
        dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(tables)
    )
    jobs = select(job.c.namespace, job.c.name)
    return {"dataset": datasets, "job": jobs}
