"""Answers as text, for people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.cli.text import duration
from tests.cli.running import Run
from tests.cli.stores import FAILED_RUN, REPORT, RUN_A, RUN_B, event, store_with


def test_upstream_of_a_dataset(ask: Run) -> None:
    result = ask("upstream", REPORT)
    assert result.out.splitlines()[0] == "s3://shop-lake/gold/daily_revenue"
    assert "└── s3://shop-lake/silver/orders_enriched\n" in result.out
    assert "derived from, declared by erp/export_fx_rates, no run\n" in result.out
    assert re.search(r"filtered from \(FILTER, TRANSFORMATION\), by shop/clean_orders, run 01a1d2a2-\S+\n", result.out)
    assert result.out.endswith("\n6 datasets, deepest 3 hops.\n")


def test_columns_show_their_dependency(ask: Run) -> None:
    out = ask("upstream", REPORT, "--column", "revenue").out
    assert "raw/fx_rates#rate  direct\n" in out
    assert "raw/orders#status  indirect\n" in out
    assert "erp.public.fx_rates (as a whole)  unknown\n" in out
    assert "columns not recorded" in out
    assert "17 columns in 6 datasets, deepest 3 hops.\n" in out
    masked = ask("downstream", "raw/customers", "--column", "email", "--depth", "1").out
    assert "TRANSFORMATION, masked, sha2(lower(email), 256), by shop/enrich_orders, run " in masked


def test_a_truncated_answer_says_so(ask: Run) -> None:
    assert ask("upstream", REPORT, "--depth", "2").out.endswith("\nCut at depth 2: there is more.\n")
    assert "Cut at" not in ask("upstream", REPORT, "--depth", "3").out


def test_as_of_looks_back(ask: Run) -> None:
    assert "fx_rates" in ask("upstream", REPORT).out
    before = ask("upstream", REPORT, "--as-of", "2026-11-13").out
    assert "fx_rates" not in before
    assert before.endswith("4 datasets, deepest 3 hops, as of 2026-11-13 00:00:00 UTC.\n")


def test_an_empty_answer(ask: Run) -> None:
    assert ask("upstream", "raw/orders").out == "s3://shop-lake/raw/orders\nNothing upstream is recorded.\n"
    empty = ask("downstream", "raw/orders", "--as-of", "2020-01-01").out
    assert "Nothing downstream is recorded, as of 2020-01-01 00:00:00 UTC.\n" in empty
    assert "reaches no other asset.\n" in ask("impact", REPORT).out
    assert ask("datasets", "zebra").out == "No matching datasets.\n"
    assert ask("runs", "--state", "ABORT").out == "No matching runs.\n"
    assert ask("audit", "--actor", "nobody").out == "No matching entries.\n"


def test_an_empty_store_says_so(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [])
    assert run("datasets", "--store", url).out == "The store holds no datasets yet.\n"
    assert run("runs", "--store", url).out == "The store holds no runs yet.\n"
    assert run("audit", "--store", url).out == "The audit log is empty.\n"
    assert run("verify", "--store", url).out.startswith("The audit log holds: 0 entries.\nNot covered: ")
    for command in ("datasets", "runs", "audit"):
        assert run(command, "--store", url, "--json").out == "[]\n"
    assert run("upstream", "a", "--store", url).err.endswith("The store holds no datasets yet.\n")


def test_a_cycle_is_named(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(1, ["a"], ["b"]), event(2, ["b"], ["a"])])
    out = run("upstream", "b", "--store", url).out
    assert "1 dataset, deepest 1 hop.\n" in out
    assert "It is part of a cycle" in out


def test_a_deep_answer_is_a_list(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(n, [f"t{n}"], [f"t{n + 1}"]) for n in range(120)])
    out = run("downstream", "t0", "--store", url).out
    assert re.search(r"^2 +lake/t2 +lake/t1 +derived from, by jobs/job1, run \S+$", out, re.MULTILINE)
    assert out.endswith("100 datasets, deepest 100 hops.\nCut at depth 100: there is more.\n")


def test_a_job_at_the_end_of_an_edge(run: Run, tmp_path: Path) -> None:
    facet = {"_producer": "p", "_schemaURL": "s"}
    source = {"type": "JOB", "namespace": "elsewhere", "name": "generator"}
    target = {"type": "DATASET", "namespace": "lake", "name": "b", "inputs": [source]}
    job = {"namespace": "jobs", "name": "j", "facets": {"lineage": facet | {"entries": [target]}}}
    url = store_with(tmp_path, [event(inputs=(), job=job)])
    assert "elsewhere/generator (a job)\n" in run("upstream", "b", "--store", url).out


def test_a_dataset_in_full(ask: Run) -> None:
    out = ask("dataset", REPORT).out
    for words in (
        "kind        table",
        "owner       team:finance",
        "tags        report, tier=1",
        "aliases     hive://metastore:9083/shop.daily_revenue",
        "  revenue  decimal(18,2)",
        "4 partitions",
        "current",
    ):
        assert words in out


def test_a_list_at_its_limit_says_so(ask: Run) -> None:
    assert ask("datasets", "--limit", "8").out.endswith("Stopped at 8 rows; --limit gives more.\n")
    assert "Stopped" not in ask("datasets", "--limit", "9").out


def test_impact_names_columns_owners_and_readers(ask: Run) -> None:
    out = ask("impact", "raw/orders", "--column", "amount").out
    assert out.startswith("A change of s3://shop-lake/raw/orders#amount reaches 4 assets:\n")
    assert "columns     revenue (direct)" in out
    assert "columns     every column (unknown)" in out
    assert "owner       team:finance" in out
    assert "Also read by jobs without outputs\n  bi/revenue_dashboard\n" in out


def test_a_failed_run(ask: Run) -> None:
    out = ask("run", FAILED_RUN).out
    assert "state    FAIL\n" in out
    assert "error    Job aborted: executor 3 lost" in out
    assert "The run did not complete, so it adds no lineage." in out


def test_a_run_with_children(ask: Run) -> None:
    children = ask("runs", "--job", "shop_daily", "--json").json
    out = ask("run", children[0]["run_id"]).out
    assert "Child runs" in out
    assert "shop/daily_revenue" in out
    assert "Reads\n  Nothing.\n" in out


def test_a_diff(ask: Run) -> None:
    out = ask("diff", RUN_A, RUN_B).out
    assert "added    s3://shop-lake/raw/fx_rates  the whole dataset\n" in out
    assert "A  direct, AGGREGATION, sum(amount)\n" in out
    assert "B  direct, AGGREGATION, sum(amount * coalesce(rate, 1))\n" in out
    assert "No differences: same inputs" in ask("diff", RUN_A, RUN_A).out
    removed = ask("diff", RUN_B, RUN_A).out
    assert "removed  s3://shop-lake/raw/fx_rates  the whole dataset\n" in removed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.45, "450 ms"),
        (12.34, "12.3 s"),
        (59, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (270_000, "3 d 3 h"),
        (-5, "-5 s"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    from datetime import timedelta

    assert duration(timedelta(seconds=seconds)) == words
