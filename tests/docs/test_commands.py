"""Runs every command of the pages, in the order of the page, after the set-up that the page assumes.

Most commands of docs/tutorial.md and docs/cli.md have tests of their own; those that cannot run are in NOT_RUN.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.stores import RUN_B
from tests.cli.test_documentation import examples
from tests.docs.assumptions import (
    CAPTURED,
    DEMO,
    PIPELINES,
    Step,
    add_second_landing_file,
    capture_orders,
    check_all_producers,
    check_captured_twice,
    check_http_answers,
    check_restored_store,
    database_server,
    demo_store,
    event_producers,
    export_store,
    finished_pipeline,
    move_to_another_machine,
    no_step,
    readme_examples,
    record_requests,
    reference_examples,
    run_airflow_client,
    second_file_is_archived,
    shop_dead_letters,
    signing_key,
    split_checkpoint,
    write_job,
)
from tests.docs.reader import ROOT, SHELL_LANGUAGES, Command, Reader, StepsBefore, commands
from tests.docs.shell import Shell
from tests.docs.test_pages import PAGES
from tests.support import why_missing
from tests.support.console import blocks
from tests.support.daily_revenue import DailyRevenue
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.xdist_group("daily_revenue")  # with all tests that read it: the example runs once

README, CLI, TUTORIAL = "README.md", "docs/cli.md", "docs/tutorial.md"

NOT_RUN = {
    "./dev setup": "installs from the network; it ran before the tests",
    "./dev demo": "installs from the network and runs for minutes",
    "./dev check": "CI runs it",
    "./dev test": "it runs these tests",
    "./dev test --all": "it runs these tests",
    "./dev test --changed": "it runs these tests",
    "./dev test --quick": "it runs these tests",
    "./dev test --stress tests/store/test_runs.py::test_times": "it runs these tests",
    "./dev test --spark 3.5": "creates another venv from the network; CI runs it",
    "./dev describe": "writes ui/openapi.json, which a test compares with the server",
    "./dev bench graph": "a benchmark, which needs an idle machine",
    "./dev lock": "queries the registry for versions",
    ". .venv/bin/activate": "the venv that `./dev demo` creates",
    "pip install 'headwater[server]'": "installs from a registry",
    "OPENLINEAGE_URL=http://127.0.0.1:8321 airflow …": "needs Airflow, which is not installed",
}

RUN_BY_OTHER_TESTS = {
    "headwater exec --namespace prod examples/orders_daily.py": ("docs/cli.md", "tests/capture/test_processes.py"),
    "headwater doctor --spark": ("docs/how-to/databricks-emr.md", "tests/doctor/test_trial.py"),
}
"""Read from the page by another test, which starts Spark anyway: the page, and the test."""

REPLACEMENTS = {
    # names of machines, folders and buckets
    "http://127.0.0.1:8321": "{server}",
    "http://lineage.example.com:8321": "{server}",
    "headwater serve": "headwater serve --port {port}",
    "--host 0.0.0.0": "--host 127.0.0.1",  # a server of a test is reachable only from this machine
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
    # commands that do not end by themselves
    "headwater records work  ": "headwater records work --until-empty  ",
}
"""Replacements for the examples of the pages, in commands and in their output."""


# -- the commands --------------------------------------------------------------------------------


def to_run(page: Path) -> list[Command]:
    listed = list(commands(page))
    name = str(page.relative_to(ROOT))
    if name == TUTORIAL:
        consoles = {
            text for block in blocks(page.read_text()) if block.language == "console" for text, _ in block.commands()
        }
        listed = [command for command in listed if command.text not in consoles]
    if name == CLI:
        done = {text for text, _ in examples()}
        listed = [first for first in first_command_of_each_block(page) if first.text not in done]
    return [command for command in listed if command.without_comment not in NOT_RUN.keys() | RUN_BY_OTHER_TESTS.keys()]


def first_command_of_each_block(page: Path) -> Iterator[Command]:
    """The commands of docs/cli.md: one per block, because its output may contain a `$`."""
    for block in blocks(page.read_text()):
        if block.language == "console":
            text, _, shown = block.text.removeprefix("$ ").partition("\n")
            yield Command(CLI, text, shown)
        elif block.language in SHELL_LANGUAGES:
            yield from (Command(CLI, line, "") for line in block.text.splitlines())


TO_RUN = {str(page.relative_to(ROOT)): listed for page in PAGES if (listed := to_run(page))}


def test_skipped_commands_are_in_the_pages() -> None:
    documented = {command.without_comment for page in PAGES for command in commands(page)}
    assert (NOT_RUN.keys() | RUN_BY_OTHER_TESTS.keys()) - documented == set()
    assert [
        test for page, test in RUN_BY_OTHER_TESTS.values() if Path(page).name not in (ROOT / test).read_text()
    ] == []


def test_replaced_examples_are_in_the_pages() -> None:
    documented = "\n".join(f"{command.text}\n{command.shown}" for listed in TO_RUN.values() for command in listed)
    assert [example for example in REPLACEMENTS if example not in documented] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_in_command_blocks(page: Path) -> None:
    text = page.read_text()
    assert re.findall(r"^(?:[ \t]+```|[ \t]*~~~).*$", text, re.MULTILINE) == [], "blocks in this form are not tested"
    command_line = re.compile(
        r"(\$ |headwater |\./dev |pip |python |curl |openssl |spark-submit |export |[A-Z_]+=\S+ )"
    )
    plain = [
        block.text for block in blocks(text) if block.language not in ("console", "csv", "python", *SHELL_LANGUAGES)
    ]
    assert [line for block in plain for line in block.splitlines() if command_line.match(line)] == []


def test_documented_dev_commands_exist() -> None:
    usage = (ROOT / "dev").read_text().split('"""')[1]
    names = {
        command.without_comment.split()[1]
        for page in PAGES
        for command in commands(page)
        if command.without_comment.startswith("./dev ")
    }
    assert names
    assert [name for name in names if f"./dev {name}" not in usage] == []


