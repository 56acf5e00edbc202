"""`headwater impact`"""

from __future__ import annotations

from headwater.cli.options import (
    DEFAULT_STORE,
    AsOfOption,
    ColumnOption,
    DatasetArgument,
    DepthOption,
    JsonOption,
    StoreOption,
)
from headwater.cli.output import open_store, show


def impact(
    dataset: DatasetArgument,
    column: ColumnOption = None,
    depth: DepthOption = None,
    as_of: AsOfOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show what breaks if a dataset or a column changes: assets, columns, owners, jobs, readers."""
    from headwater.cli.render.impact import impact_report

    with open_store(store) as lineage:
        result = lineage.impact(dataset, column, depth, as_of)
    show(result, as_json, impact_report)
