"""Values of every type tell rows apart: in ids, between stored rows and those of a query, and in what is pushed."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.errors import RowsRefused
from headwater.rows.identity import id_halves, out_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.rows.answer import Trace

DIFFERENT = {
    "boolean": "true, false, null",
    "tinyint": "0y, 1y, -1y, null",
    "smallint": "0s, 1s, -1s, null",
    "int": "0, 1, -1, null",
    "bigint": "0l, 1l, -1l, 9223372036854775807l, null",
    "float": "float('NaN'), float('-0.0'), float('0'), float('Infinity'), float('-Infinity'), 1.5f, null",
    "double": "double('NaN'), double('-0.0'), double('0'), double('Infinity'), double('-Infinity'), 1.5d, null",
    "decimal": "1.10bd, 1.11bd, 0.00bd, -1.10bd, null",
    "long decimal": "12345678901234567890.1bd, 12345678901234567890.2bd, null",
    "string": "'', ' ', 'a', 'A', 'a ', 'null', null",
    "binary": "x'', x'00', x'0000', null",
    "date": "date'1582-10-04', date'1582-10-10', date'1582-10-15', date'0001-01-01', date'2026-01-01', null",
    "timestamp": "timestamp'2026-01-01 00:00:00.123456', timestamp'2026-01-01 00:00:00.123999', "
    "timestamp'1582-10-10 00:00:00', timestamp'1582-10-20 00:00:00', null",
    "timestamp_ntz": "timestamp_ntz'2026-01-01 00:00:00.123456', timestamp_ntz'2026-01-01 00:00:00.123999', "
    "timestamp_ntz'1582-10-10 00:00:00', null",
    "months": "interval '1' month, interval '2' month, null",
    "seconds": "interval '1.123456' second, interval '1.123999' second, null",
    "interval": "make_interval(0, 1), make_interval(0, 0, 0, 30), make_interval(0, 0, 0, 0, 720), null",
    "array": "array(1, 2), array(2, 1), array(1, null), array(null, 1), array(1), cast(array() as array<int>), null",
    "nested array": "array(array(1, 2), array()), array(array(1), array(2)), array(array(1, 2)), "
    "array(cast(null as array<int>))",
    "struct": "struct(1 as a, null as b), struct(cast(null as int) as a, 1 as b), struct(null as a, null as b), null",
    "struct with times": "struct(timestamp'2026-01-01 00:00:00.123456' as a), "
    "struct(timestamp'2026-01-01 00:00:00.123999' as a), struct(timestamp'1582-10-10 00:00:00' as a)",
    "struct with equal names": "named_struct('a', 1, 'a', 2), named_struct('a', 2, 'a', 1)",
    "array of dates": "array(date'1582-10-10'), array(date'1582-10-20')",
    "array of doubles": "array(double('-0.0')), array(double('0')), array(double('NaN'))",
    "map": "map('a', 1), map('a', null), map('a', 2), map('b', 1), map('a', 1, 'b', 2), "
    "cast(map() as map<string, int>), null",
    "map of structs": "map('a', struct(1 as x)), map('a', struct(cast(null as int) as x)), map('a', null)",
}
DIFFERENT_4 = {
    "collated string": "'a' collate utf8_lcase, 'A' collate utf8_lcase, '' collate utf8_lcase, null",
    "array of collated": "array('a' collate utf8_lcase), array('A' collate utf8_lcase)",
    "variant": "parse_json('1'), parse_json('\"1\"'), parse_json('1.5'), parse_json('{}'), parse_json('[]'), "
    "parse_json('null'), parse_json('{\"a\": null}'), parse_json('\"\"'), "
    "to_variant_object(array(date'2026-01-01')), to_variant_object(array('2026-01-01')), null",
}
DIFFERENT_41 = {"time": "time'10:00:00.123456', time'10:00:00.123999', null"}
DIFFERENT_43 = {
    "geography": "st_geogfromwkb(X'0101000000000000000000F03F0000000000000040'), "
    "st_geogfromwkb(X'01010000000000000000000040000000000000F03F'), null"
}
EQUAL = {
    "float": "float('-0.0'), float('0')",
    "array of doubles": "array(double('-0.0')), array(double('0'))",
    "map": "map('a', 1, 'b', 2), map('b', 2, 'a', 1)",
}
EQUAL_4 = {
    "collated string": "'a' collate utf8_lcase, 'A' collate utf8_lcase",
    "struct of collated": "struct('a' collate utf8_lcase as x), struct('A' collate utf8_lcase as x)",
}


def lists_of(
    spark: SparkSession, lists: dict[str, str], *others: tuple[tuple[int, int], dict[str, str]]
) -> dict[str, str]:
    """Those that this Spark knows."""
    version = tuple(map(int, spark.version.split(".")[:2]))
    return {**lists, **{name: text for since, more in others if version >= since for name, text in more.items()}}


def ids_of(spark: SparkSession, lists: dict[str, str], *, exact: bool) -> dict[str, list[str]]:
    from pyspark.sql import functions as F

    frames = []
    for name, values in lists.items():
        frame = spark.sql(f"select posexplode(array({values})) as (place, v)")
        identified = frame.select(F.lit(name).alias("name"), "place", out_id(frame, ["v"], exact=exact))
        frames.append(identified)
    ids: dict[str, list[str]] = {}
    for row in reduce(lambda left, right: left.union(right), frames).collect():
        ids.setdefault(row["name"], []).append(row["out_id"])
    return ids


def test_values_of_every_type_tell_rows_apart(spark: SparkSession) -> None:
    if tuple(map(int, spark.version.split(".")[:2])) >= (4, 1):
        spark.conf.set("spark.sql.timeType.enabled", "true")
    lists = lists_of(spark, DIFFERENT, ((4, 0), DIFFERENT_4), ((4, 1), DIFFERENT_41), ((4, 3), DIFFERENT_43))
    ids = ids_of(spark, lists, exact=True)
    assert {name: len(set(of_type)) for name, of_type in ids.items()} == {
        name: len(of_type) for name, of_type in ids.items()
    }
    assert min(map(len, ids.values())) > 1


def test_values_that_sql_takes_for_equal_have_one_id_as_keys(spark: SparkSession) -> None:
    lists = lists_of(spark, EQUAL, ((4, 0), EQUAL_4))
    ids = ids_of(spark, lists, exact=False)
    assert {name: len(set(of_type)) for name, of_type in ids.items()} == dict.fromkeys(lists, 1)


def test_what_separates_columns_is_part_of_the_hash(spark: SparkSession) -> None:
    frame = spark.sql(
        "select * from values (null, 1, array(1), array()), (1, null, array(), array(1)), (1, 1, null, array()) "
        "t(a, b, c, d)"
    )
    rows = frame.select(*id_halves(frame, ["a", "b"], exact=True), *id_halves(frame, ["c", "d"], exact=True)).collect()
    assert [len(set(half)) for half in zip(*rows, strict=True)] == [3, 3, 3, 3]


@pytest.fixture(scope="module")
def moments(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows that differ in microseconds, in 1582, in the sign of zero and in a collation's case alone."""
    folder = tmp_path_factory.mktemp("moments")
    for name in ("datetimeRebaseModeInWrite", "int96RebaseModeInWrite"):  # Spark 3.5 refuses dates of 1582 otherwise
        spark.conf.set(f"spark.sql.parquet.{name}", "CORRECTED")
    rows = spark.sql(
        "select id, ts, date(ts) as day, z, array(named_struct('at', ts, 'z', z)) as nested from values "
        "(1, timestamp'2026-01-01 00:00:00.123456', double('0.0')), "
        "(2, timestamp'2026-01-01 00:00:00.123999', double('-0.0')), "
        "(3, timestamp'1582-10-10 00:00:00', double('NaN')), (4, timestamp'1582-10-20 00:00:00', double('1')) "
        "t(id, ts, z)"
    ).coalesce(1)
    rows.write.orc(str(folder / "orc"))
    rows.write.parquet(str(folder / "parquet"))
    return folder


