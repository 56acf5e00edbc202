"""`headwater replay`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, spark_session

if TYPE_CHECKING:
    from types import ModuleType

    from headwater.pipelines import Pipeline


def replay(
    pipeline: Annotated[
        str,
        typer.Argument(
            metavar="MODULE_OR_FILE:PIPELINE", help="Pipeline to replay: a variable, or a function that returns it."
        ),
    ],
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only dead letters of this run.")] = None,
    node: Annotated[str | None, typer.Option("--node", metavar="NAME", help="Only dead letters of this node.")] = None,
    location: Annotated[
        str | None,
        typer.Option(
            "--location",
            metavar="PATH",
            help="Location that the run's options name.",
            show_default=".headwater/pipelines",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="Write mode of the sinks, such as append or overwrite."),
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Replay the dead letters of a pipeline with its current functions."""
    import os
    import sys

    from headwater.pipeline.declare.options import LineageOptions

    if master.startswith("local"):  # the functions run here, in the Python that has what they need
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with spark_session(master) as spark:
        found = load_pipeline(pipeline)
        options = LineageOptions(mode="full", location=location)
        told = [
            {
                "node": each.node,
                "run_id": each.run_id,
                "replays": list(each.runs),
                "succeeded": each.succeeded,
                "failed": each.failed,
                "superseded": each.superseded,
            }
            for each in found.replay(
                spark, run_id=run, node=node, mode=mode, options=options, store=store, progress=False
            )
        ]
    if as_json:
        print_json(told)
    else:
        _print_replays(told)


def _print_replays(told: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from headwater.cli.render.layout import table
    from headwater.cli.render.parts import data

    if not told:
        print_text(Text("No dead letters."))
        return
    rows = table("Node", "Succeeded", "Failed again", "Superseded", "Run")
    for each in told:
        numbers = (f"{each[name]:,}" for name in ("succeeded", "failed", "superseded"))
        rows.add_row(data(each["node"], "cyan"), *numbers, data(each["run_id"]))
    print_text(rows)


def load_pipeline(where: str) -> Pipeline:
    """The pipeline that a module or a file has under a name; a function there is called for it."""
    from headwater.pipelines import Pipeline

    place, _, name = where.rpartition(":")
    if not place or not name:
        raise CliError(f"'{where}' does not name a pipeline. Write module:name or path/to/file.py:name.")
    module = _load_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise CliError(f"{place} has no '{name}'.{_pipelines_of(module)}")
        found = getattr(found, part)
    if callable(found) and not isinstance(found, Pipeline):
        found = found()
    if not isinstance(found, Pipeline):
        raise CliError(f"'{name}' in {place} is {type(found).__name__}, not a pipeline.{_pipelines_of(module)}")
    return found


def _load_module(place: str) -> ModuleType:
    """Its functions go to the executors whole: they may have no such module."""
    import sys
    from importlib import import_module
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from importlib.util import module_from_spec

    from pyspark import cloudpickle

    sys.path.insert(0, str(Path.cwd()))
    if not place.endswith(".py"):
        try:
            module = import_module(place)
        except ModuleNotFoundError as missing:
            raise CliError(f"There is no module '{missing.name}'.") from missing
    else:
        file = Path(place)
        if not file.is_file():
            raise CliError(f"There is no file {place}.")
        loader = SourceFileLoader(file.stem, str(file))
        module = module_from_spec(ModuleSpec(file.stem, loader, origin=str(file)))
        sys.path.insert(0, str(file.resolve().parent))
        sys.modules[file.stem] = module
        loader.exec_module(module)
    by_value: Any = cloudpickle.register_pickle_by_value
    by_value(module)
    return module


def _pipelines_of(module: ModuleType) -> str:
    from headwater.pipelines import Pipeline

    there = [name for name, value in vars(module).items() if isinstance(value, Pipeline)]
    return f" It has: {', '.join(there)}." if there else ""
