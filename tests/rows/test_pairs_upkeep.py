"""Pair tables over time: samples, digests, lookup without Spark, and removing what is old."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from headwater.cli.app import app
from headwater.engines.paths import local_path
from headwater.errors import RowsError
from headwater.rows.pairs.layout import PRUNED_FILE
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.write import PairTablesResult, write_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = "SELECT k, count(*) AS n, sum(id) AS total FROM numbers GROUP BY k"


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers") / "data"
    spark.range(2000).selectExpr("id", "id % 7 AS k").repartition(3).write.parquet(str(folder))
    return folder


def kept(
    spark: SparkSession, data: Path, folder: Path, run: str = "a-run", sample: float | None = None
) -> PairTablesResult:
    spark.read.parquet(str(data)).createOrReplaceTempView("numbers")
    plan = spark.sql(QUERY)._jdf.queryExecution().analyzed()
    return write_pairs(spark, plan, str(folder), run, 0, sample)


def sampled_names(written: PairTablesResult) -> set[tuple[str, int]]:
    """All sampled source rows, by the name of their file."""
    with PairTables(written.facet) as tables:
        found = tables.sources([out.id for out in tables.output_rows()])[0]
        return {(Path(file).name, row) for file, row in found.rows()}


def test_a_sample_takes_the_same_rows_in_every_run_and_place(
    spark: SparkSession, numbers: Path, tmp_path: Path
) -> None:
    first = sampled_names(kept(spark, numbers, tmp_path, "first", 0.1))
    assert 100 < len(first) < 320  # of 2,000
    moved = tmp_path / "elsewhere" / "deeper"
    moved.parent.mkdir()
    subprocess.run(["cp", "-r", str(numbers), str(moved)], check=True)
    assert sampled_names(kept(spark, moved, tmp_path, "second", 0.1)) == first
    whole = sampled_names(kept(spark, numbers, tmp_path, "third"))
    assert first < whole
    assert len(whole) == 2000
    more = sampled_names(kept(spark, numbers, tmp_path, "fourth", 0.3))
    assert first < more < whole


def test_a_sample_says_that_it_is_one(spark: SparkSession, numbers: Path, tmp_path: Path) -> None:
    facet = kept(spark, numbers, tmp_path, sample=0.1).facet
    assert (facet["mode"], facet["sample"], facet["complete"]) == ("sampled", 0.1, False)
    assert facet["rows"] == 7


def test_the_facet_tells_all_that_a_lookup_needs(spark: SparkSession, numbers: Path, tmp_path: Path) -> None:
    facet = json.loads(json.dumps(kept(spark, numbers, tmp_path).facet))
    (source,) = facet["sources"]
    assert source["dataset"]["name"] == str(numbers)
    assert (source["occurrence"], source["grain"], source["pairs"]) == (0, "exact", 2000)
    assert set(facet["reverseJoinLocations"]) == {"block-1/source-0"}
    with PairTables(facet) as tables:
        (out,) = tables.output_rows("k = 3")
        assert tables.sources([out.id])[0].count == len(range(3, 2000, 7))
        tables.verify()


def test_tables_that_were_changed_are_found_out(spark: SparkSession, numbers: Path, tmp_path: Path) -> None:
    written = kept(spark, numbers, tmp_path)
    (file,) = list((local_path(written.location) / "block-1").glob("part-00000-*.parquet"))
    content = bytearray(file.read_bytes())
    content[10] ^= 1
    file.write_bytes(content)
    with PairTables(written.facet) as tables, pytest.raises(RowsError, match="block-1"):
        tables.verify()


def test_a_lookup_needs_no_spark(spark: SparkSession, numbers: Path, tmp_path: Path) -> None:
    written = kept(spark, numbers, tmp_path)
    script = """if True:
        import sys
        from headwater.rows.pairs.lookup import PairTables
        with PairTables(sys.argv[1]) as tables:
            (out,) = tables.output_rows("k = 3")
            rows = tables.source_rows(tables.sources([out.id])[0])
        assert not {"pyspark", "py4j", "pyarrow", "pandas"} & set(sys.modules)
        print(sum(row["id"] for row in rows))
    """
    place = str(local_path(written.location))
    answer = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, check=True)
    assert int(answer.stdout) == sum(range(3, 2000, 7))


@pytest.fixture
def three_runs(tmp_path: Path) -> Path:
    """Two folders of ours, one of them a hundred days old, and as old a folder of somebody else."""
    entry = {"format": "headwater-pairs-1", "mode": "full", "rows": 1, "pairs": 2, "bytes": 3, "location": "x"}
    for name, days in (("old", 100), ("new", 1), ("other", 100)):
        folder = tmp_path / name / "0"
        folder.mkdir(parents=True)
        (folder / "data.parquet").write_bytes(b"")
        if name != "other":
            mark = folder / "headwater-pairs.json"
            mark.write_text(json.dumps(entry))
            os.utime(mark, (time.time() - days * 86_400,) * 2)
    return tmp_path


def run(*arguments: str) -> Any:
    answer = CliRunner().invoke(app, ["rows", *arguments, "--json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.output)


def test_list_and_prune(three_runs: Path) -> None:
    place = ("--location", str(three_runs))
    assert [each["run_id"] for each in run("list", *place)] == ["old", "new"]
    for extra, left in ((["--dry-run"], {"old", "new", "other"}), ([], {"new", "other", PRUNED_FILE})):
        assert [each["run_id"] for each in run("prune", "--older-than", "30d", *place, *extra)] == ["old"]
        assert {folder.name for folder in three_runs.iterdir()} == left
    assert run("prune", "--older-than", "30d", *place) == []
    for name in (three_runs / "old" / "0", f"{three_runs}/old/0"):
        with pytest.raises(
            RowsError, match=r"no pair tables at .*: those of \d{4}-.* were pruned on \d{4}-.*trace old"
        ):
            PairTables(name)
    answer = CliRunner().invoke(app, ["rows", "lookup", f"{three_runs}/old/0"])
    assert answer.exit_code != 0
    with pytest.raises(RowsError, match=r"no pair tables at [^ ]*/never/0$"):
        PairTables(three_runs / "never" / "0")


@pytest.mark.parametrize("wrong", [["prune", "--older-than", "soon"], ["list", "--location", "/nowhere/at/all"]])
def test_mistakes_end_in_one_line(wrong: list[str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "headwater", "rows", *wrong], capture_output=True, text=True, check=False
    )
    assert answer.returncode != 0
    assert "Traceback" not in answer.stderr
