"""`headwater dataset`"""

from __future__ import annotations

from headwater.cli.options import DEFAULT_STORE, DatasetArgument, JsonOption, StoreOption
from headwater.cli.output import open_store, show


def dataset(dataset: DatasetArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show one dataset: owner, tags, aliases, schema, versions, partitions."""
    from headwater.cli.render.datasets import dataset_detail

    with open_store(store) as lineage:
        result = lineage.dataset(dataset)
    show(result, as_json, dataset_detail)
