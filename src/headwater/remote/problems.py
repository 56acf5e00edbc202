"""Turns problem documents (RFC 9457) into the errors that the server raised, with the same message and attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headwater import errors
from headwater.errors import HeadwaterError, RequestRefused, shorten


def _code_of(name: str) -> str:
    """`UnknownDataset` → `unknown_dataset`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


_BY_CODE: dict[str, type[HeadwaterError]] = {_code_of(name): getattr(errors, name) for name in errors.__all__}

_MEMBERS = {"path", "reason", "culprit", "entry", "what"}
"""Attributes that a problem has as members of its own."""
_NAMES = {"entry": "seq"}


def error_of(problem: Mapping[str, object], status: int) -> HeadwaterError:
    """The error behind a problem document; ``status`` is that of the HTTP answer, 0 for a task."""
    code, detail = problem.get("code"), problem.get("detail")
    if not isinstance(code, str) or not isinstance(detail, str):
        return RequestRefused(status, None, shorten(str(dict(problem))))
    kind = _BY_CODE.get(code)
    if kind is None:
        return RequestRefused(status, code, detail)
    about = problem.get("about")
    attributes = (
        about
        if isinstance(about, dict)
        else {_NAMES.get(name, name): problem[name] for name in _MEMBERS & problem.keys()}
    )
    error = kind.__new__(kind, detail)  # not by __init__, which would write a message of its own
    error.__dict__.update({name: tuple(v) if isinstance(v, list) else v for name, v in attributes.items()})
    return error
