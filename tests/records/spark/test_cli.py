"""The commands on the command line: the daily compaction as a worker starts it, queries, and expiry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.cli.app import app
from headwater.cli.failures import run_app
from headwater.cli.records.daily import compact_day
from headwater.store.store import Store
from tests.records.spark.archive_checks import check_archive, hot_count, load
from tests.records.spark.test_compaction import chain
from tests.support import why_missing

pytestmark = pytest.mark.spark


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_app(app, ["records", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_day_is_compacted_queried_and_expired(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    monkeypatch.setenv("HEADWATER_SPARK_MASTER", "local[2]")
    records = chain("root", 3, day=-300)  # long over, whenever this runs
    with Store(sqlite_url) as store:
        load(store, records)
        line = compact_day(sqlite_url, str(tmp_path / "archive"))
        assert line == "Compacted: 3 records archived, 1 trace; 3 hot records expired."
        check_archive(store, records)
        assert hot_count(store) == 0
    code, out, _ = run(capsys, "query", "SELECT record_id, complete FROM archive", "--store", sqlite_url, "--json")
    assert (code, json.loads(out)) == (0, [{"record_id": "root-2", "complete": True}])
    code, out, _ = run(capsys, "query", "SELECT root_id FROM records", "--store", sqlite_url, "--limit", "2")
    assert (code, out.splitlines()[-1]) == (0, "The first 2 rows; there are more.")
    code, _, err = run(capsys, "query", "DROP TABLE hot", "--store", sqlite_url)
    assert (code, err) == (1, "Error: Only a SELECT that writes nothing and runs nothing is allowed.\n")
    code, out, _ = run(capsys, "expire", "--now", "2030-01-01", "--store", sqlite_url, "--json")
    assert (code, json.loads(out)) == (0, {"expired": 0})
    code, _, err = run(capsys, "query", "FROM hot", "--engine", "mysql", "--store", sqlite_url)
    assert (code, err) == (1, "Error: 'mysql' is not an engine. Engines: duckdb, spark.\n")


def test_the_reason_of_a_failed_compaction(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"There is no store at .* Records stay hot until they are archived\."):
        compact_day(f"sqlite:///{tmp_path}/nowhere.db", None)
