"""The code that ran: the text of the script and, of a declared pipeline, that of its functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from hashlib import sha256
from types import CodeType

from headwater.capture.listener.code import CodeLocation, is_changed, script_file


def script_code(location: CodeLocation | None) -> dict[str, object] | None:
    """What `codeHash` hashes; None if no file holds the program, as in a shell or a notebook."""
    path = script_file()
    if path is None or location is None:
        return None
    document: dict[str, object] = {"script": path.name, "text": f"sha256:{sha256(path.read_bytes()).hexdigest()}"}
    if location.commit is not None:
        document["commit"] = location.commit
        dirty = is_changed(path.parent)
        document |= {} if dirty is None else {"dirty": dirty}
    return document


def function_code(functions: Mapping[str, Callable[..., object]]) -> dict[str, str]:
    """By the purpose of a function, the hash of its text, or of its bytecode if its text is not available."""
    return {purpose: _function(function) for purpose, function in functions.items()}


def _function(function: Callable[..., object]) -> str:
    plain = inspect.unwrap(function)
    try:
        return f"sha256:{sha256(inspect.getsource(plain).encode()).hexdigest()}"
    except (OSError, TypeError):  # defined in a shell, or no function but an object that can be called
        code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    if not isinstance(code, CodeType):
        return f"sha256-name:{sha256(repr(type(plain)).encode()).hexdigest()}"
    return f"sha256-bytecode:{_bytecode(code)}"


def _bytecode(code: CodeType) -> str:
    """Without the file it was compiled from: nested functions count by their own bytecode."""
    constants = [
        _bytecode(constant) if isinstance(constant, CodeType) else _constant(constant) for constant in code.co_consts
    ]
    parts = [code.co_code.hex(), *constants, *code.co_names, *code.co_varnames]
    return sha256("\0".join(parts).encode()).hexdigest()


def _constant(value: object) -> str:
    """The order of a set differs between processes."""
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)
