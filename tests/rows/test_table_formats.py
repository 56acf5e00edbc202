"""Tables with versions as sources: the version that was read is the one that is traced in, whatever came after."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.jars import jars_or_skip

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", params=["delta", "iceberg"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    jars_or_skip(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "tests.rows.with_table_formats", request.param, str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "told.json").read_text())


def test_the_rows_that_were_read(told: Any) -> None:
    assert told["at first"] == ["exact", [[2, 10, 7.0]]]


def test_a_newer_version_changes_nothing(told: Any) -> None:
    assert told["with a new version"] == told["at first"]


def test_a_version_that_is_gone_is_named(told: Any) -> None:
    error, message = told["once it is gone"]
    assert error == "InputsChanged"
    assert "orders" in message
