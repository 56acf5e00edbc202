"""`./dev check`: linter, formatter and types."""

from __future__ import annotations

from tools.arguments import no_more
from tools.console import say, step
from tools.environment import PART_TITLES, only_one_set_up, set_up
from tools.node import npm, page_environment
from tools.page import make_page
from tools.paths import ROOT
from tools.processes import run, tool_environment
from tools.stamps import read_stamp, write_stamp
from tools.venvs import MAIN


def check_command(args: list[str]) -> int:
    no_more(args)
    set_up()
    with only_one_set_up():
        stamp = read_stamp(MAIN)
        make_page(stamp)
        write_stamp(MAIN, stamp)
    typed = [name for name in ("src", "tests", "benchmarks", "tools") if any((ROOT / name).rglob("*.py"))]
    failed = []
    for title, options in {
        "ruff check": [],
        "ruff format --check": [],
        "mypy": [*typed, "dev"],
    }.items():
        with step(title):
            if run([str(MAIN.python), "-m", *title.split(), *options], tool_environment()):
                failed.append(title)
    if "page" in stamp["missing"]:
        say(f"Not checked: {PART_TITLES['page']}: {stamp['missing']['page']}")
    else:
        with step("tsc and biome"):
            if run(npm("run", "--silent", "check"), page_environment()):
                failed.append("tsc and biome")
    say(f"Failed: {', '.join(failed)}" if failed else "All checks passed.")
    return 1 if failed else 0
