"""The worker in a process where headwater cannot be imported, as on an executor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle as untyped

from headwater.pipeline import worker

cloudpickle: Any = untyped
SCRIPT = """
import importlib.abc, pickle, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "headwater":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import pyarrow as pa
function = pickle.load(open(sys.argv[1], "rb"))
batch = pa.RecordBatch.from_pydict({"__hw_tag": ["a", "b", "c"], "x": [1, 0, 2]})
for given in function([batch]):
    print(given.select(["__hw_tag", "__hw_outcome", "__hw_error", "__hw_given", "y"]).to_pydict())
assert not any(name.split(".")[0] == "headwater" for name in sys.modules)
"""


def test_it_needs_only_the_shipped_code(tmp_path: Path) -> None:
    schema = pa.schema([("y", pa.int64())])
    function = worker.RowFunction(lambda row: {"y": 6 // row.x}, ["x"], schema, on_error="dead_letter", node="n")
    cloudpickle.register_pickle_by_value(worker)
    try:
        shipped = cloudpickle.dumps(function.map_rows_with_outcomes)
    finally:
        cloudpickle.unregister_pickle_by_value(worker)
    (tmp_path / "function").write_bytes(shipped)
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "function")], capture_output=True, text=True, check=False
    )
    assert told.stderr == ""
    assert told.stdout == (
        "{'__hw_tag': ['a', 'b', 'c'], '__hw_outcome': [1, 96, 1], '__hw_error': [None, 'ZeroDivisionError: integer "
        "division or modulo by zero', None], '__hw_given': [None, {'x': 0}, None], 'y': [6, None, 3]}\n"
    )
