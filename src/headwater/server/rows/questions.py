"""Questions about rows, as they are sent: which rows, of what, and how much of the answer to show."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from headwater.engines import values
from headwater.engines.conditions import LONGEST, WrittenCondition, read_condition
from headwater.engines.sql import Sql
from headwater.formats.openlineage.text import storable

Name = Annotated[str, Field(max_length=100_000)]


class RowSelection(BaseModel):
    """Which rows are meant: by columns and the values they must have, or by a condition; else all of them."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    where: Annotated[dict[str, values.Value], Field(max_length=100)] = {}
    """Columns and the values they must have."""
    condition: Annotated[str | None, Field(max_length=LONGEST)] = None
    """Instead of `where`: a condition in SQL, as Spark reads it."""
    rows: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Show at most so many of each."""

    @model_validator(mode="after")
    def _values_can_be_asked_for(self) -> RowSelection:
        if self.where and self.condition is not None:
            raise ValueError("give either where or a condition")
        texts = [*self.where, *(value for value in self.where.values() if isinstance(value, str))]
        if not all(storable(text) for text in texts):
            raise ValueError("a column or a value holds characters that no table can hold")
        if any(isinstance(value, float) and not math.isfinite(value) for value in self.where.values()):
            raise ValueError("a value is not a finite number")
        return self

    @cached_property
    def written(self) -> WrittenCondition | None:
        return None if self.condition is None else read_condition(self.condition)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.where) if self.written is None else self.written.columns

    @property
    def for_spark(self) -> str | None:
        return values.for_spark(self.where) if self.written is None else self.written.spark

    @property
    def for_duckdb(self) -> Sql | None:
        return values.for_duckdb(self.where) if self.written is None else self.written.sql


class TraceRequest(RowSelection):
    """Name a run, or a dataset, whose latest run is then meant."""

    run: Annotated[str | None, Field(max_length=10_000)] = None
    dataset: Name | None = None
    namespace: Name | None = None
    output: Annotated[int | None, Field(ge=0, le=10_000)] = None
    """Which of the outputs that a run wrote pair tables of; of a run the first, of a dataset its own unless told."""
    depth: Annotated[int | None, Field(ge=1, le=100)] = None
    """Through at most so many jobs; pair tables tell of one."""

    @model_validator(mode="after")
    def _one_thing_is_named(self) -> TraceRequest:
        if (self.run is None) == (self.dataset is None):
            raise ValueError("give either a run or a dataset")
        return self


class ForwardRequest(RowSelection):
    """Which rows were made of these rows of a dataset."""

    dataset: Name
    namespace: Name | None = None
    depth: Annotated[int | None, Field(ge=1, le=100)] = None
    """Through at most so many jobs."""


class WhyNotRequest(RowSelection):
    """Why these rows of a source are not in a dataset."""

    dataset: Name
    namespace: Name | None = None
    source: Name
    """One of those that the dataset's latest run read; without its namespace, the end of its name will do."""
    source_namespace: Name | None = None

    @model_validator(mode="after")
    def _rows_are_named(self) -> WhyNotRequest:
        if not self.where and self.condition is None:
            raise ValueError("select rows with where or a condition")
        return self


RequestModel = TypeVar("RequestModel", bound=RowSelection)


def parse_request(kind: type[RequestModel], body: bytes) -> RequestModel:
    try:
        asked = kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None
    _ = asked.written  # a condition that is refused is refused before anything is looked up for it
    return asked
