"""The datasets there are, and all that is known of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from sqlalchemy import func, select

from headwater.formats.openlineage.describe import schema_fields
from headwater.formats.openlineage.visibility import visible_facets
from headwater.model.answers import DatasetDetail, DatasetSummary, Field, Version
from headwater.model.lineage import Origin
from headwater.model.names import Dataset, Job
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.lookup import is_known, latest_partitions
from headwater.store.schema.stored_rows import StoredDataset
from headwater.store.schema.tables import from_end, from_micros

_VERSIONS_SHOWN = 100
_PARTITIONS_SHOWN = 1000


def list_datasets(
    view: View,
    *,
    search: str | None = None,
    namespace: str | None = None,
    kind: str | None = None,
    owner: str | None = None,
    tag: str | None = None,
    limit: int = 100,
    after: Position | None = None,
) -> list[DatasetSummary]:
    """By name, ``after`` a name. ``search`` is a piece of a name or of an alias, upper or lower case."""
    dataset = view.tables.dataset
    names = dataset.alias()
    query = select(dataset).where(dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(view.tables))
    if search:
        # The database folds both sides: each has its own idea of upper and lower case.
        piece = func.lower(f"%{_escaped(search)}%")
        label_of = names.c.namespace + "/" + names.c.name
        matching = select(names.c.canonical_id).where(func.lower(label_of).like(piece, escape="\\"))
        query = query.where(dataset.c.id.in_(matching))
    for column, value in (("namespace", namespace), ("kind", kind), ("owner", owner)):
        if value is not None:
            query = query.where(dataset.c[column] == value)
    if after is not None:
        query = query.where(beyond(after, dataset.c.namespace, dataset.c.name))
    query = query.order_by(dataset.c.namespace, dataset.c.name)
    # Tags are a JSON list, so with one the limit can only be counted while reading.
    rows = view.execute(query if tag is not None else query.limit(limit))
    found = list(islice((row for row in rows if tag is None or tag in row.tags), limit))
    others = other_names(view, [row.id for row in found])
    return [_summary(view, row, others.get(row.id, [])) for row in found]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def describe_dataset(view: View, row: StoredDataset) -> DatasetDetail:
    others = other_names(view, [row.id]).get(row.id, [])
    facets = merged_facets(one.facets for one in [row, *others])
    if not view.is_everything:
        facets = visible_facets(facets, view.sees)
    return DatasetDetail(
        summary=_summary(view, row, others),
        schema=schema_fields_of(schema_fields(facets)),
        facets=facets,
        versions=_versions(view, row.id),
        partitions=tuple(sorted(latest_partitions(view, row.id, _PARTITIONS_SHOWN))),
    )


def current_columns(view: View, row: StoredDataset) -> list[str]:
    """The columns of its schema, nested ones too, by their dotted path."""
    names = [row, *other_names(view, [row.id]).get(row.id, [])]
    facets = merged_facets(one.facets for one in names)
    return list(column_paths(schema_fields(facets), ""))


def column_paths(fields: object, prefix: str) -> Iterator[str]:
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, Mapping) and isinstance(field.get("name"), str):
            yield prefix + field["name"]
            yield from column_paths(field.get("fields"), f"{prefix}{field['name']}.")


def owners(view: View, ids: Collection[int]) -> dict[int, str]:
    """Who owns each of these datasets, if anybody does."""
    dataset = view.tables.dataset
    listed = view.id_table("ids")
    query = select(dataset.c.id, dataset.c.owner).join(listed, listed.c.id == dataset.c.id)
    rows = view.execute(query.where(dataset.c.owner.is_not(None)), {"ids": view.id_list(ids)})
    return {row.id: row.owner for row in rows}


def other_names(view: View, ids: Collection[int]) -> dict[int, list[StoredDataset]]:
    """Rows of the other names of these datasets, hidden names among them: what was stated under any of them counts."""
    dataset = view.tables.dataset_name
    listed = view.id_table("ids")
    query = (
        select(dataset)
        .join(listed, listed.c.id == dataset.c.canonical_id)
        .where(dataset.c.canonical_id != dataset.c.id)
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    others: dict[int, list[StoredDataset]] = defaultdict(list)
    for row in view.execute(query, {"ids": view.id_list(ids)}):
        others[row.canonical_id].append(row)
    return others


def _summary(view: View, row: StoredDataset, others: list[StoredDataset]) -> DatasetSummary:
    """What is stated of it counts under whatever name; of the names only visible ones are shown."""
    said = [row, *others]
    return DatasetSummary(
        dataset=Dataset(row.namespace, row.name),
        kind=row.kind,
        owner=row.owner,
        tags=tuple(row.tags),
        aliases=tuple(Dataset(other.namespace, other.name) for other in others if view.sees(other.namespace)),
        first_seen=min((from_micros(at) for r in said if (at := r.first_seen) is not None), default=None),
        last_seen=max((from_micros(at) for r in said if (at := r.last_seen) is not None), default=None),
    )


def _versions(view: View, dataset_id: int) -> tuple[Version, ...]:
    job, run, version, label, content = (
        view.tables.job,
        view.tables.run,
        view.tables.version,
        view.tables.label,
        view.tables.content,
    )
    query = (
        select(
            version,
            label.c.text.label("partition"),
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
            run.c.run_id.label("run_name"),
            content.c.body.label("schema"),
        )
        .outerjoin(label, label.c.id == version.c.partition_id)
        .outerjoin(job, job.c.id == version.c.job_id)
        .outerjoin(run, run.c.id == version.c.run_id)
        .outerjoin(content, content.c.digest == version.c.schema_digest)
        .where(version.c.dataset_id == dataset_id)
        .order_by(version.c.written_at.desc(), version.c.tiebreak.desc(), label.c.text, version.c.id)
        .limit(_VERSIONS_SHOWN)
    )
    return tuple(
        Version(
            written_at=from_micros(row.written_at),
            valid_to=from_end(row.valid_to),
            partition=row.partition,
            label=row.label,
            origin=Origin(row.origin),
            job=Job(row.job_namespace, row.job_name) if row.job_name is not None else None,
            run_id=row.run_name,
            schema=schema_fields_of(row.schema) if row.schema is not None else None,
        )
        for row in view.execute(query)
    )


def schema_fields_of(fields: Sequence[Mapping[str, object]]) -> tuple[Field, ...]:
    return tuple(Field(str(f["name"]), _text(f.get("type")), _text(f.get("description"))) for f in fields)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
