"""The root of all errors, and names as messages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_MAX_NAME_LENGTH = 120


def shorten(text: str) -> str:
    """Return a name for a one-line message: control characters escaped, the middle of a long name elided."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(printable) <= _MAX_NAME_LENGTH:
        return printable
    keep = _MAX_NAME_LENGTH // 2 - 1
    return f"{printable[:keep]}…{printable[-keep:]}"


def first_line(error: object) -> str:
    """Return the first line of an error's message that is not empty; without one, the error's type."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def listing(label: str, names: Sequence[str], empty: str) -> str:
    return f"{label}: {', '.join(shorten(n) for n in names)}." if names else empty


class HeadwaterError(Exception):
    """Base class of every error that Headwater raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default pickles the message alone, but most of these constructors take other arguments.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[HeadwaterError], args: tuple[Any, ...], attributes: dict[str, Any]) -> HeadwaterError:
    """Rebuild a pickled error, such as one raised in another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error
