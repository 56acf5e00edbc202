"""The demo: its events follow the specification, its story is correct, and the commands that it suggests work."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.examples import make_orders, orders_events
from headwater.model.lineage import Dependency, Origin
from headwater.model.runs import RunState
from tests.cli.running import run_here

SPEC = Path(__file__).parents[3] / "shared" / "data" / "openlineage" / "spec"
REPORT = "shop.daily_revenue"
URL = "sqlite:///.headwater/demo.db"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("HEADWATER_STORE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run_command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run_here(list(arguments))
        return code, *capsys.readouterr()

    return run_command


@pytest.fixture(scope="module")
def lineage() -> Iterator[Any]:
    with hw.connect("memory://") as store:
        store.ingest_many(orders_events())
        yield store


# -- its events -------------------------------------------------------------------------------------------------------


def test_the_file_is_up_to_date() -> None:
    assert b"\n".join(orders_events()).decode() + "\n" == make_orders.text(), (
        "orders.jsonl is not up to date: python -m headwater.examples.make_orders"
    )


def test_every_event_is_accepted_without_a_problem() -> None:
    with hw.connect("memory://") as store:
        receipts = store.ingest_many(orders_events())
    assert [receipt.problems for receipt in receipts] == [()] * len(receipts)
    assert not any(receipt.duplicate for receipt in receipts)


def test_every_event_and_facet_follows_the_specification() -> None:
    if not SPEC.exists():
        pytest.skip("not run: the OpenLineage schemas are not here (../shared/data/openlineage/spec)")
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = [json.loads(file.read_text()) for file in sorted(SPEC.rglob("*.json"))]
    # A registry that holds everything and fetches nothing.
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )

    def check(url: str, value: Any) -> None:
        validator = Draft202012Validator(
            {"$ref": url}, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        assert [error.message for error in validator.iter_errors(value)] == []

    checked = set()
    for body in orders_events():
        event = json.loads(body)
        check("https://openlineage.io/spec/2-0-2/OpenLineage.json", event)
        check(event["schemaURL"], event)
        for facet in facets(event):
            check(facet["_schemaURL"], facet)
            checked.add(facet["_schemaURL"].split("/")[-1])
    assert {"ColumnLineageDatasetFacet", "ParentRunFacet", "OutputSubsetOutputDatasetFacet"} <= checked


def facets(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "_schemaURL" in value:
            yield value
        for item in value.values():
            yield from facets(item)
    elif isinstance(value, list):
        for item in value:
            yield from facets(item)


def test_the_story_is_complete(lineage: Any) -> None:
    kinds = {next(key for key in ("run", "job", "dataset") if key in json.loads(e)) for e in orders_events()}
    assert kinds == {"run", "job", "dataset"}
    nodes = lineage.upstream(REPORT, column="revenue").nodes
    assert {node.dependency for node in nodes} == set(Dependency)
    assert {node.via.origin for node in nodes} == {Origin.RUN, Origin.JOB}
    assert any(node.via.masking for node in lineage.downstream("raw/customers", column="email").nodes)
    assert [run.job.name for run in lineage.runs(state=RunState.FAIL)] == ["enrich_orders"]
    assert len(lineage.dataset(REPORT).partitions) == 4
    parents = {run.parent_run_id for run in lineage.runs(namespace="shop")}
    assert parents == {run.run_id for run in lineage.runs(job="shop_daily")}
    assert [str(job) for job in lineage.impact("raw/orders").readers] == ["bi/revenue_dashboard"]
    assert {dataset.owner for dataset in lineage.datasets(tag="pii")} == {"team:crm"}


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_demo_prints_its_story(run: Run) -> None:
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    for words in (
        "52 events of a small shop's pipeline are now in sqlite:///.headwater/demo.db.",
        "Which datasets are in the store?",
        "Where does the revenue report come from?",
        "6 datasets, deepest 3 hops.",
        "as of 2026-11-13 00:00:00 UTC.",
        "B  direct, AGGREGATION, sum(amount * coalesce(rate, 1))",
        "A change of s3://shop-lake/raw/orders#amount reaches 4 assets:",
        "executor 3 lost",
        "The audit log holds: 52 entries.",
        "Try these:",
    ):
        assert words in out
    before_the_change = out.split("Then the job did not use exchange rates:")[1].split("What exactly changed")[0]
    assert "fx_rates" not in before_the_change


def test_every_command_it_shows_works(run: Run) -> None:
    _, out, _ = run("demo")
    asked = re.findall(r"^\$ (headwater .*)$", out, re.MULTILINE)
    offered = re.findall(r"^  (headwater .*)$", out.split("Try these:")[1], re.MULTILINE)
    assert len(asked) == 9
    assert len(offered) == 6
    for command in [*asked, *offered]:
        code, answer, err = run(*shlex.split(command)[1:])
        assert (code, err) == (0, ""), command
        assert answer
        if command in asked:  # and it answers what the demo showed
            assert "".join(f"  {line}".rstrip() + "\n" for line in answer.splitlines()) in out


def test_the_demo_as_json(run: Run) -> None:
    code, out, err = run("demo", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["store"] == URL
    assert answer["events"] == 52
    assert set(answer["answers"]) == {
        "as_of",
        "datasets",
        "diff",
        "failed_run",
        "impact",
        "runs",
        "upstream",
        "upstream_column",
        "verify",
    }
    assert answer["answers"]["verify"]["holds"] is True


def test_the_demo_recreates_its_own_store_only(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / ".headwater"
    folder.mkdir()
    for name in ("lineage.db", "demo.db", "demo.db-wal", "demo.db-shm", "demo.db-notes"):
        (folder / name).write_text("not a database")
    for _ in range(2):
        code, out, err = run("demo", "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["answers"]["verify"]["entries"] == 52
    assert (folder / "lineage.db").read_text() == "not a database"
    assert (folder / "demo.db-notes").read_text() == "not a database"


def test_the_demo_refuses_a_store_in_use(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_STORE", "sqlite:///in-use.db")
    assert run("demo")[0] == 0
    assert not (tmp_path / "in-use.db").exists()
    code, out, _ = run("demo", "--store", "sqlite:///chosen.db")
    assert code == 0
    assert (tmp_path / "chosen.db").exists()
    assert "--store sqlite:///chosen.db" in out
    assert run("demo", "--store", "sqlite:///chosen.db")[0] == 0  # all duplicates, and the same story


def test_a_failing_demo_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".headwater" / "demo.db").mkdir(parents=True)
    code, out, err = run("demo")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Error: Cannot remove the earlier demo store .headwater/demo.db: ")
