"""Every command of the pages is run, in the order in which it stands there, on what the page takes for granted.

Those of docs/tutorial.md and most of docs/cli.md have tests of their own; what cannot be run is in NOT_RUN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.stores import RUN_B
from tests.cli.test_documentation import examples
from tests.docs.presumed import (
    CAPTURED,
    DEMO,
    PIPELINES,
    Step,
    a_database_server,
    a_job,
    airflow_tells,
    all_have_told,
    another_lands,
    asked_over_http,
    at_another_machine,
    captured_orders,
    captured_twice,
    demo,
    has_landed,
    letters_of_a_shop,
    moved,
    nothing,
    pipeline_that_ran,
    requests_to_send,
    senders,
    signed_by_hand,
    signing,
    store,
    what_the_readme_shows,
    what_the_reference_shows,
)
from tests.docs.reader import ROOT, TYPED, Command, Meanwhile, Reader, commands
from tests.docs.shell import Shell
from tests.docs.test_pages import PAGES
from tests.support import why_missing
from tests.support.console import blocks
from tests.support.daily_revenue import DailyRevenue
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.xdist_group("daily_revenue")  # with all who look at it: the example runs once

README, CLI, TUTORIAL = "README.md", "docs/cli.md", "docs/tutorial.md"

NOT_RUN = {
    "./dev setup": "installs from the network; it has run before any test does",
    "./dev demo": "installs from the network, and runs for minutes",
    "./dev check": "CI runs it",
    "./dev test": "it is what runs this",
    "./dev test --all": "it is what runs this",
    "./dev test --changed": "it is what runs this",
    "./dev test --quick": "it is what runs this",
    "./dev test --stress tests/store/test_runs.py::test_times": "it is what runs this",
    "./dev test --spark 3.5": "makes another venv from the network; CI runs it",
    "./dev describe": "writes ui/openapi.json, which a test compares with the server",
    "./dev bench graph": "a benchmark, which wants the machine for itself",
    "./dev lock": "asks the registry for versions",
    ". .venv/bin/activate": "the venv that `./dev demo` makes",
    "pip install 'headwater[server]'": "installs from a registry",
    "OPENLINEAGE_URL=http://127.0.0.1:8321 airflow …": "a scheduler of Airflow, which is not installed",
}

ELSEWHERE = {
    "headwater exec --namespace prod examples/orders_daily.py": ("docs/cli.md", "tests/capture/test_processes.py"),
    "headwater doctor --spark": ("docs/how-to/databricks-emr.md", "tests/doctor/test_trial.py"),
}
"""Taken from the page by a test that starts Spark for it anyway."""

STANDS_FOR = {
    # names of machines, folders and buckets
    "http://127.0.0.1:8321": "{server}",
    "http://lineage.example.com:8321": "{server}",
    "headwater serve": "headwater serve --port {port}",
    "--host 0.0.0.0": "--host 127.0.0.1",  # nothing of a test can be reached from elsewhere
    "postgresql://lineage@db.example.com/lineage": "{postgres}",
    "postgresql://localhost/lineage": "{postgres}",
    "sqlite:////srv/lineage/lineage.db": "sqlite:///{folder}/srv/lineage.db",
    "file//shop/": "file/{folder}/",
    "/mnt/elsewhere": "{folder}/elsewhere",
    "s3://audit-checkpoints/lineage": "{folder}/elsewhere",
    # runs, keys
    "01a1e28a-d93f-7dd1-b00c-b29088ff4820": "{daily_run}",
    "01a1e28a-cd41-73ba-b70d-cdb918a76292": "{priced_run}",
    "01a1e327-d127-74d2-af66-dc10f279f775": "{pipeline_run}",
    "01a1e31e-2755-7911-ba64-98d94b3eb678": "{shop_run}",
    "01a1e31e-cf71-7f01-adba-7961ca60b45f": "...",  # the replay's own
    "RUN_ID --out": f"{RUN_B} --out",
    "VKEY": "{vkey}",
    "headwater.log/d8dc38f9+a489a203+AQ2t": "{vkey}",
    "hw_20e2d65a75e6_LvO5FEkK9UXm7JSe6NGcOr0acqlAtzPeGlQObTHJHdM": "hw_...",
    "Key 20e2d65a75e6": "Key ...",
    "=hw_…": "={secret}",
    # what does not end by itself
    "headwater records work  ": "headwater records work --until-empty  ",
}
"""What is an example on the pages, in commands and in what they answer, and what it is here."""


# -- which commands there are ---------------------------------------------------------------------


def to_run(page: Path) -> list[Command]:
    found = list(commands(page))
    name = str(page.relative_to(ROOT))
    if name == TUTORIAL:
        consoles = {
            text for block in blocks(page.read_text()) if block.language == "console" for text, _ in block.commands()
        }
        found = [command for command in found if command.text not in consoles]
    if name == CLI:
        done = {text for text, _ in examples()}
        found = [first for first in first_of_each(page) if first.text not in done]
    return [command for command in found if command.bare not in NOT_RUN.keys() | ELSEWHERE.keys()]


def first_of_each(page: Path) -> Iterator[Command]:
    """Of docs/cli.md, where what a command answers may have a `$` in it: it is one for each block."""
    for block in blocks(page.read_text()):
        if block.language == "console":
            text, _, shown = block.text.removeprefix("$ ").partition("\n")
            yield Command(CLI, text, shown)
        elif block.language in TYPED:
            yield from (Command(CLI, line, "") for line in block.text.splitlines())


TO_RUN = {str(page.relative_to(ROOT)): found for page in PAGES if (found := to_run(page))}


def test_what_is_not_run_is_still_there() -> None:
    there = {command.bare for page in PAGES for command in commands(page)}
    assert (NOT_RUN.keys() | ELSEWHERE.keys()) - there == set()
    assert [test for page, test in ELSEWHERE.values() if Path(page).name not in (ROOT / test).read_text()] == []


def test_what_stands_for_something_is_still_there() -> None:
    there = "\n".join(f"{each.text}\n{each.shown}" for found in TO_RUN.values() for each in found)
    assert [example for example in STANDS_FOR if example not in there] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_is_in_a_block_that_says_so(page: Path) -> None:
    text = page.read_text()
    assert re.findall(r"^(?:[ \t]+```|[ \t]*~~~).*$", text, re.MULTILINE) == [], "no such block is looked into"
    looks_so = re.compile(r"(\$ |headwater |\./dev |pip |python |curl |openssl |spark-submit |export |[A-Z_]+=\S+ )")
    plain = [block.text for block in blocks(text) if block.language not in ("console", "csv", "python", *TYPED)]
    assert [line for block in plain for line in block.splitlines() if looks_so.match(line)] == []


def test_dev_knows_what_is_said_of_it() -> None:
    usage = (ROOT / "dev").read_text().split('"""')[1]
    said = {
        command.bare.split()[1] for page in PAGES for command in commands(page) if command.bare.startswith("./dev ")
    }
    assert said
    assert [name for name in said if f"./dev {name}" not in usage] == []


