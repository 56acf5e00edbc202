"""What is left of an event where some namespaces are hidden.

OpenLineage names things as objects with a `namespace`; where that is hidden, the object is taken out of whatever holds
it, and what is tied to a hidden job (a parent run, say) goes with it. That cannot be done for text. Where anything of
a run is hidden, only those of its facets stay that are made of such objects or tell of nothing else: not its SQL, its
plans, its manifest or what nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from headwater.formats.openlineage.accumulate import RunAccount
from headwater.formats.openlineage.event import Event
from headwater.model.runs import DatasetUse, Facets

Sees = Callable[[str], bool]
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
_GONE = object()


def without_hidden(value: Any, sees: Sees) -> Any:
    """``value`` without the objects that a hidden namespace names; the very same one if there are none."""
    left = _left(value, sees)
    return {} if left is _GONE else left


def _left(value: Any, sees: Sees) -> Any:
    if isinstance(value, Mapping):
        namespace = value.get("namespace")
        if isinstance(namespace, str) and not sees(namespace):
            return _GONE
        members = {key: _left(member, sees) for key, member in value.items()}
        if members.get("job") is _GONE:
            return _GONE
        same = all(members[key] is member for key, member in value.items())
        return value if same else {key: member for key, member in members.items() if member is not _GONE}
    if isinstance(value, list):
        items = [_left(item, sees) for item in value]
        same = all(left is item for left, item in zip(items, value, strict=True))
        return value if same else [item for item in items if item is not _GONE]
    return value


def visible_facets(facets: Facets, sees: Sees) -> Facets:
    """Of a dataset, whoever set them, without the objects that are hidden.

    Not its lineage: the graph tells it, as far as those who said so are seen.
    """
    left: Facets = without_hidden(facets, sees)
    return {name: facet for name, facet in left.items() if name not in _LINEAGE}


def visible_job_facets(facets: Facets, sees: Sees) -> Facets:
    """Of a job, over all of its runs: not the text, which those of its runs tell that are seen whole."""
    return {name: facet for name, facet in visible_facets(facets, sees).items() if name in _OF_JOBS}


def visible_event(document: Mapping[str, Any], sees: Sees, *, whole: bool) -> Mapping[str, Any] | None:
    """An event's document as far as it is visible; None where the job or the dataset it is about is not.

    ``whole``: all of the run is visible, as far as other events of it say.
    """
    left: Any = _left(document, sees)
    if left is _GONE or not {"job", "dataset"} & left.keys():
        return None
    unchanged = left is document
    if whole and unchanged:
        return document
    trimmed: dict[str, Any] = dict(left)
    for key, known in (("run", _OF_RUNS), ("job", _OF_JOBS), ("dataset", _OF_DATASETS)):
        if isinstance(trimmed.get(key), Mapping):
            trimmed[key] = _told(trimmed[key], facets=known)
    for key in ("inputs", "outputs"):
        if isinstance(trimmed.get(key), list):
            trimmed[key] = [
                _told(use, facets=_OF_DATASETS, inputFacets=_OF_USES, outputFacets=_OF_USES)
                for use in trimmed[key]
                if isinstance(use, Mapping)
            ]
    return trimmed


def _told(owner: Mapping[str, Any], **known: frozenset[str]) -> dict[str, Any]:
    return {
        key: _only(value, known[key]) if key in known and isinstance(value, Mapping) else value
        for key, value in owner.items()
    }


def _only(facets: Facets, known: frozenset[str]) -> dict[str, Any]:
    return {name: facet for name, facet in facets.items() if name in known}


def visible_account(account: RunAccount, sees: Sees, *, whole: bool) -> RunAccount:
    """What the events of a run say together, as far as it is visible; its job is. ``whole``: as above."""
    left = replace(
        account,
        run_facets=without_hidden(account.run_facets, sees),
        job_facets=without_hidden(account.job_facets, sees),
        lineage_entries=tuple(without_hidden(list(account.lineage_entries), sees)),
        inputs=_visible_uses(account.inputs, sees),
        outputs=_visible_uses(account.outputs, sees),
    )
    if whole and left == account:
        return account
    return replace(
        left,
        run_facets=_only(left.run_facets, _OF_RUNS),
        job_facets=_only(left.job_facets, _OF_JOBS),
        inputs=_trimmed_uses(left.inputs),
        outputs=_trimmed_uses(left.outputs),
        problems=(),  # their paths count what is hidden
    )


def _visible_uses(uses: Iterable[DatasetUse], sees: Sees) -> tuple[DatasetUse, ...]:
    return tuple(
        replace(use, facets=without_hidden(use.facets, sees), io_facets=without_hidden(use.io_facets, sees))
        for use in uses
        if sees(use.dataset.namespace)
    )


def _trimmed_uses(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    return tuple(
        replace(use, facets=_only(use.facets, _OF_DATASETS), io_facets=_only(use.io_facets, _OF_USES)) for use in uses
    )


def names_hidden(event: Event, sees: Sees, *, parents: bool) -> bool:
    """Whether an event speaks of anything hidden; ``parents``: also as what its run says is its parent."""
    spoken_of = [event.job, *(use.dataset for use in event.datasets)]
    if any(one is not None and not sees(one.namespace) for one in spoken_of):
        return True
    of_run = {name: facet for name, facet in (event.run_facets or {}).items() if parents or name != "parent"}
    facets = [of_run, event.job_facets or {}, *(f for use in event.datasets for f in (use.facets, use.io_facets))]
    return any(without_hidden(each, sees) is not each for each in facets)
