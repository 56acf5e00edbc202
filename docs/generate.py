"""The reference, made from the code: what can be imported, every command, every address.

    python docs/generate.py

A test holds docs/reference against it, so that whoever changes the one writes the other anew.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

import headwater
from headwater import rules
from headwater.cli.app import app
from headwater.client import Lineage
from headwater.records.ledger import Records

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
_LONGEST = 110
_MADE = "Made from the code by `docs/generate.py`.\n"


def pages() -> dict[str, str]:
    """By file: what it should say."""
    return {"python.md": python_page(), "cli.md": cli_page(), "http.md": http_page()}


# -- Python ---------------------------------------------------------------------------------------


def python_page() -> str:
    parts = ["# Python\n", _MADE, "## `import headwater as hw`\n"]
    public = {name: getattr(headwater, name) for name in headwater.__all__}
    parts += [_function(name, it) for name, it in public.items() if inspect.isfunction(it)]
    classes = {f"hw.{name}": it for name, it in public.items() if inspect.isclass(it)}
    classes |= {"what `hw.connect` returns": Lineage, "`lin.records`": Records}
    for name, it in classes.items():
        parts.append(f"## {name if '`' in name else f'`{name}`'}\n")
        parts += [f"{_text(it)}\n", *(_function(method, found) for method, found in _methods(it))]
    parts.append("## `from headwater import rules`\n")
    parts += [_function(name, getattr(rules, name)) for name in rules.__all__]
    return "\n".join(parts)


def _methods(of: type) -> Iterator[tuple[str, Any]]:
    """Its own and inherited ones that have something to say, in the order of the alphabet."""
    for name, found in inspect.getmembers(of, inspect.isroutine):
        ours = getattr(found, "__module__", "") or ""
        if not name.startswith("_") and ours.startswith("headwater") and found.__doc__:
            yield name, found


class _Plain(str):
    """An annotation or a default as it is written, where Python would put quotes of its own around it."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(function: Any) -> inspect.Signature:
    told = inspect.signature(function)
    parameters = [
        each.replace(annotation=_plain(each.annotation), default=_quoted(each.default))
        for each in told.parameters.values()
    ]
    return told.replace(parameters=parameters, return_annotation=_plain(told.return_annotation))


def _plain(annotation: Any) -> Any:
    return _Plain(annotation) if isinstance(annotation, str) else annotation


def _quoted(default: Any) -> Any:
    return _Plain(json.dumps(default)) if isinstance(default, str) else default


def _function(name: str, function: Any) -> str:
    return f"```python\n{_folded(f'def {name}{_signature(function)}: ...')}\n```\n\n{_text(function)}\n"


def _folded(head: str) -> str:
    """One parameter a line where it is long."""
    if len(head) <= _LONGEST:
        return head
    opened, depth, parameters = head.index("("), 0, [""]
    for place, sign in enumerate(head[opened:], opened):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            lines = "".join(f"    {each.strip()},\n" for each in parameters)
            return f"{head[:opened]}(\n{lines}{head[place:]}"
        if depth == 1 and sign == ",":
            parameters.append("")
        elif place > opened:
            parameters[-1] += sign
    raise AssertionError(head)


def _text(it: Any) -> str:
    """The docstring, its markup as that of a page; an example in it stays one."""
    text = inspect.getdoc(it) or ""
    if inspect.isclass(it) and text.startswith(f"{it.__name__}("):  # what a dataclass says of itself
        return f"`{text}`".replace("'", "")
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"(?m)^(>>> .*(?:\n(?!\n).*)*)", r"```pycon\n\1\n```", text)


# -- the command line -----------------------------------------------------------------------------


def cli_page() -> str:
    parts = ["# The command line\n", _MADE, "[cli.md](../cli.md) shows each of them at work.\n"]
    parts += _commands(typer.main.get_command(app), ("headwater",))
    return "\n".join(parts)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    if hasattr(command, "commands"):
        for name, found in sorted(command.commands.items()):
            if not found.hidden:
                yield from _commands(found, (*path, name))
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    named = " ".join([*path, *(_argument(each) for each in arguments)])
    yield f"## {' '.join(path[1:])}\n\n`{named}`\n\n{_cell(command.help or '')}\n"
    if options:
        rows = [f"| `{', '.join((*each.opts, *each.secondary_opts))}` | {_cell(each.help or '')} |" for each in options]
        yield "\n".join(["| option | |", "| --- | --- |", *rows]) + "\n"


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]")
    many = "..." if argument.nargs == -1 else ""
    return f"{name}{many}" if argument.required else f"[{name}{many}]"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


# -- HTTP -----------------------------------------------------------------------------------------


def http_page() -> str:
    described = json.loads((ROOT / "ui" / "openapi.json").read_text())
    rows = [
        f"| {method.upper()} | `{path}` | {_cell(said.get('description') or said.get('summary') or '')} |"
        for path, methods in sorted(described["paths"].items())
        for method, said in sorted(methods.items())
        if isinstance(said, dict)
    ]
    more = "[server.md](../server.md) says how they are used; `/api/v1/openapi.json` has every shape."
    return f"# HTTP\n\n{_MADE}\n{more}\n\n" + "\n".join(["| | address | |", "| --- | --- | --- |", *rows]) + "\n"


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)