# -- running them ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assumptions:
    """The set-up of a page, the steps before commands with such a prefix, and the check of the results."""

    before: Step
    steps: StepsBefore = field(default_factory=dict)
    after: Step = no_step
    in_shared_folder: bool = False


ASSUMPTIONS = {
    README: Assumptions(
        readme_examples,
        {"headwater keys new": export_store("shop.db")},
        in_shared_folder=True,
    ),
    CLI: Assumptions(
        reference_examples,
        {
            "headwater trace": CAPTURED,
            "headwater rows prune": "export HEADWATER_ROWS_LOCATION=lineage/rows",
            "headwater run": PIPELINES,
            "headwater replay": PIPELINES,
            "headwater records": DEMO,
        },
        in_shared_folder=True,
    ),
    "docs/access.md": Assumptions(no_step),
    "docs/assurance.md": Assumptions(signing_key, {"openssl": split_checkpoint}),
    "docs/how-to/airflow-dbt.md": Assumptions(
        event_producers, {"OPENLINEAGE_PARENT_ID": run_airflow_client}, check_all_producers
    ),
    "docs/how-to/audit.md": Assumptions(signing_key, {"headwater verify evidence.json": move_to_another_machine}),
    "docs/how-to/existing-job.md": Assumptions(write_job, after=check_captured_twice),
    "docs/how-to/postgresql.md": Assumptions(no_step, after=check_restored_store),
    "docs/pipelines.md": Assumptions(shop_dead_letters, {"headwater": PIPELINES}, in_shared_folder=True),
    "docs/records.md": Assumptions(
        record_requests, {"headwater records stream landing/ --every": add_second_landing_file}, in_shared_folder=True
    ),
    "docs/rows.md": Assumptions(capture_orders, {"headwater trace": CAPTURED}, in_shared_folder=True),
    "docs/server.md": Assumptions(demo_store, after=check_http_answers),
}

UNTIL_INTERRUPTED = {"headwater records stream landing/ --every 30s": second_file_is_archived}
"""Commands that get Ctrl-C as soon as the check says that they are working. A server runs until its page ends."""

NEED_SPARK = {page for page, assumed in ASSUMPTIONS.items() if assumed.in_shared_folder} | {
    "docs/how-to/airflow-dbt.md",
    "docs/how-to/existing-job.md",
}


@pytest.fixture(scope="module")
def shared_reader(tmp_path_factory: pytest.TempPathFactory, daily_revenue: DailyRevenue) -> Iterator[Reader]:
    """One folder and one Spark for all pages that show the examples; a repeated command runs once."""
    with Shell(tmp_path_factory.mktemp("shop"), ("headwater", "python")) as shell:
        reader = Reader(shell, REPLACEMENTS, ("headwater trace", "headwater why-not", "headwater replay", "python "))
        finished_pipeline(reader, daily_revenue)
        yield reader


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    with Shell(tmp_path) as shell:
        yield Reader(shell, REPLACEMENTS)


@pytest.mark.parametrize("page", TO_RUN)
def test_documented_commands_run(page: str, request: pytest.FixtureRequest) -> None:
    assert page in ASSUMPTIONS, f"Add the set-up of {page} to ASSUMPTIONS, or its commands to NOT_RUN with the reason."
    if page in NEED_SPARK and (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    assumed = ASSUMPTIONS[page]
    reader: Reader = request.getfixturevalue("shared_reader" if assumed.in_shared_folder else "reader")
    if page == "docs/how-to/postgresql.md":
        server: PostgresServer = request.getfixturevalue("postgres")
        request.addfinalizer(lambda: server.drop_database("lineage"))
        database_server(reader, server)
    elif page == CLI:
        reader.values["postgres"] = lambda: str(request.getfixturevalue("postgres_url"))
    assumed.before(reader)
    missing = reader.run_page(TO_RUN[page], assumed.steps, UNTIL_INTERRUPTED)
    assumed.after(reader)
    if missing:
        pytest.skip(f"not run: {'; '.join(missing)}")


def test_assumptions_belong_to_pages_with_commands() -> None:
    assert ASSUMPTIONS.keys() - TO_RUN.keys() == set()
    assert (
        UNTIL_INTERRUPTED.keys() - {command.without_comment for listed in TO_RUN.values() for command in listed}
        == set()
    )
