"""Commands, options, link targets and Python names in the pages exist."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import command_tree
from tests.support.console import blocks, prose

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
SHELL = ("", "sh", "console")
ENDS = ("|", "&&", "||", ";", "&", "#", ">", "$(", "…")
"""Words that end a command."""


def relative_path(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> Iterator[str]:
    """Every `headwater` command in the blocks and in the text of a page."""
    text = page.read_text()
    for block in blocks(text):
        if block.language in SHELL:
            for line in block.text.splitlines():
                bare = re.sub(r"^(\$ )?((export )?[A-Z_]+=\S+ )*", "", line)
                yield from re.findall(r"(?:^|&& )(headwater .*?)(?= && |$)", bare)
    for quoted in re.findall(r"`(headwater [^`]+)`", prose(text)):
        yield " ".join(quoted.split())


def words(command: str) -> list[str]:
    found = []
    for word in shlex.split(command.replace("[", " ").replace("]", " ").replace("'", '"'), comments=True):
        if word in ENDS or word.startswith(("|", "#", ">")):
            break
        found.append(word)
    return found[1:]


def resolve(arguments: list[str]) -> tuple[Any, list[str]]:
    """The command, and the arguments after its name."""
    command: Any = command_tree()
    while arguments and hasattr(command, "commands") and arguments[0] in command.commands:
        command, arguments = command.commands[arguments[0]], arguments[1:]
    return command, arguments


def mistake_in(command: str) -> str | None:
    found, rest = resolve(words(command))
    if hasattr(found, "commands"):  # a group alone is a heading; a word after it must be one of its commands
        unknown = [word for word in rest if not word.startswith("-") and word.islower() and word.isidentifier()]
        return f"{command}: there is no command {' '.join(unknown)!r}" if unknown and "," not in command else None
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in rest:
        if found.name == "exec" and not word.startswith("-"):
            break  # arguments after the script belong to the script
        option = word.partition("=")[0].rstrip(",.;:")
        if option.startswith("-") and option not in known | {"-h", "--help", "-"}:
            return f"{command}: {option} is no option of `headwater {found.name}`"
    return None


@pytest.mark.parametrize("page", PAGES, ids=relative_path)
def test_commands_and_options_exist(page: Path) -> None:
    assert [found for command in commands(page) if (found := mistake_in(command)) is not None] == []


def test_the_pages_have_commands() -> None:
    assert sum(1 for page in PAGES for _ in commands(page)) > 200


@pytest.mark.parametrize(
    "command",
    ["headwater upstraem x", "headwater upstream x --depht 2", "headwater keys nwe", "headwater exec --jobs a job.py"],
)
def test_unknown_commands_and_options_are_detected(command: str) -> None:
    assert mistake_in(command) is not None


# -- links ----------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub derives from headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(anchor if anchor not in found else f"{anchor}-1")
    return found


@pytest.mark.parametrize("page", PAGES, ids=relative_path)
def test_link_targets_exist(page: Path) -> None:
    unknown = []
    for link in (first or second for first, second in LINK.findall(prose(page.read_text()))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            unknown.append(link)
    assert unknown == []


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link, _ in LINK.findall(index.read_text())}
    pages = {page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "decisions"}
    assert pages - linked == {index}


# -- Python ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=relative_path)
def test_python_examples_parse_and_use_existing_names(page: Path) -> None:
    for block in blocks(page.read_text()):
        if block.language != "python":
            continue
        tree = ast.parse(block.text, relative_path(page))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    importlib.import_module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module or "")
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hw":
                assert hasattr(importlib.import_module("headwater"), node.attr), f"hw.{node.attr}"
