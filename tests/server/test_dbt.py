"""dbt-ol, as dbt users run it: it sends the events of a run on DuckDB to the server, and the lineage is stored."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.server.running import ServerProcess
from tests.support import why_missing

PROGRAM = ROOT / ".venv-dbt" / "bin" / "dbt-ol"
NAMESPACE = "dbt runs"
FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n",
    "profiles.yml": (
        "shop:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: shop.duckdb, schema: main, threads: 1}\n"
    ),
    "models/orders.sql": (
        "{{ config(materialized='table') }}\nselect 1 as order_id, 'US' as country, 10 as amount\n"
        "union all select 2, 'US', 5\n"
    ),
    "models/revenue.sql": (
        "{{ config(materialized='table') }}\n"
        "select country, sum(amount) as total from {{ ref('orders') }} group by country\n"
    ),
    # Events contain the columns that are documented.
    "models/schema.yml": (
        "version: 2\nmodels:\n"
        "  - name: orders\n    columns: [{name: order_id}, {name: country}, {name: amount}]\n"
        "  - name: revenue\n    columns: [{name: country}, {name: total}]\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if (reason := why_missing("dbt")) is not None or not PROGRAM.exists():
        pytest.skip(f"not run: no dbt: {reason or './dev test installs it'}")
    folder = tmp_path / "shop"
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def run(project: Path, server: ServerProcess) -> subprocess.CompletedProcess[str]:
    # Only variables that any program needs: those for Headwater's own tests are not for dbt.
    mine = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    settings = {
        "OPENLINEAGE_URL": server.url,
        "OPENLINEAGE_NAMESPACE": NAMESPACE,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "PATH": f"{PROGRAM.parent}{os.pathsep}{mine['PATH']}",
    }
    return subprocess.run(
        [str(PROGRAM), "run", "--project-dir", ".", "--profiles-dir", "."],
        cwd=project, env={**mine, **settings}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_dbt_ol_reports_a_run(project: Path, server: ServerProcess, served_url: str) -> None:
    done = run(project, server)
    assert done.returncode == 0, done.stdout + done.stderr
    with Store(served_url) as store:
        settings = {one.job.name: one for one in store.runs()}
        assert settings.keys() == {"dbt-run-shop", "shop.main.shop.orders", "shop.main.shop.revenue"}
        assert {(one.job.namespace, one.state) for one in settings.values()} == {(NAMESPACE, RunState.COMPLETE)}
        whole = settings.pop("dbt-run-shop")
        assert {one.parent_run_id for one in settings.values()} == {whole.run_id}
        assert [one.dataset.name for one in store.datasets()] == ["shop.main.orders", "shop.main.revenue"]
        [node] = store.upstream("shop.main.revenue").nodes
        assert (node.endpoint.name, node.via.run_id) == ("shop.main.orders", settings["shop.main.shop.revenue"].run_id)
        assert store.upstream("shop.main.orders").nodes == ()
    status, found = server.get("/api/v1/lineage/columns?dataset=shop.main.revenue&column=total")
    assert (status, [(node["endpoint"]["name"], node["part"]) for node in found["nodes"]]) == (
        200, [("shop.main.orders", "amount")],
    )  # fmt: skip
