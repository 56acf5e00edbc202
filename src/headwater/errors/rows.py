"""Row lineage, stored plans, and the SQL engine."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors.base import HeadwaterError, shorten


class RowsError(HeadwaterError):
    """A row query cannot be answered."""


class RowsRefused(RowsError):
    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"Rows cannot be traced through this plan: {'; '.join(shorten(reason) for reason in reasons)}")


class NotReplayable(RowsError):
    def __init__(self, needs: Sequence[str]) -> None:
        self.needs = tuple(needs)
        super().__init__(f"The run cannot be replayed: {'; '.join(needs)}")


class InputsChanged(RowsError):
    """``changes`` names some of the changed inputs; ``count`` is the number of all of them."""

    def __init__(self, changes: Sequence[str], count: int) -> None:
        self.changes = tuple(changes)
        self.count = count
        more = f"; and {count - len(changes)} more" if count > len(changes) else ""
        super().__init__(f"Inputs of the run have changed since: {'; '.join(changes)}{more}")


class KeptPlanRefused(RowsError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The stored plan is refused: {reason}")


class SignatureRefused(KeptPlanRefused):
    """No trusted key signed a stored plan, so it is not deserialized. ``key`` is the key that did sign, if any."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.key = key
        super().__init__(reason)


class PythonNotAllowed(RowsError):
    def __init__(self, functions: Sequence[str]) -> None:
        self.functions = tuple(functions)
        named = f" ({', '.join(shorten(name) for name in functions)})" if functions else ""
        super().__init__(
            f"The plan contains Python functions{named}, which a replay executes. Pass allow_python=True if "
            "you trust the author of the job."
        )


class LayoutInvalid(RowsError):
    """``field`` is the path to the invalid value, like `sources[0].occurrence`."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"The description of the pair tables is refused at {shorten(field)}: {reason}.")


class EngineError(HeadwaterError):
    """An engine that runs SQL on rows failed or refused."""


class PathNotAllowed(EngineError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{shorten(path)} may not be read: {reason}.")


class SqlRefused(EngineError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The SQL is refused: {reason}.")


class SqlInvalid(EngineError):
    pass


class EngineFailed(EngineError):
    pass
