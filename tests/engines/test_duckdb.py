"""The only access to DuckDB: what a connection cannot do, whatever query it gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.engines.duckdb import DuckDB, DuckDBLimits
from headwater.engines.paths import escape_globs, local_path, parquet_files, require_below
from headwater.engines.sql import checked_text, identifier, integers, render_sql, sql
from headwater.errors import EngineError, EngineFailed, PathNotAllowed, SqlInvalid, SqlRefused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`in` may be read. `out`, beside it, may not, and contains a secret."""
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / name / "t.parquet")
    (tmp_path / "out" / "secret.txt").write_text("canary")
    return tmp_path


@pytest.fixture
def engine(folder: Path) -> Iterator[DuckDB]:
    with DuckDB(folders=[str(folder / "in")]) as opened:
        yield opened


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_allowed_files_can_be_read(engine: DuckDB, folder: Path) -> None:
    query = sql("SELECT sum(a) FROM read_parquet({files})", files=[str(folder / "in" / "t.parquet")])
    assert engine.rows(query) == [(6,)]
    with DuckDB(files=[str(folder / "out" / "t.parquet")]) as other:
        query = sql("SELECT sum(a) FROM read_parquet({files})", files=[str(folder / "out" / "t.parquet")])
        assert other.rows(query) == [(6,)]


OUTSIDE = [
    "SELECT * FROM read_text('{out}/secret.txt')",
    "SELECT * FROM read_blob('{out}/secret.txt')",
    "SELECT * FROM read_csv('{out}/secret.txt')",
    "SELECT * FROM '{out}/t.parquet'",
    "SELECT * FROM read_parquet('{in}/../out/t.parquet')",
    "SELECT * FROM read_parquet('{in}/link.parquet')",
    "SELECT * FROM glob('{out}/*')",
    "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "SELECT getenv('HOME')",
    "SELECT * FROM local_variable",
]
STATEMENTS = [
    "COPY (SELECT 1) TO '{in}/written.csv'",
    "COPY (SELECT content FROM read_text('{out}/secret.txt')) TO '{out}/written.csv'",
    "SELECT 1; COPY (SELECT 1) TO '{in}/written.csv'",
    "SELECT 1; SELECT 2",
    "ATTACH '{in}/written.db'",
    "EXPORT DATABASE '{in}/written'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "SET lock_configuration = false",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CREATE TABLE t AS SELECT 1",
    "",
    ";",
]


@pytest.mark.parametrize("text", [*OUTSIDE, *STATEMENTS])
def test_nothing_else_is_read_written_or_set(engine: DuckDB, folder: Path, text: str) -> None:
    local_variable = pa.table({"a": [1]})
    assert local_variable.num_rows == 1
    (folder / "in" / "link.parquet").symlink_to(folder / "out" / "t.parquet")
    before = everything_in(folder)
    with pytest.raises(EngineError) as refused:
        engine.rows(checked_text(text.replace("{in}", str(folder / "in")).replace("{out}", str(folder / "out"))))
    assert "canary" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert everything_in(folder) == before
    if text in STATEMENTS:
        assert isinstance(refused.value, SqlRefused)


def test_a_temporary_table_is_created_from_one_query(engine: DuckDB) -> None:
    kept = engine.create_temp_table(sql("SELECT unnest({numbers}) AS a", numbers=[5, 6]))
    assert kept.count == 2
    assert engine.rows(sql("SELECT a FROM {table}", table=kept.name)) == [(5,), (6,)]
    assert engine.create_temp_table(sql("SELECT 1 WHERE false")).count == 0
    many = engine.create_integer_table({3, 1, 2})
    assert engine.rows(sql("SELECT value FROM {table}", table=many.name)) == [(1,), (2,), (3,)]
    with pytest.raises(SqlRefused, match="2 statements"):
        engine.create_temp_table(checked_text("SELECT 1; DROP TABLE temp_0"))
    with pytest.raises(SqlRefused, match="SELECT, where CREATE"):
        engine.define(sql("SELECT 1"))


def test_the_limits_are_enforced(tmp_path: Path) -> None:
    with DuckDB(limits=DuckDBLimits(16 * 2**20, 1, 2**20)) as engine:
        settings = "SELECT current_setting('threads'), current_setting('memory_limit')"
        [(threads, memory)] = engine.rows(checked_text(settings))
        assert (threads, memory) == (1, "16.0 MiB")
        with pytest.raises(EngineFailed, match=r"Out of Memory|max_temp_directory_size"):
            engine.rows(sql("SELECT count(*) FROM (SELECT DISTINCT i FROM range(3000000) t(i))"))


def test_spilled_data_is_private_and_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with DuckDB():
        [spill] = tmp_path.iterdir()
        assert spill.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.iterdir())


def test_values_are_bound_and_names_are_quoted(engine: DuckDB) -> None:
    name, value = 'a"; DROP TABLE x; --', "'; DROP TABLE x; --"
    query = sql("SELECT {value} AS {name}", value=value, name=identifier(name))
    assert query.values == (value,)
    answer = engine.result(query)
    assert (answer.columns, answer.rows) == ((name,), [(value,)])
    assert engine.rows(checked_text(render_sql(sql("SELECT {value} = {same}", value=value, same=value)))) == [(True,)]
    for wrong in ("", "\x00"):
        with pytest.raises(SqlRefused):
            identifier(wrong)
    for number in (True, "1", 1.0, 2**63, -(2**63) - 1):
        with pytest.raises(SqlRefused):
            integers([number])  # type: ignore[list-item]
    with pytest.raises(SqlInvalid):
        engine.rows(sql("SELECT {number}", number=10**40))


def test_patterns_in_paths_are_literal(tmp_path: Path) -> None:
    for name, value in (("a[1]*?.parquet", 1), ("a1xx.parquet", 2)):
        pq.write_table(pa.table({"a": [value]}), tmp_path / name)
    file = str(tmp_path / "a[1]*?.parquet")
    for engine in (DuckDB(files=[file]), DuckDB(folders=[str(tmp_path)])):
        with engine:
            query = sql("SELECT a FROM read_parquet({files})", files=escape_globs([file]))
            assert engine.rows(query) == [(1,)]


def test_paths_stay_below_their_roots(folder: Path) -> None:
    inside = folder / "in"
    assert require_below(inside / "t.parquet", [inside]) == (inside / "t.parquet").resolve()
    (inside / "link.parquet").symlink_to(folder / "out" / "t.parquet")
    for path in (inside / ".." / "out", inside / "link.parquet", folder, Path("/etc"), Path("in")):
        with pytest.raises(PathNotAllowed):
            require_below(path, [inside])
    with pytest.raises(PathNotAllowed, match=r"link\.parquet"):
        parquet_files(inside)
    with pytest.raises(PathNotAllowed):
        require_below(inside, [])


@pytest.mark.parametrize(
    "location",
    [
        "",
        "s3://b/x",
        "hdfs:/x",
        "http://127.0.0.1/x",
        "file://host/x",
        "file:",
        "a\x00b",
        "file:/a%00b",
        "\ud800",
        "http://[",
    ],
)
def test_remote_paths_are_refused(location: str) -> None:
    with pytest.raises(PathNotAllowed):
        local_path(location)


def test_paths_as_spark_writes_them() -> None:
    for location in ("file:/a/b c", "file:///a/b%20c", "file://localhost/a/b%20c", "/a/b c"):
        assert local_path(location) == Path("/a/b c")
