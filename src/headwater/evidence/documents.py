"""The JSON of evidence: what `jvm/PlanSteps.java` writes, and the facets that are made of it."""

from __future__ import annotations

from typing import NotRequired, TypedDict

# -- what the JVM writes ----------------------------------------------------------------------------------------------


class ColumnDocument(TypedDict):
    id: int
    name: str


# These have a member `from`, which is a keyword of Python.
MadeColumnDocument = TypedDict("MadeColumnDocument", {"id": int, "name": str, "sql": str, "from": list[int]})
CastDocument = TypedDict("CastDocument", {"column": str | None, "from": str, "to": str, "explicit": bool, "sql": str})
MeasureDocument = TypedDict(
    "MeasureDocument", {"column": str, "function": str, "distinct": bool, "sql": str, "from": list[int]}
)


class NullabilityDocument(TypedDict):
    column: str
    nullable: bool


class OperatorDocument(TypedDict):
    """An operator of a plan. The members that not every operator has:

    leaf                        of a leaf: its columns
    standsFor                   of a leaf that stands for another plan: the ids of its columns
    join … rightColumns         of a join
    keys, measures              of an aggregate, and keys of what makes rows distinct
    defines, refers, columns    of a common table expression
    """

    operator: str
    parent: int
    makes: list[MadeColumnDocument]
    casts: list[CastDocument]
    nulls: list[NullabilityDocument]
    leaf: NotRequired[list[ColumnDocument]]
    standsFor: NotRequired[list[int]]
    join: NotRequired[str]
    condition: NotRequired[str]
    left: NotRequired[list[int]]
    right: NotRequired[list[int]]
    leftColumns: NotRequired[list[int]]
    rightColumns: NotRequired[list[int]]
    keys: NotRequired[list[int]]
    measures: NotRequired[list[MeasureDocument]]
    defines: NotRequired[int]
    refers: NotRequired[int]
    columns: NotRequired[list[int]]


class PlanStepsDocument(TypedDict):
    steps: list[OperatorDocument]
    columns: list[ColumnDocument]
    whole: bool
    """Whether all operators were read."""


# -- facets -----------------------------------------------------------------------------------------------------------


class FacetCoverage(TypedDict):
    """Whether a facet is complete, and the operators with an unknown plan behind them."""

    complete: bool
    notSeen: NotRequired[list[dict[str, str]]]


class TypesFacet(FacetCoverage):
    """`cdme.typeUnification`."""

    morphismReports: list[dict[str, object]]
    nullabilityChanges: list[dict[str, object]]


class TraceFacet(FacetCoverage):
    """`cdme.morphismTrace`: by column, its sources and then the steps from there up."""

    targetAttributes: dict[str, list[str]]


class GrainNode(TypedDict):
    node: str
    grain: NotRequired[list[str]]


class GrainReport(TypedDict):
    """One check of an operator. Without ``holds`` it is undecided."""

    node: str
    check: str
    holds: NotRequired[bool]
    by: NotRequired[str]
    detail: NotRequired[str]
    keys: NotRequired[list[str]]
    on: NotRequired[str]
    cardinality: NotRequired[str]
    declared: NotRequired[str]
    column: NotRequired[str]
    expression: NotRequired[str]
    multipliedBy: NotRequired[str]


class GrainFacet(FacetCoverage):
    """`cdme.grainSafety`."""

    nodes: list[GrainNode]
    validations: list[GrainReport]
    undecided: list[GrainReport]


class ManifestFacet(TypedDict):
    """`cdme.runManifest`."""

    configHash: str
    config: dict[str, object]
    codeHash: NotRequired[str]
    code: NotRequired[dict[str, object]]
    designHash: str
    design: NotRequired[str]
    designs: NotRequired[dict[str, str]]
    inputChecksums: dict[str, str]
    outputChecksums: dict[str, str]
    contractVersion: NotRequired[str]
    withoutChecksum: NotRequired[dict[str, str]]
    filesNotRead: NotRequired[dict[str, list[str]]]
