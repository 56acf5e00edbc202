"""What the pages say can be done: commands and options that exist, links that lead somewhere, code that is code."""

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
"""Where a command is over, or what is no longer one."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> Iterator[str]:
    """Every line of a block that is a command of ours, and every one that is quoted in the text."""
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


def resolved(given: list[str]) -> tuple[Any, list[str]]:
    """The command, and what follows its name."""
    command: Any = command_tree()
    while given and hasattr(command, "commands") and given[0] in command.commands:
        command, given = command.commands[given[0]], given[1:]
    return command, given


def wrong(command: str) -> str | None:
    found, rest = resolved(words(command))
    if hasattr(
        found, "commands"
    ):  # a group by itself is a heading; a word behind it that is no command of its own is not
        astray = [word for word in rest if not word.startswith("-") and word.islower() and word.isidentifier()]
        return f"{command}: there is no command {' '.join(astray)!r}" if astray and "," not in command else None
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in rest:
        if found.name == "exec" and not word.startswith("-"):
            break  # what follows the script is the script's
        option = word.partition("=")[0].rstrip(",.;:")
        if option.startswith("-") and option not in known | {"-h", "--help", "-"}:
            return f"{command}: {option} is no option of `headwater {found.name}`"
    return None


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_and_options_exist(page: Path) -> None:
    assert [found for command in commands(page) if (found := wrong(command)) is not None] == []


def test_there_are_commands_to_look_at() -> None:
    assert sum(1 for page in PAGES for _ in commands(page)) > 200


@pytest.mark.parametrize(
    "command",
    ["headwater upstraem x", "headwater upstream x --depht 2", "headwater keys nwe", "headwater exec --jobs a job.py"],
)
def test_what_does_not_exist_is_found(command: str) -> None:
    assert wrong(command) is not None


# -- links ----------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(anchor if anchor not in found else f"{anchor}-1")
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    astray = []
    for link in (first or second for first, second in LINK.findall(prose(page.read_text()))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            astray.append(link)
    assert astray == []


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link, _ in LINK.findall(index.read_text())}
    pages = {page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "decisions"}
    assert pages - linked == {index}


# -- Python ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_is_python_and_names_what_exists(page: Path) -> None:
    for block in blocks(page.read_text()):
        if block.language != "python":
            continue
        tree = ast.parse(block.text, named(page))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    importlib.import_module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module or "")
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hw":
                assert hasattr(importlib.import_module("headwater"), node.attr), f"hw.{node.attr}"
