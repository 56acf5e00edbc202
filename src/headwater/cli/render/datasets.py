"""The list of datasets, and one dataset whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import at_limit, data, join, note, properties, section
from headwater.cli.text import count_of, moment
from headwater.model.answers import DatasetDetail, DatasetSummary, Version
from headwater.model.lineage import Origin

_MAX_PARTITIONS = 20
_MAX_VERSIONS = 10


def dataset_list(summaries: Sequence[DatasetSummary], limit: int, filtered: bool) -> RenderableType:
    if not summaries:
        return Text("No matching datasets." if filtered else "The store holds no datasets yet.")
    rows = ResponsiveTable("Dataset", "Kind", "Owner", "Tags", "Last seen (UTC)")
    for summary in summaries:
        name = data(summary.dataset, "cyan")
        for alias in summary.aliases:
            name += Text("\n= ", style="dim") + data(alias, "dim")
        owner = data(summary.owner or "")
        rows.add(name, data(summary.kind), owner, join(map(data, summary.tags)), Text(moment(summary.last_seen)))
    return Group(rows, *at_limit(summaries, limit))


def dataset_detail(detail: DatasetDetail) -> RenderableType:
    summary = detail.summary
    parts: list[RenderableType] = [
        data(summary.dataset, "bold"),
        properties(
            [
                ("kind", data(summary.kind)),
                ("owner", data(summary.owner) if summary.owner is not None else None),
                ("tags", join(map(data, summary.tags)) if summary.tags else None),
                ("aliases", join(map(data, summary.aliases)) if summary.aliases else None),
                ("about", _documentation(detail)),
                ("first seen", Text(f"{moment(summary.first_seen)} UTC") if summary.first_seen else None),
                ("last seen", Text(f"{moment(summary.last_seen)} UTC") if summary.last_seen else None),
                ("facets", join(map(data, sorted(detail.facets))) if detail.facets else None),
            ]
        ),
        _schema(detail),
        _versions(detail.versions),
    ]
    if detail.partitions:
        shown = [data(name) for name in detail.partitions[-_MAX_PARTITIONS:]]
        more = len(detail.partitions) - len(shown)
        heading = count_of(len(detail.partitions), "partition")
        parts.append(section(heading, *([note(f"… {more} before these")] if more else []), *shown))
    return Group(*parts)


def _documentation(detail: DatasetDetail) -> Text | None:
    facet = detail.facets.get("documentation")
    text = facet.get("description") if isinstance(facet, Mapping) else None
    return data(text) if isinstance(text, str) and text else None


def _schema(detail: DatasetDetail) -> RenderableType:
    if not detail.schema:
        return section("Schema", note("No schema is recorded."))
    described = any(field.description for field in detail.schema)
    rows = ResponsiveTable("Column", "Type", *(["Description"] if described else []))
    for field in detail.schema:
        cells = [data(field.name, "cyan"), data(field.type or "")]
        rows.add(*cells, *([data(field.description or "")] if described else []))
    return section("Schema", rows)


def _versions(versions: Sequence[Version]) -> RenderableType:
    if not versions:
        return section("Versions", note("No write is recorded."))
    rows = ResponsiveTable("Written (UTC)", "Partition", "Until (UTC)", "By")
    for version in versions[:_MAX_VERSIONS]:
        until = Text(moment(version.valid_to) or "current")
        partition = data(version.partition) if version.partition is not None else note("(whole)")
        rows.add(Text(moment(version.written_at)), partition, until, _writer(version))
    more = len(versions) - _MAX_VERSIONS
    return section("Versions, newest first", rows, *([note(f"… and {more} more: --json")] if more > 0 else []))


def _writer(version: Version) -> Text:
    if version.origin is Origin.DATASET:
        return Text("declared by the dataset itself")
    job = data(version.job) if version.job is not None else Text("an unnamed job")
    if version.origin is Origin.JOB:
        return join(["declared by ", job], "")
    return join([job, data(f"run {version.run_id}", "dim")], ", ")
