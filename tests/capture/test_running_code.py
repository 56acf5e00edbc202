"""Where the code of a program lies, however it is started."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROGRAM = """
import json
from headwater.capture.listener.application import _application_name
from headwater.capture.listener.code import running_code
from headwater.evidence.code import script_code

class Context:
    appName = "pyspark-shell"

code = running_code()
print(json.dumps([code and code.path, _application_name(Context()), (script_code(code) or {}).get("script")]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(PROGRAM)
    (tmp_path / "loader.py").write_text("exec(open('job.py').read())")
    (tmp_path / "daily").mkdir()
    (tmp_path / "daily" / "__main__.py").write_text(PROGRAM)
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "path", "application"),
    [
        (["job.py"], "job.py", "job"),
        (["loader.py"], "loader.py", "loader"),
        (["app.zip"], "app.zip", "app"),
        (["daily"], "daily/__main__.py", "daily"),
        (["-m", "daily"], "daily/__main__.py", "daily"),
        (["-"], None, "pyspark"),
        (["-c", PROGRAM], None, "pyspark"),
    ],
)
def test_programs(folder: Path, arguments: list[str], path: str | None, application: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        input=PROGRAM,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found, name, script = json.loads(done.stdout)
    assert (found, name) == (path and str(folder / path), application)
    assert script == (path and Path(path).name)
