"""Functions that hide what they are given (the list is OpenLineage's)."""

from __future__ import annotations

from headwater.plan.expressions.family import Family
from headwater.plan.flow import Mix, Part, Value
from headwater.plan.tree import Node

_MASKING = (
    "CollationAwareMurmur3Hash CollationAwareXxHash64 Count Crc32 HiveHash Mask Md5 Murmur3Hash Sha1 Sha2 XxHash64"
)


def _masked(node: Node, values: list[Value]) -> Value:
    return Mix(Part(value, masking=True) for value in values)


FAMILY = Family(combine=dict.fromkeys(_MASKING.split(), _masked))