def ids(frame: DataFrame) -> list[int]:
    return sorted(row["id"] for row in frame.collect())


@pytest.mark.parametrize("format", ["orc", "parquet"])
def test_rows_of_a_group_are_those_and_no_others(spark: SparkSession, moments: Path, format: str) -> None:
    source = spark.read.format(format).load(str(moments / format))
    times = source.groupBy("ts", "day", "nested").count()
    old = "1582-10-10 00:00:00" if format == "parquet" else "1582-10-15 00:00:00"  # as ORC stores it
    for moment, expected in (("2026-01-01 00:00:00.123456", [1]), (old, [3])):
        trace = hw.trace(times, where=f"cast(ts as string) = '{moment}'")
        assert ids(trace.sources[format]) == expected
        assert [row[0] for row in trace.rows.selectExpr("cast(ts as string)").collect()] == [moment]
    zeros = hw.trace(source.groupBy("z").count(), where="z = 0 or isnan(z)")
    assert ids(zeros.sources[format]) == [1, 2, 3]


def test_maps_and_variants_in_a_result(spark: SparkSession, moments: Path) -> None:
    columns = ["id", "map('at', ts, 'z', ts) as m"]
    if spark.version >= "4":  # the Python of Spark 3.5 knows no type for an interval
        columns += [
            "make_interval(0, id) as i",
            "parse_json(concat('{\"id\": ', id, '}')) as v",
            "if(id = 1, 'a', 'A') collate utf8_lcase as c",
        ]
    source = spark.read.parquet(str(moments / "parquet"))
    result = source.selectExpr(*columns)
    trace = hw.trace(result, where="id in (1, 3)")
    assert ids(trace.rows.select("id")) == ids(trace.sources["parquet"]) == [1, 3]
    assert _text(trace).count("id=3") == 2
    twice = hw.trace(result.unionAll(result))
    assert (twice.rows.count(), ids(twice.sources["parquet"])) == (4, [1, 2, 3, 4])
    forward = hw.trace_forward(result, source="parquet", where="id = 2")
    assert ids(forward.rows.select("id")) == [2]


