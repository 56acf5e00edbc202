"""Which code ran: the text of the script and, of a declared pipeline, that of its functions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import Any

from headwater.capture.listener.code import CodeLocation, is_changed


def script_code(location: CodeLocation | None) -> dict[str, Any] | None:
    """What `codeHash` is of; None where there is no script, as in a shell or a notebook."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if script is None or location is None:
        return None
    path = Path(script)
    told: dict[str, Any] = {"script": path.name, "text": f"sha256:{sha256(path.read_bytes()).hexdigest()}"}
    if location.commit is not None:
        told["commit"] = location.commit
        dirty = is_changed(path.resolve().parent)
        told |= {} if dirty is None else {"dirty": dirty}
    return told


def function_code(functions: Mapping[str, Callable[..., Any]]) -> dict[str, str]:
    """By what a function is for, the hash of its text, or of its bytecode where there is no text to be found."""
    return {purpose: _function(each) for purpose, each in functions.items()}


def _function(function: Callable[..., Any]) -> str:
    plain = inspect.unwrap(function)
    try:
        return f"sha256:{sha256(inspect.getsource(plain).encode()).hexdigest()}"
    except (OSError, TypeError):  # defined in a shell, or no function but an object that can be called
        code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    if not isinstance(code, CodeType):
        return f"sha256-name:{sha256(repr(type(plain)).encode()).hexdigest()}"
    return f"sha256-bytecode:{_bytecode(code)}"


def _bytecode(code: CodeType) -> str:
    """Without where it was compiled: the functions within count by their own bytecode."""
    constants = [_bytecode(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    told = [code.co_code.hex(), *constants, *code.co_names, *code.co_varnames]
    return sha256("\0".join(told).encode()).hexdigest()


def _constant(value: object) -> str:
    """A set's order is another in every process."""
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)
