"""From Catalyst's class names to the names of SQL functions and types."""

from __future__ import annotations

import re

_FUNCTIONS = {
    "ArrayAggregate": "aggregate",
    "ArrayExists": "exists",
    "ArrayFilter": "filter",
    "ArrayForAll": "forall",
    "ArrayTransform": "transform",
    "ApproximatePercentile": "percentile_approx",
    "Average": "avg",
    "CollationAwareMurmur3Hash": "hash",
    "CollationAwareXxHash64": "xxhash64",
    "CreateArray": "array",
    "CreateMap": "map",
    "CreateNamedStruct": "named_struct",
    "DateAdd": "date_add",
    "DateDiff": "datediff",
    "DateFormatClass": "date_format",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "InitCap": "initcap",
    "JsonToStructs": "from_json",
    "LengthOfJsonArray": "json_array_length",
    "MonotonicallyIncreasingID": "monotonically_increasing_id",
    "Murmur3Hash": "hash",
    "NTile": "ntile",
    "NullIf": "nullif",
    "NthValue": "nth_value",
    "ParseToDate": "to_date",
    "ParseToTimestamp": "to_timestamp",
    "PosExplode": "posexplode",
    "RegExpExtract": "regexp_extract",
    "RegExpReplace": "regexp_replace",
    "SparkPartitionID": "spark_partition_id",
    "StringInstr": "instr",
    "StringLPad": "lpad",
    "StringLocate": "locate",
    "StringRPad": "rpad",
    "StringRepeat": "repeat",
    "StringReplace": "replace",
    "StringSplit": "split",
    "StringTrim": "trim",
    "StringTrimLeft": "ltrim",
    "StringTrimRight": "rtrim",
    "StructsToJson": "to_json",
    "TruncDate": "trunc",
    "TruncTimestamp": "date_trunc",
    "XxHash64": "xxhash64",
}
DEFAULTS = {
    "Mask": ("'X'", "'x'", "'n'", "NULL"),
    "RegExpReplace": ("1",),
    "StringSplit": ("-1",),
}
"""Arguments at the end that Spark adds if they are omitted."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_TYPES = {"integer": "INT", "long": "BIGINT", "short": "SMALLINT", "byte": "TINYINT"}


def function_name(class_name: str) -> str:
    """`CollectList` is collect_list; exceptions are listed."""
    return _FUNCTIONS.get(class_name) or _WORD.sub("_", class_name).lower()


def type_name(type: object) -> str:
    """A data type's JSON as SQL."""
    if isinstance(type, str):
        return _TYPES.get(type, type.upper())
    if isinstance(type, dict):
        kind = type.get("type")
        if kind == "array":
            return f"ARRAY<{type_name(type.get('elementType'))}>"
        if kind == "map":
            return f"MAP<{type_name(type.get('keyType'))}, {type_name(type.get('valueType'))}>"
        if kind == "struct":
            fields = type.get("fields") or ()
            listed = (f"{quote_identifier(field['name'])}: {type_name(field['type'])}" for field in fields)
            return f"STRUCT<{', '.join(listed)}>"
    return "?"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote_identifier(name: str) -> str:
    return name if _PLAIN.match(name) else "`" + name.replace("`", "``") + "`"
