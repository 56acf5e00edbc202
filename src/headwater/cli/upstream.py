"""`headwater upstream` and `headwater downstream`"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

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


def _closure_command(direction: Literal["upstream", "downstream"], help: str) -> Callable[..., None]:
    def command(
        dataset: DatasetArgument,
        column: ColumnOption = None,
        partition: PartitionOption = None,
        depth: DepthOption = None,
        as_of: AsOfOption = None,
        store: StoreOption = DEFAULT_STORE,
        as_json: JsonOption = False,
    ) -> None:
        from headwater.cli.render.closure import closure_tree

        with open_store(store) as lineage:
            closure = lineage.upstream if direction == "upstream" else lineage.downstream
            result = closure(dataset, column, partition, depth, as_of)
        show(result, as_json, closure_tree)

    command.__name__, command.__doc__ = direction, help
    return command


upstream = _closure_command("upstream", "Show where a dataset, a column or a partition comes from.")
downstream = _closure_command("downstream", "Show what depends on a dataset, a column or a partition.")
