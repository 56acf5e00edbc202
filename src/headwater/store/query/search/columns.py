"""Finding columns by what is remembered of their names, in the schemas of the datasets there are.

A schema is a facet, and facets are text: the database looks for the datasets whose facets hold the word anywhere, and
only those are read. That is a look at each dataset, not at each column. A near miss is looked for, if nothing else was
found, among the names that column edges have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from rapidfuzz import fuzz, process
from sqlalchemy import ColumnElement, Text, case, or_, select, type_coerce

from headwater.formats.openlineage.describe import schema_fields
from headwater.formats.openlineage.visibility import visible_facets
from headwater.model.names import Dataset
from headwater.model.pages import Hit, Match
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.catalog import column_paths, other_names
from headwater.store.query.lookup import is_known
from headwater.store.query.search.matching import escaped, like, match_in

_MOST_DATASETS = 300
_MOST_ALIKE = 20
_ALIKE = 70.0
_PLAIN = re.compile(r"[A-Za-z0-9_ :+-]+")
"""What stands in JSON as it is. A dot may be where one column is part of another."""


def find_columns(view: View, wanted: str) -> list[Hit]:
    found = [
        Hit(owner, "column", match, 100.0, column=column)
        for owner, column in _columns(view, [wanted])
        if (match := match_in(column, column, wanted)) is not None
    ]
    return found or list(_alike(view, wanted))


def _alike(view: View, wanted: str) -> Iterator[Hit]:
    label = view.tables.label
    names = list(view.scalars(select(label.c.text)))
    lower = [name.lower() for name in names]
    matches = process.extract(wanted.lower(), lower, scorer=fuzz.WRatio, limit=_MOST_ALIKE, score_cutoff=_ALIKE)
    near = {lower[place]: round(float(score), 2) for _, score, place in matches}
    for owner, column in _columns(view, list(near)) if near else ():
        if column.lower() in near:
            yield Hit(owner, "column", Match.FUZZY, near[column.lower()], column=column)


def _columns(view: View, words: Collection[str]) -> Iterator[tuple[Dataset, str]]:
    """The columns, nested ones too by their dotted path, of the datasets whose schema may hold one of the words."""
    dataset = view.tables.dataset
    listed = view.id_table("ids")
    query = (
        select(dataset)
        .join(listed, listed.c.id == dataset.c.id)
        .where(dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(view.tables))
    )
    ids = _holding(view, words)
    others = other_names(view, ids)
    for row in view.execute(query, {"ids": view.id_list(ids)}):
        stated = (one.facets for one in (row, *others.get(row.id, [])))
        facets = merged_facets({"schema": facets["schema"]} for facets in stated if "schema" in facets)
        fields = schema_fields(facets if view.is_everything else visible_facets(facets, view.sees))
        for column in dict.fromkeys(column_paths(fields, "")):
            yield Dataset(row.namespace, row.name), column


def _holding(view: View, words: Collection[str]) -> list[int]:
    """The datasets whose facets hold one of the words; should there be very many, those with a column of that name
    first, and then those with one that begins so."""
    dataset = view.tables.dataset
    facets = type_coerce(dataset.c.facets, Text)
    names = [f'%"name":"{escaped(json.dumps(word)[1:-1])}' for word in words]
    exact = or_(*(like(view, facets, f'{name}"%') for name in names))
    begun = or_(*(like(view, facets, f"{name}%") for name in names))
    query = (
        select(dataset.c.canonical_id)
        .where(dataset.c.is_job == 0, or_(*(_may_hold(view, facets, word) for word in words)))
        .order_by(case((exact, 0), (begun, 1), else_=2), dataset.c.namespace, dataset.c.name)
        .limit(_MOST_DATASETS)
    )
    return list(dict.fromkeys(view.scalars(query)))


def _may_hold(view: View, facets: ColumnElement[str], word: str) -> ColumnElement[bool]:
    """By its longest piece that stands in JSON as it is: what is no ASCII is escaped there, upper and lower case
    each in its own way."""
    piece = max(_PLAIN.findall(word), key=len, default="")
    return like(view, facets, f"%{escaped(piece)}%")
