"""Names are data: shown without effect on the terminal, and answered exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from headwater.cli.text import printable
from tests.cli.running import CONTROL, Run
from tests.cli.stores import event, store_with

ODD_NAMES = [
    "[red]markup[/red]",
    "[/]",
    "two\nlines",
    "\x1b[31mred\x1b[0m",
    "\x9b31mC1",
    "bell\x07tab\tback\\slash",
    "emoji 🌊👨‍👩‍👧:smile:",
    "quote\"'`$(rm)",
    "\u202eright to left",
    "日本語",
    "  ",
    "-dash",
    "#a@b",
    "x" * 500,
]


@pytest.fixture(scope="module")
def odd_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every name and text of an event is odd; one event for each odd name."""
    facet: Any = {"_producer": "p", "_schemaURL": "s"}

    def odd_event(name: str) -> Any:
        how = {"type": "DIRECT", "subtype": name, "description": name}
        source = {"namespace": "src", "name": "all", "field": name, "transformations": [how]}
        partitions = [{"identifier": name, "dimensions": {}}]
        output = {
            "namespace": name,
            "name": name,
            "facets": {
                "schema": facet | {"fields": [{"name": name, "type": name, "description": name}]},
                "ownership": facet | {"owners": [{"name": name}]},
                "tags": facet | {"tags": [{"key": name, "value": name}]},
                "documentation": facet | {"description": name},
                "version": facet | {"datasetVersion": name},
                "symlinks": facet | {"identifiers": [{"namespace": "alias", "name": name, "type": "TABLE"}]},
                "columnLineage": facet | {"fields": {name: {"inputFields": [source]}}},
            },
            "outputFacets": {"subset": facet | {"outputCondition": {"type": "partition", "partitions": partitions}}},
        }
        error = facet | {"message": name, "programmingLanguage": name}
        return event() | {
            "run": {"runId": name, "facets": {"errorMessage": error, name: facet}},
            "job": {"namespace": name, "name": name},
            "inputs": [{"namespace": "src", "name": "all"}],
            "outputs": [output],
        }

    return store_with(tmp_path_factory.mktemp("odd"), [odd_event(name) for name in ODD_NAMES])


def check_odd(run: Run, odd_store: str, names: Sequence[str], command: str, *arguments: str) -> None:
    options = [argument for argument in arguments if argument.startswith("--")]
    operands = [argument for argument in arguments if not argument.startswith("--")]
    text = run(command, *options, "--store", odd_store, "--", *operands)
    assert (text.code, text.err) == (0, "")
    assert not CONTROL.search(text.out)
    answer = run(command, *options, "--store", odd_store, "--json", "--", *operands)
    found = set(strings(answer.json))
    for name in names:
        assert not name.strip() or printable(name) in text.out
        assert name in found


@pytest.mark.parametrize(
    "command", [("datasets",), ("downstream", "src/all"), ("impact", "src/all"), ("runs",), ("audit",)]
)
def test_lists_of_odd_names(run: Run, odd_store: str, command: tuple[str, ...]) -> None:
    check_odd(run, odd_store, ODD_NAMES, *command)


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_names_are_escaped_as_text_and_exact_as_json(run: Run, odd_store: str, name: str) -> None:
    whole = f"{name}/{name}"
    check_odd(run, odd_store, [name], "dataset", whole)
    check_odd(run, odd_store, [name], "upstream", whole, f"--column={name}")
    check_odd(run, odd_store, [name], "upstream", f"alias/{name}", f"--partition={name}")
    check_odd(run, odd_store, [name], "run", name)
    check_odd(run, odd_store, [name], "diff", name, ODD_NAMES[0])


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def test_errors_escape_odd_names(run: Run, odd_store: str) -> None:
    result = run("upstream", "src/all", "--column", "no\x1b[31m\nsuch", "--store", odd_store)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert not CONTROL.search(result.err)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain [b]", "plain [b]"), ("a\nb", r"a\nb"), ("\x1b", r"\x1b"), ("\u202e", r"\u202e"), ("\udcff", r"\udcff")],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown
