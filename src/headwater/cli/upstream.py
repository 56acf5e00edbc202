"""`headwater upstream`"""

from __future__ import annotations

from headwater.cli.options import (
    DEFAULT_STORE,
    AsOfOption,
    ColumnOption,
    DatasetArgument,
    DepthOption,
    JsonOption,
    PartitionOption,
    StoreOption,
)
from headwater.cli.output import open_store, show


def upstream(
    dataset: DatasetArgument,
    column: ColumnOption = None,
    partition: PartitionOption = None,
    depth: DepthOption = None,
    as_of: AsOfOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show where a dataset, a column or a partition comes from."""
    from headwater.cli.render.closure import closure_tree

    with open_store(store) as lineage:
        result = lineage.upstream(dataset, column, partition, depth, as_of)
    show(result, as_json, closure_tree)
