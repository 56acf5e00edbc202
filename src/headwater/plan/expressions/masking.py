"""Functions that mask their arguments (the list is OpenLineage's)."""

from __future__ import annotations

from headwater.plan.expressions.family import ExpressionFamily
from headwater.plan.flow import CombinedValue, Value, ValuePart
from headwater.plan.tree import PlanNode

_MASKING = (
    "CollationAwareMurmur3Hash CollationAwareXxHash64 Count Crc32 HiveHash Mask Md5 Murmur3Hash Sha1 Sha2 XxHash64"
)


def _mask(node: PlanNode, values: list[Value]) -> Value:
    return CombinedValue(ValuePart(value, masking=True) for value in values)


FAMILY = ExpressionFamily(combine=dict.fromkeys(_MASKING.split(), _mask))
