"""Bodies of row queries: which rows, of which dataset or run, and how much of the answer to show."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from headwater.engines import values
from headwater.engines.conditions import MAX_CONDITION_LENGTH, ParsedCondition, read_condition
from headwater.engines.sql import Sql
from headwater.formats.openlineage.text import is_storable

Name = Annotated[str, Field(max_length=100_000)]


class RowSelection(BaseModel):
    """Which rows to select: by values of columns, or by a condition; by default all."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    where: Annotated[dict[str, values.Value], Field(max_length=100)] = {}
    """Columns and their values."""
    condition: Annotated[str | None, Field(max_length=MAX_CONDITION_LENGTH)] = None
    """Instead of `where`: a condition in Spark's SQL."""
    rows: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Maximum number of rows to show per dataset."""

    @model_validator(mode="after")
    def _check_values(self) -> RowSelection:
        if self.where and self.condition is not None:
            raise ValueError("give either where or a condition")
        texts = [*self.where, *(value for value in self.where.values() if isinstance(value, str))]
        if not all(is_storable(text) for text in texts):
            raise ValueError("a column or a value holds characters that no table can hold")
        if any(isinstance(value, float) and not math.isfinite(value) for value in self.where.values()):
            raise ValueError("a value is not a finite number")
        return self

    @cached_property
    def parsed_condition(self) -> ParsedCondition | None:
        return None if self.condition is None else read_condition(self.condition)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.where) if self.parsed_condition is None else self.parsed_condition.columns

    @property
    def spark_condition(self) -> str | None:
        return values.spark_condition(self.where) if self.parsed_condition is None else self.parsed_condition.spark

    @property
    def duckdb_condition(self) -> Sql | None:
        return values.duckdb_condition(self.where) if self.parsed_condition is None else self.parsed_condition.sql


class TraceRequest(RowSelection):
    """Trace rows of a run, or of a dataset, which means its latest run."""

    run: Annotated[str | None, Field(max_length=10_000)] = None
    dataset: Name | None = None
    namespace: Name | None = None
    output: Annotated[int | None, Field(ge=0, le=10_000)] = None
    """Index of the output among those with pair tables; by default the first of a run, or the dataset's own."""
    depth: Annotated[int | None, Field(ge=1, le=100)] = None
    """Maximum number of jobs to trace through; pair tables cover one."""

    @model_validator(mode="after")
    def _check_subject(self) -> TraceRequest:
        if (self.run is None) == (self.dataset is None):
            raise ValueError("give either a run or a dataset")
        return self


class ForwardRequest(RowSelection):
    """Trace forward: which rows were made of these rows of a dataset."""

    dataset: Name
    namespace: Name | None = None
    depth: Annotated[int | None, Field(ge=1, le=100)] = None
    """Maximum number of jobs to trace through."""


class WhyNotRequest(RowSelection):
    """Explain why these rows of a source are missing from a dataset."""

    dataset: Name
    namespace: Name | None = None
    source: Name
    """An input of the dataset's latest run; without a namespace, the end of its name is enough."""
    source_namespace: Name | None = None

    @model_validator(mode="after")
    def _check_rows(self) -> WhyNotRequest:
        if not self.where and self.condition is None:
            raise ValueError("select rows with where or a condition")
        return self


RequestModel = TypeVar("RequestModel", bound=RowSelection)


def parse_request(kind: type[RequestModel], body: bytes) -> RequestModel:
    try:
        request = kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None
    _ = request.parsed_condition  # refuse an invalid condition before any other work
    return request
