"""Does a standard facet keep its own schema?

The shapes are those of openlineage-python's generated classes, which follow the specification release by release, so
there is no second copy of the schemas here. Each class is compiled once into a checker; openlineage-python itself is
imported with the first facet that is looked at. Facets we do not know are their producer's business.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

from headwater.formats.openlineage.facet_cache import SoundFacets
from headwater.formats.openlineage.text import UNSTORABLE_REASON, storable
from headwater.model.runs import Problem

Path = tuple["Path | str", str | int]
"""A JSON path as a chain of steps, put together as text only where there is something to report."""

Checker = Callable[[Any, Path, list[Problem]], None]
"""Adds what is wrong with a value to the list."""

_STANDARD: Mapping[str, Mapping[str, str]] = {
    "run": {
        "nominalTime": "nominal_time_run.NominalTimeRunFacet",
        "parent": "parent_run.ParentRunFacet",
        "errorMessage": "error_message_run.ErrorMessageRunFacet",
        "extractionError": "extraction_error_run.ExtractionErrorRunFacet",
        "externalQuery": "external_query_run.ExternalQueryRunFacet",
        "processing_engine": "processing_engine_run.ProcessingEngineRunFacet",
        "environmentVariables": "environment_variables_run.EnvironmentVariablesRunFacet",
        "executionParameters": "execution_parameters_run.ExecutionParametersRunFacet",
        "jobDependencies": "job_dependencies_run.JobDependenciesRunFacet",
        "tags": "tags_run.TagsRunFacet",
        "test": "test_run.TestRunFacet",
    },
    "job": {
        "sql": "sql_job.SQLJobFacet",
        "sourceCode": "source_code_job.SourceCodeJobFacet",
        "sourceCodeLocation": "source_code_location_job.SourceCodeLocationJobFacet",
        "documentation": "documentation_job.DocumentationJobFacet",
        "ownership": "ownership_job.OwnershipJobFacet",
        "jobType": "job_type_job.JobTypeJobFacet",
        "tags": "tags_job.TagsJobFacet",
        "lineage": "lineage.LineageJobFacet",
    },
    "dataset": {
        "schema": "schema_dataset.SchemaDatasetFacet",
        "columnLineage": "column_lineage_dataset.ColumnLineageDatasetFacet",
        "dataSource": "datasource_dataset.DatasourceDatasetFacet",
        "documentation": "documentation_dataset.DocumentationDatasetFacet",
        "ownership": "ownership_dataset.OwnershipDatasetFacet",
        "lifecycleStateChange": "lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet",
        "version": "dataset_version_dataset.DatasetVersionDatasetFacet",
        "symlinks": "symlinks_dataset.SymlinksDatasetFacet",
        "storage": "storage_dataset.StorageDatasetFacet",
        "catalog": "catalog_dataset.CatalogDatasetFacet",
        "datasetType": "dataset_type_dataset.DatasetTypeDatasetFacet",
        "hierarchy": "hierarchy_dataset.HierarchyDatasetFacet",
        "tags": "tags_dataset.TagsDatasetFacet",
        "dataQualityMetrics": "data_quality_metrics_dataset.DataQualityMetricsDatasetFacet",
        "dataQualityAssertions": "data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet",
        "lineage": "lineage.LineageDatasetFacet",
    },
    "inputFacets": {
        "inputStatistics": "input_statistics_input_dataset.InputStatisticsInputDatasetFacet",
        "dataQualityMetrics": "data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet",
        "dataQualityAssertions": "data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet",
        "subset": "base_subset_dataset.InputSubsetInputDatasetFacet",
    },
    "outputFacets": {
        "outputStatistics": "output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet",
        "subset": "base_subset_dataset.OutputSubsetOutputDatasetFacet",
    },
}


_sound = SoundFacets()


def facet_text(facet: Any) -> str:
    return _sound.text(facet)


def facet_problems(room: str, facets: dict[str, Any], path: str, *, check_text: bool = True) -> list[Problem]:
    """What is wrong with each of ``facets``; ``room`` is run, job, dataset, inputFacets or outputFacets.

    ``check_text`` can be left out where the event's bytes show that every string in it can be stored. A facet that is
    known already gives way to the one that is kept.
    """
    problems: list[Problem] = []
    for name, facet in facets.items():
        key = _sound.key(room, name, facet)
        known = _sound.get(key)
        if known is not None:
            facets[name] = known
            continue
        found = _problems_of(room, name, facet, (path, f".{name}"), check_text)
        if not found:
            _sound.add(key, facet)
        problems += found
    return problems


def _problems_of(room: str, name: str, facet: Any, at: Path, check_text: bool) -> list[Problem]:
    if not isinstance(facet, Mapping):
        return [Problem(_render(at), "a facet is an object")]
    problems = [
        Problem(_render((at, f".{key}")), "missing")
        for key in ("_producer", "_schemaURL")
        if not isinstance(facet.get(key), str)
    ]
    standard = _STANDARD[room]
    if name in standard and facet.get("_deleted") is not True:
        _class_checker(standard[name])(facet, at, problems)
        if check_text:
            _check_text(facet, at, problems)
    return problems


def _check_text(value: Any, path: Path, problems: list[Problem]) -> None:
    if isinstance(value, str):
        if not storable(value):
            problems.append(Problem(_render(path), UNSTORABLE_REASON))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            _check_text(element, (path, index), problems)
    elif isinstance(value, dict):
        for key, element in value.items():
            if not storable(key):
                problems.append(Problem(_render(path), f"a key {UNSTORABLE_REASON}"))
            _check_text(element, (path, f".{key}"), problems)


def _render(path: Path | str) -> str:
    steps = []
    while not isinstance(path, str):
        path, step = path
        steps.append(step if isinstance(step, str) else f"[{step}]")
    return path + "".join(reversed(steps))


@cache  # bounded by the table above
def _class_checker(location: str) -> Checker:
    module, name = location.split(".")
    return _checker(getattr(import_module(f"openlineage.client.generated.{module}"), name))


_compiled: dict[Any, Checker] = {}  # bounded by the types of the generated classes


def _checker(expected: Any) -> Checker:
    """The checker of JSON values for a type annotation."""
    if expected not in _compiled:
        _compiled[expected] = _compile(expected)
    return _compiled[expected]


def _compile(expected: Any) -> Checker:
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if expected is Any:
        return lambda value, path, problems: None
    if origin in (typing.Union, types.UnionType):
        return _one_of(tuple(a for a in arguments if a is not type(None)))
    if origin is list:
        return _list_of(_checker(arguments[0]))
    if origin is dict:
        return _mapping_to(_checker(arguments[1]))
    if origin is typing.Literal:
        return _among(arguments)
    if isinstance(expected, type) and issubclass(expected, Enum):
        return _among(tuple(member.value for member in expected))
    if hasattr(expected, "__attrs_attrs__"):
        return _object_like(expected)
    return _scalar(expected)


def _scalar(expected: Any) -> Checker:
    accepted = (int, float) if expected is float else expected
    name = {str: "a string", bool: "a boolean", int: "an integer", float: "a number"}.get(expected, expected.__name__)

    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        fits = isinstance(value, accepted) and (value.__class__ is not bool or expected is bool)
        if not fits and expected is int:
            fits = value.__class__ is float and value.is_integer()  # JSON has one type of number: 2.0 is an integer
        if not fits:
            problems.append(Problem(_render(path), f"must be {name}"))

    return check


def _among(values: tuple[Any, ...]) -> Checker:
    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        if value not in values:
            problems.append(Problem(_render(path), f"must be one of {', '.join(map(str, values))}"))

    return check


def _one_of(alternatives: tuple[Any, ...]) -> Checker:
    checkers = tuple(map(_checker, alternatives))
    if len(checkers) == 1:
        return checkers[0]

    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        found: list[list[Problem]] = []
        for checker in checkers:
            found.append([])
            checker(value, path, found[-1])
            if not found[-1]:
                return
        # What is wrong with the alternative that it says it is, else with the one it is closest to.
        kind = _render((path, ".type"))
        nearest: list[Problem] = min(found, key=lambda these: (any(p.path == kind for p in these), len(these)))
        problems += nearest

    return check


def _list_of(item: Checker) -> Checker:
    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        if not isinstance(value, list):
            problems.append(Problem(_render(path), "must be an array"))
            return
        for index, element in enumerate(value):
            item(element, (path, index), problems)

    return check


def _mapping_to(item: Checker) -> Checker:
    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        if not isinstance(value, dict):
            problems.append(Problem(_render(path), "must be an object"))
            return
        for key, element in value.items():
            item(element, (path, f".{key}"), problems)

    return check


def _object_like(cls: Any) -> Checker:
    import attr  # comes with openlineage-python, and is imported as late

    fields: list[tuple[str, str, bool, Checker]] = []
    together = [a.name for a in cls.__attrs_attrs__ if hasattr(cls, f"{a.name}_dependent_required_check")]

    def check(value: Any, path: Path, problems: list[Problem]) -> None:
        if not isinstance(value, dict):
            problems.append(Problem(_render(path), "must be an object"))
            return
        for name, step, required, checker in fields:
            element = value.get(name)
            if element is not None:
                checker(element, (path, step), problems)
            elif required:
                problems.append(Problem(_render((path, step)), "missing"))
        if together and any(value.get(name) is not None for name in together):
            absent = [name for name in together if value.get(name) is None]
            problems.extend(Problem(_render((path, f".{name}")), "missing") for name in absent)

    # Known before its fields are compiled, because types refer to themselves (nested schema fields).
    _compiled[cls] = check
    hints = typing.get_type_hints(cls)
    fields += [
        # A text with a default is how the generated classes write a constant, which tells alternatives apart.
        (a.name, f".{a.name}", True, _among((a.default,)))
        if isinstance(a.default, str)
        else (a.name, f".{a.name}", a.default is attr.NOTHING, _checker(hints[a.name]))
        for a in cls.__attrs_attrs__
        # The base facet's own two fields are required by the specification but not by the class: checked above.
        if not a.name.startswith("_")
    ]
    return check
