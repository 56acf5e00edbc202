"""Quality rules and declared pipelines."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors.base import HeadwaterError, shorten


class QualityError(HeadwaterError):
    """Quality cannot be measured."""


class RulesBroken(QualityError):
    """``broken``: name of each violated rule, with the number of rows that violate it."""

    def __init__(self, broken: Sequence[tuple[str, int]]) -> None:
        self.broken = tuple(broken)
        violations = "; ".join(f"{shorten(name)} by {count:,}" for name, count in broken)
        super().__init__(f"Quality rules are violated: {violations}.")


class PipelineError(HeadwaterError):
    """A declared pipeline is invalid or failed."""


class PipelineInvalid(PipelineError):
    """``node`` is None if the error concerns the pipeline as a whole."""

    def __init__(self, pipeline: str, node: str | None, reason: str) -> None:
        self.pipeline = pipeline
        self.node = node
        self.reason = reason
        where = "" if node is None else f", node '{shorten(node)}'"
        super().__init__(f"Pipeline '{shorten(pipeline)}'{where}: {reason}")


class PipelineFailed(PipelineError):
    def __init__(self, pipeline: str, node: str, reason: str) -> None:
        self.pipeline = pipeline
        self.node = node
        self.reason = reason
        super().__init__(f"Pipeline '{shorten(pipeline)}' failed at node '{shorten(node)}': {reason}")


class PipelineCancelled(PipelineError):
    def __init__(self, pipeline: str, node: str) -> None:
        self.pipeline = pipeline
        self.node = node
        super().__init__(f"Pipeline '{shorten(pipeline)}' was cancelled at node '{shorten(node)}'.")


class OptionInvalid(PipelineError):
    def __init__(self, option: str, value: object, expected: str) -> None:
        self.option = option
        self.value = value
        super().__init__(f"Lineage option '{shorten(option)}' is {shorten(repr(value))}: {expected}.")


class MismatchRefused(PipelineError):
    def __init__(self, node: str, reason: str) -> None:
        self.node = node
        self.reason = reason
        super().__init__(f"Items are not accounted for: {reason}.")
