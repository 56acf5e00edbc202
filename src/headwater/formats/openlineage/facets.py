"""Checks standard facets against their schema.

The schemas are those of openlineage-python's generated classes, which follow the specification release by release, so
there is no second copy here. Each class is compiled once into a checker; openlineage-python itself is imported with the
first facet that is checked. Unknown facets are not checked.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.formats.openlineage.facet_cache import FacetCache
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.runs import Problem

if TYPE_CHECKING:
    from attr import AttrsInstance

JsonPath = tuple["JsonPath | str", str | int]
"""A JSON path as a chain of steps, which becomes text only if there is a problem to report."""

FacetChecker = Callable[[object, JsonPath, list[Problem]], None]
"""Adds the problems of a value to the list."""

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


_valid_facets = FacetCache()


def facet_text(facet: object) -> str:
    return _valid_facets.text(facet)


def facet_problems(owner: str, facets: dict[str, object], path: str, *, check_text: bool = True) -> list[Problem]:
    """The problems of ``facets``; ``owner`` is run, job, dataset, inputFacets or outputFacets.

    ``check_text`` may be False if the event's bytes show that every string in it can be stored. A facet that is in
    the cache is replaced by the cached object.
    """
    problems: list[Problem] = []
    for name, facet in facets.items():
        key = _valid_facets.key(owner, name, facet)
        cached = _valid_facets.get(key)
        if cached is not None:
            facets[name] = cached
            continue
        facet_faults = _problems_of(owner, name, facet, (path, f".{name}"), check_text)
        if not facet_faults and isinstance(facet, dict):
            _valid_facets.add(key, facet)
        problems += facet_faults
    return problems


def _problems_of(owner: str, name: str, facet: object, path: JsonPath, check_text: bool) -> list[Problem]:
    if not isinstance(facet, Mapping):
        return [Problem(_render(path), "a facet is an object")]
    problems = [
        Problem(_render((path, f".{key}")), "missing")
        for key in ("_producer", "_schemaURL")
        if not isinstance(facet.get(key), str)
    ]
    standard = _STANDARD[owner]
    if name in standard and facet.get("_deleted") is not True:
        _class_checker(standard[name])(facet, path, problems)
        if check_text:
            _check_text(facet, path, problems)
    return problems


def _check_text(value: object, path: JsonPath, problems: list[Problem]) -> None:
    if isinstance(value, str):
        if not is_storable(value):
            problems.append(Problem(_render(path), UNSTORABLE_REASON))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            _check_text(element, (path, index), problems)
    elif isinstance(value, dict):
        for key, element in value.items():
            if not is_storable(key):
                problems.append(Problem(_render(path), f"a key {UNSTORABLE_REASON}"))
            _check_text(element, (path, f".{key}"), problems)


def _render(path: JsonPath | str) -> str:
    steps = []
    while not isinstance(path, str):
        path, step = path
        steps.append(step if isinstance(step, str) else f"[{step}]")
    return path + "".join(reversed(steps))


@cache  # bounded by the table above
def _class_checker(location: str) -> FacetChecker:
    module, name = location.split(".")
    return _checker(getattr(import_module(f"openlineage.client.generated.{module}"), name))


_checkers: dict[object, FacetChecker] = {}  # bounded by the types of the generated classes


def _checker(expected: object) -> FacetChecker:
    """The checker of JSON values for a type annotation."""
    if expected not in _checkers:
        _checkers[expected] = _compile(expected)
    return _checkers[expected]


def _compile(expected: object) -> FacetChecker:
    import attr

    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if expected is Any:
        return lambda value, path, problems: None
    if origin in (typing.Union, types.UnionType):
        return _union_checker(tuple(a for a in arguments if a is not type(None)))
    if origin is list:
        return _list_checker(_checker(arguments[0]))
    if origin is dict:
        return _mapping_checker(_checker(arguments[1]))
    if origin is typing.Literal:
        return _choice_checker(arguments)
    assert isinstance(expected, type)
    if issubclass(expected, Enum):
        return _choice_checker(tuple(member.value for member in expected))
    if attr.has(expected):
        return _object_checker(expected)
    return _scalar_checker(expected)


def _scalar_checker(expected: type) -> FacetChecker:
    accepted = (int, float) if expected is float else expected
    name = {str: "a string", bool: "a boolean", int: "an integer", float: "a number"}.get(expected, expected.__name__)

    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        fits = isinstance(value, accepted) and (value.__class__ is not bool or expected is bool)
        if not fits and expected is int:
            fits = isinstance(value, float) and value.is_integer()  # JSON has one type of number: 2.0 is an integer
        if not fits:
            problems.append(Problem(_render(path), f"must be {name}"))

    return check


def _choice_checker(values: tuple[object, ...]) -> FacetChecker:
    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        if value not in values:
            problems.append(Problem(_render(path), f"must be one of {', '.join(map(str, values))}"))

    return check


def _union_checker(alternatives: tuple[object, ...]) -> FacetChecker:
    checkers = tuple(map(_checker, alternatives))
    if len(checkers) == 1:
        return checkers[0]

    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        problems_by_alternative: list[list[Problem]] = []
        for checker in checkers:
            problems_by_alternative.append([])
            checker(value, path, problems_by_alternative[-1])
            if not problems_by_alternative[-1]:
                return
        # The problems of the alternative that its `type` names, else of the closest one.
        kind = _render((path, ".type"))
        nearest: list[Problem] = min(
            problems_by_alternative,
            key=lambda alternative_problems: (
                any(p.path == kind for p in alternative_problems),
                len(alternative_problems),
            ),
        )
        problems += nearest

    return check


def _list_checker(item: FacetChecker) -> FacetChecker:
    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        if not isinstance(value, list):
            problems.append(Problem(_render(path), "must be an array"))
            return
        for index, element in enumerate(value):
            item(element, (path, index), problems)

    return check


def _mapping_checker(item: FacetChecker) -> FacetChecker:
    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        if not isinstance(value, dict):
            problems.append(Problem(_render(path), "must be an object"))
            return
        for key, element in value.items():
            item(element, (path, f".{key}"), problems)

    return check


def _object_checker(cls: type[AttrsInstance]) -> FacetChecker:
    import attr  # at the first use, like openlineage-python, which brings it

    fields: list[tuple[str, str, bool, FacetChecker]] = []
    dependent = [a.name for a in attr.fields(cls) if hasattr(cls, f"{a.name}_dependent_required_check")]

    def check(value: object, path: JsonPath, problems: list[Problem]) -> None:
        if not isinstance(value, dict):
            problems.append(Problem(_render(path), "must be an object"))
            return
        for name, step, required, checker in fields:
            element = value.get(name)
            if element is not None:
                checker(element, (path, step), problems)
            elif required:
                problems.append(Problem(_render((path, step)), "missing"))
        if dependent and any(value.get(name) is not None for name in dependent):
            absent = [name for name in dependent if value.get(name) is None]
            problems.extend(Problem(_render((path, f".{name}")), "missing") for name in absent)

    # Known before its fields are compiled, because types refer to themselves (nested schema fields).
    _checkers[cls] = check
    hints = typing.get_type_hints(cls)
    fields += [
        # The generated classes write a constant as a text with a default; constants distinguish alternatives.
        (a.name, f".{a.name}", True, _choice_checker((a.default,)))
        if isinstance(a.default, str)
        else (a.name, f".{a.name}", a.default is attr.NOTHING, _checker(hints[a.name]))
        for a in attr.fields(cls)
        # The base facet's own two fields are required by the specification but not by the class: checked above.
        if not a.name.startswith("_")
    ]
    return check
