"""What a cast may lose, type by type."""

from __future__ import annotations

import pytest

from headwater.evidence.casts import cast_effect, is_lossy

LOSSLESS = [
    ("int", "bigint"),
    ("tinyint", "smallint"),
    ("int", "double"),
    ("smallint", "float"),
    ("float", "double"),
    ("int", "decimal(10,0)"),
    ("bigint", "decimal(21,2)"),
    ("decimal(10,2)", "decimal(12,2)"),
    ("decimal(10,2)", "decimal(13,4)"),
    ("decimal(9,0)", "int"),
    ("date", "timestamp"),
    ("double", "string"),
    ("string", "string collate UNICODE"),
    ("void", "struct<a:int>"),
    ("boolean", "int"),
    ("array<int>", "array<bigint>"),
    ("struct<a:int,b:date>", "struct<a:bigint,b:timestamp>"),
    ("map<string,float>", "map<string,double>"),
]
LOSSY = [
    ("bigint", "int", "narrowing"),
    ("bigint", "double", "precision"),
    ("int", "float", "precision"),
    ("double", "float", "precision"),
    ("double", "int", "truncating"),
    ("decimal(10,2)", "decimal(10,1)", "precision"),
    ("decimal(12,2)", "decimal(10,2)", "narrowing"),
    ("decimal(10,0)", "int", "narrowing"),
    ("decimal(10,2)", "bigint", "truncating"),
    ("decimal(10,2)", "double", "precision"),
    ("int", "decimal(9,0)", "narrowing"),
    ("string", "int", "parsing"),
    ("string", "date", "parsing"),
    ("timestamp", "date", "truncating"),
    ("timestamp", "timestamp_ntz", "truncating"),
    ("string", "varchar(3)", "truncating"),
    ("int", "boolean", "truncating"),
    ("array<struct<a:bigint,b:string>>", "array<struct<a:int,b:string>>", "narrowing"),
    ("map<string,decimal(10,2)>", "map<string,decimal(10,0)>", "precision"),
]


@pytest.mark.parametrize(("source", "target"), LOSSLESS)
def test_lossless_casts(source: str, target: str) -> None:
    assert is_lossy(cast_effect(source, target)) is False


@pytest.mark.parametrize(("source", "target", "change"), LOSSY)
def test_lossy_casts(source: str, target: str, change: str) -> None:
    found = cast_effect(source, target)
    assert (str(found), is_lossy(found)) == (change, True)


@pytest.mark.parametrize(("source", "target"), [("interval day", "int"), ("array<int>", "map<int,int>")])
def test_casts_of_unknown_types_are_unknown(source: str, target: str) -> None:
    assert is_lossy(cast_effect(source, target)) is None