def test_columns_with_the_names_that_answers_add(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "f", 5, "o"), (2, "g", 6, "p")], "id int, _FILE string, _row int, out_id string")
    rows.write.parquet(str(tmp_path / "named"))
    source = spark.read.parquet(str(tmp_path / "named"))
    trace = hw.trace(source, where="id = 2")
    assert trace.rows.columns == ["id", "_FILE", "_row", "out_id", "out_id_2"]
    (row,) = trace.sources["named"].collect()
    assert row[:4] == (2, "g", 6, "p")
    assert row["_file_2"].endswith(".parquet")
    assert row.asDict().keys() == {"id", "_FILE", "_row", "out_id", "_file_2", "_row_2"}
    assert "_FILE=g  _row=6  out_id=p" in str(_text(trace))
    forward = hw.trace_forward(source.groupBy("out_id").count(), source="named", where="`_row` = 6")
    assert [row["out_id"] for row in forward.rows.collect()] == ["p"]
    assert forward.source_rows.columns == trace.sources["named"].columns
    twice = hw.trace(source.alias("a").join(source.alias("b"), "id"), where="id = 1")
    assert ids(twice.sources["named"]) == [1]


def test_a_column_of_facts_of_files_and_names_with_dots(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql("select id, struct('x' as file_path, 7 as row_index) as _metadata, id as `a.b` from range(3)")
    rows.coalesce(1).write.parquet(str(tmp_path / "hidden"))
    source = spark.read.parquet(str(tmp_path / "hidden"))
    trace = hw.trace(source.groupBy("`a.b`").count(), where="`a.b` = 2")
    (row,) = trace.sources["hidden"].collect()
    assert (row["id"], row["_row"], row["_metadata"].row_index) == (2, 2, 7)
    assert ids(hw.trace_forward(source, source="hidden", where="`a.b` = 1").rows) == [1]


def test_columns_with_names_of_row_lineage_are_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).selectExpr("id", "id as __HW_s0_file").write.parquet(str(tmp_path / "own"))
    with pytest.raises(RowsRefused, match=r"a column is named __HW_s0_file.*rename it"):
        hw.trace(spark.read.parquet(str(tmp_path / "own")))


def _text(trace: Trace) -> str:
    from rich.console import Console

    from headwater.rows.render import trace_document, trace_tree

    console = Console(width=200)
    with console.capture() as captured:
        console.print(trace_tree(trace_document(trace, 5)))
    return captured.get()
