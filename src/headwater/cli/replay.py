"""`headwater replay`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import print_json, print_text
from headwater.cli.spark import DEFAULT_MASTER, MasterOption, spark_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from headwater.pipelines import Pipeline


class ReplayDocument(TypedDict):
    """The replay of one node's dead letters, as `--json` prints it."""

    node: str
    run_id: str
    replays: list[str]
    succeeded: int
    failed: int
    superseded: int


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

    if master.startswith("local"):  # the functions run in this Python, which has their dependencies
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with spark_session(master) as spark:
        declared = load_pipeline(pipeline)
        options = LineageOptions(mode="full", location=location)
        replays: list[ReplayDocument] = [
            {
                "node": outcome.node,
                "run_id": outcome.run_id,
                "replays": list(outcome.runs),
                "succeeded": outcome.succeeded,
                "failed": outcome.failed,
                "superseded": outcome.superseded,
            }
            for outcome in declared.replay(
                spark, run_id=run, node=node, mode=mode, options=options, store=store, progress=False
            )
        ]
    if as_json:
        print_json(replays)
    else:
        _print_replays(replays)


def _print_replays(replays: list[ReplayDocument]) -> None:
    from rich.text import Text

    from headwater.cli.render.layout import table
    from headwater.cli.render.parts import data

    if not replays:
        print_text(Text("No dead letters."))
        return
    rows = table("Node", "Succeeded", "Failed again", "Superseded", "Run")
    for replayed in replays:
        numbers = (replayed["succeeded"], replayed["failed"], replayed["superseded"])
        rows.add_row(data(replayed["node"], "cyan"), *(f"{n:,}" for n in numbers), data(replayed["run_id"]))
    print_text(rows)


def load_pipeline(where: str) -> Pipeline:
    """Load a pipeline from `module:name` or `file.py:name`; a function of that name is called."""
    from headwater.pipelines import Pipeline

    module_name, _, name = where.rpartition(":")
    if not module_name or not name:
        raise CliError(f"'{where}' does not name a pipeline. Write module:name or path/to/file.py:name.")
    module = _load_module(module_name)
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise CliError(f"{module_name} has no '{name}'.{_pipelines_of(module)}")
        value = getattr(value, part)
    if callable(value) and not isinstance(value, Pipeline):
        value = value()
    if not isinstance(value, Pipeline):
        raise CliError(f"'{name}' in {module_name} is {type(value).__name__}, not a pipeline.{_pipelines_of(module)}")
    return value


def _load_module(name: str) -> ModuleType:
    """Import the module. Its functions are pickled by value, because executors may not have the module."""
    import sys
    from importlib import import_module
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from importlib.util import module_from_spec

    from pyspark import cloudpickle

    sys.path.insert(0, str(Path.cwd()))
    if not name.endswith(".py"):
        try:
            module = import_module(name)
        except ModuleNotFoundError as missing:
            raise CliError(f"There is no module '{missing.name}'.") from missing
    else:
        file = Path(name)
        if not file.is_file():
            raise CliError(f"There is no file {name}.")
        loader = SourceFileLoader(file.stem, str(file))
        module = module_from_spec(ModuleSpec(file.stem, loader, origin=str(file)))
        sys.path.insert(0, str(file.resolve().parent))
        sys.modules[file.stem] = module
        loader.exec_module(module)
    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    register(module)
    return module


def _pipelines_of(module: ModuleType) -> str:
    from headwater.pipelines import Pipeline

    names = [name for name, value in vars(module).items() if isinstance(value, Pipeline)]
    return f" It has: {', '.join(names)}." if names else ""
