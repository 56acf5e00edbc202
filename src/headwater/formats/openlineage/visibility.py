"""The visible part of an event if some namespaces are hidden.

OpenLineage names things as objects with a `namespace`; if that is hidden, the object is removed from its container, and
what belongs to a hidden job (a parent run, for example) is removed with it. Text cannot be treated that way. If
anything of a run is hidden, only those of its facets remain that are made of such objects or describe nothing else: not
its SQL, its plans, its manifest or unknown facets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import overload

from headwater.formats.openlineage.accumulate import RunAccount
from headwater.formats.openlineage.event import Event
from headwater.model.runs import DatasetUse, Facets

CanSee = Callable[[str], bool]
"""Whether a namespace may be seen."""

# Facets of the specification that stay where something else of the run is hidden.
_OF_RUNS = frozenset({"nominalTime", "parent", "processing_engine", "tags"})
_OF_JOBS = frozenset({"documentation", "jobType", "lineage", "ownership", "sourceCodeLocation", "tags"})
_OF_DATASETS = frozenset(
    {
        *("catalog", "columnLineage", "dataSource", "datasetType", "documentation", "lifecycleStateChange", "lineage"),
        *("ownership", "schema", "storage", "symlinks", "tags", "version"),
    }
)
_OF_USES = frozenset({"dataQualityMetrics", "inputStatistics", "outputStatistics", "subset"})
_LINEAGE = ("columnLineage", "lineage")
_HIDDEN = object()


@overload
def without_hidden(value: Mapping[str, object], sees: CanSee) -> Mapping[str, object]: ...
@overload
def without_hidden(value: list[object], sees: CanSee) -> list[object]: ...
@overload
def without_hidden(value: object, sees: CanSee) -> object: ...
def without_hidden(value: object, sees: CanSee) -> object:
    """``value`` without the objects of hidden namespaces; the same object if there are none."""
    visible = _visible_part(value, sees)
    return {} if visible is _HIDDEN else visible


def _visible_part(value: object, sees: CanSee) -> object:
    if isinstance(value, Mapping):
        namespace = value.get("namespace")
        if isinstance(namespace, str) and not sees(namespace):
            return _HIDDEN
        members = {key: _visible_part(member, sees) for key, member in value.items()}
        if members.get("job") is _HIDDEN:
            return _HIDDEN
        same = all(members[key] is member for key, member in value.items())
        return value if same else {key: member for key, member in members.items() if member is not _HIDDEN}
    if isinstance(value, list):
        items = [_visible_part(item, sees) for item in value]
        same = all(left is item for left, item in zip(items, value, strict=True))
        return value if same else [item for item in items if item is not _HIDDEN]
    return value


def visible_facets(facets: Facets, sees: CanSee) -> Facets:
    """The facets of a dataset without hidden objects, by whichever producer.

    Its lineage facets are left out: the graph has that lineage, as far as its producers are visible.
    """
    visible: Facets = without_hidden(facets, sees)
    return {name: facet for name, facet in visible.items() if name not in _LINEAGE}


def visible_job_facets(facets: Facets, sees: CanSee) -> Facets:
    """The facets of a job without its texts, such as SQL, which may belong to a run that is not completely visible."""
    return {name: facet for name, facet in visible_facets(facets, sees).items() if name in _OF_JOBS}


def visible_event(document: Mapping[str, object], sees: CanSee, *, whole: bool) -> Mapping[str, object] | None:
    """The visible part of an event's document; None if the job or the dataset it is about is hidden.

    ``whole``: nothing of the run is hidden, by its other events.
    """
    visible = _visible_part(document, sees)
    if not isinstance(visible, Mapping) or not {"job", "dataset"} & visible.keys():  # no mapping: it is hidden
        return None
    unchanged = visible is document
    if whole and unchanged:
        return document
    trimmed: dict[str, object] = dict(visible)
    for key, names in (("run", _OF_RUNS), ("job", _OF_JOBS), ("dataset", _OF_DATASETS)):
        owner = trimmed.get(key)
        if isinstance(owner, Mapping):
            trimmed[key] = _with_known_facets(owner, facets=names)
    for key in ("inputs", "outputs"):
        uses = trimmed.get(key)
        if isinstance(uses, list):
            trimmed[key] = [
                _with_known_facets(use, facets=_OF_DATASETS, inputFacets=_OF_USES, outputFacets=_OF_USES)
                for use in uses
                if isinstance(use, Mapping)
            ]
    return trimmed


def _with_known_facets(owner: Mapping[str, object], **names: frozenset[str]) -> dict[str, object]:
    return {
        key: _known_facets(value, names[key]) if key in names and isinstance(value, Mapping) else value
        for key, value in owner.items()
    }


def _known_facets(facets: Facets, names: frozenset[str]) -> dict[str, object]:
    return {name: facet for name, facet in facets.items() if name in names}


def visible_account(account: RunAccount, sees: CanSee, *, whole: bool) -> RunAccount:
    """The visible part of a run's account; its job is visible. ``whole``: as above."""
    visible = replace(
        account,
        run_facets=without_hidden(account.run_facets, sees),
        job_facets=without_hidden(account.job_facets, sees),
        lineage_entries=tuple(without_hidden(list(account.lineage_entries), sees)),
        inputs=_visible_uses(account.inputs, sees),
        outputs=_visible_uses(account.outputs, sees),
    )
    if whole and visible == account:
        return account
    return replace(
        visible,
        run_facets=_known_facets(visible.run_facets, _OF_RUNS),
        job_facets=_known_facets(visible.job_facets, _OF_JOBS),
        inputs=_trimmed_uses(visible.inputs),
        outputs=_trimmed_uses(visible.outputs),
        problems=(),  # their paths count what is hidden
    )


def _visible_uses(uses: Iterable[DatasetUse], sees: CanSee) -> tuple[DatasetUse, ...]:
    return tuple(
        replace(use, facets=without_hidden(use.facets, sees), io_facets=without_hidden(use.io_facets, sees))
        for use in uses
        if sees(use.dataset.namespace)
    )


def _trimmed_uses(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    return tuple(
        replace(use, facets=_known_facets(use.facets, _OF_DATASETS), io_facets=_known_facets(use.io_facets, _OF_USES))
        for use in uses
    )


def names_hidden(event: Event, sees: CanSee, *, parents: bool) -> bool:
    """Whether an event mentions anything hidden; ``parents``: also as the parent of its run."""
    named = [event.job, *(use.dataset for use in event.datasets)]
    if any(endpoint is not None and not sees(endpoint.namespace) for endpoint in named):
        return True
    of_run = {name: facet for name, facet in (event.run_facets or {}).items() if parents or name != "parent"}
    facets = [of_run, event.job_facets or {}, *(f for use in event.datasets for f in (use.facets, use.io_facets))]
    return any(without_hidden(part, sees) is not part for part in facets)