# -- and they are run -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Presumed:
    """What there is before the page begins, what happens before a command that begins so, and what came of it all."""

    before: Step
    meanwhile: Meanwhile = field(default_factory=dict)
    after: Step = nothing
    at_the_shop: bool = False


PRESUMED = {
    README: Presumed(
        what_the_readme_shows,
        {"headwater keys new": store("shop.db")},
        at_the_shop=True,
    ),
    CLI: Presumed(
        what_the_reference_shows,
        {
            "headwater trace": CAPTURED,
            "headwater rows prune": "export HEADWATER_ROWS_LOCATION=lineage/rows",
            "headwater run": PIPELINES,
            "headwater replay": PIPELINES,
            "headwater records": DEMO,
        },
        at_the_shop=True,
    ),
    "docs/access.md": Presumed(nothing),
    "docs/assurance.md": Presumed(signing, {"openssl": signed_by_hand}),
    "docs/how-to/airflow-dbt.md": Presumed(senders, {"OPENLINEAGE_PARENT_ID": airflow_tells}, all_have_told),
    "docs/how-to/audit.md": Presumed(signing, {"headwater verify evidence.json": at_another_machine}),
    "docs/how-to/existing-job.md": Presumed(a_job, after=captured_twice),
    "docs/how-to/postgresql.md": Presumed(nothing, after=moved),
    "docs/pipelines.md": Presumed(letters_of_a_shop, {"headwater": PIPELINES}, at_the_shop=True),
    "docs/records.md": Presumed(
        requests_to_send, {"headwater records stream landing/ --every": another_lands}, at_the_shop=True
    ),
    "docs/rows.md": Presumed(captured_orders, {"headwater trace": CAPTURED}, at_the_shop=True),
    "docs/server.md": Presumed(demo, after=asked_over_http),
}

ENDLESS = {"headwater records stream landing/ --every 30s": has_landed}
"""By what it is seen that it is at work; then it gets Ctrl-C. A server goes on until its page ends."""

ON_SPARK = {page for page, its in PRESUMED.items() if its.at_the_shop} | {
    "docs/how-to/airflow-dbt.md",
    "docs/how-to/existing-job.md",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, daily_revenue: DailyRevenue) -> Iterator[Reader]:
    """One folder and one Spark for all pages that show the examples: whoever asks the same hears the same."""
    with Shell(tmp_path_factory.mktemp("shop"), ("headwater", "python")) as shell:
        reader = Reader(shell, STANDS_FOR, ("headwater trace", "headwater why-not", "headwater replay", "python "))
        pipeline_that_ran(reader, daily_revenue)
        yield reader


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[Reader]:
    with Shell(tmp_path) as shell:
        yield Reader(shell, STANDS_FOR)


@pytest.mark.parametrize("page", TO_RUN)
def test_what_the_page_says_can_be_done(page: str, request: pytest.FixtureRequest) -> None:
    assert page in PRESUMED, f"Say in PRESUMED what {page} takes for granted, or in NOT_RUN why it cannot be run."
    if page in ON_SPARK and (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    its = PRESUMED[page]
    reader: Reader = request.getfixturevalue("shop" if its.at_the_shop else "somebody")
    if page == "docs/how-to/postgresql.md":
        server: PostgresServer = request.getfixturevalue("postgres")
        request.addfinalizer(lambda: server.drop_database("lineage"))
        a_database_server(reader, server)
    elif page == CLI:
        reader.values["postgres"] = lambda: str(request.getfixturevalue("postgres_url"))
    its.before(reader)
    missing = reader.follows(TO_RUN[page], its.meanwhile, ENDLESS)
    its.after(reader)
    if missing:
        pytest.skip(f"not run: {'; '.join(missing)}")


def test_no_page_is_presumed_that_has_nothing_to_run() -> None:
    assert PRESUMED.keys() - TO_RUN.keys() == set()
    assert ENDLESS.keys() - {command.bare for found in TO_RUN.values() for command in found} == set()
