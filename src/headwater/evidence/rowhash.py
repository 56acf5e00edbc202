"""A hash of the rows of a DataFrame, regardless of their order: equal for equal multisets of rows, and for no others.

It is the root of a hash tree over the sorted rows. Each row becomes the SHA-256 of its JSON; equal ones become one with
their count; those with the same first digits are sorted and hashed together, and so are the 65,536 hashes of that. To
find other rows with the same hash is to find a collision of SHA-256: a sum of row hashes, which would do without the
sort, would be as hard to forge only if it were thousands of bits wide.

Spark computes it in one pass over the data and two exchanges of hashes, in plain SQL: executors need nothing of
Headwater.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from headwater.proof.canonical import canonical

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_AS_JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""The same text in every session, and none of a moment's digits lost."""


def hash_of_rows(frame: DataFrame) -> str:
    """In hexadecimal. The names, types and order of the columns count."""
    from pyspark.sql import functions as F

    columns = [[field.name, field.dataType.simpleString()] for field in frame.schema.fields]
    renamed = frame.toDF(*(f"c{index}" for index in range(len(columns))))
    row = F.to_json(F.struct("*"), _AS_JSON) if columns else F.lit("")
    counted = renamed.select(F.sha2(row, 256).alias("row")).groupBy("row").count()
    text = F.concat_ws(":", "row", F.col("count").cast("string"))
    group_hash = F.sha2(F.concat_ws(",", F.array_sort(F.collect_list(text))), 256)
    groups = counted.groupBy(F.substring("row", 1, 4).alias("first")).agg(group_hash.alias("hash"))
    tree: list[list[str]] = sorted([group["first"], group["hash"]] for group in groups.collect())
    return sha256(canonical({"columns": columns, "rows": tree}).encode()).hexdigest()
