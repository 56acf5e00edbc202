"""Start-up: the version, the help, and which modules are imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import headwater as hw
from headwater.cli.options import DEFAULT_STORE
from tests.cli.running import Run, process, top_level_commands
from tests.cli.stores import REPORT


def test_version_and_module(tmp_path: Path) -> None:
    result = process("--version", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"headwater {hw.__version__}\n", "")


def test_the_entry_point_is_installed(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("headwater")
    if not command.exists():
        pytest.skip("not run: headwater is not installed beside this Python")
    result = subprocess.run([command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == f"headwater {hw.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command_in_its_group(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.code, result.err) == (0, "")
    for heading in ("Getting started:", "Dataset lineage:", "Runs:", "Audit and administration:"):
        assert f"\n{heading}\n" in result.out
    for name in top_level_commands():
        assert re.search(rf"^  {name}  +\S", result.out, re.MULTILINE), name


def test_startup_imports_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys, headwater.cli.app; print(*{name.split('.')[0] for name in sys.modules})"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"pyspark", "sqlalchemy", "alembic", "openlineage", "rich"} & set(result.stdout.split())


def test_queries_never_import_pyspark(tmp_path: Path, demo_url: str) -> None:
    code = (
        "import sys\nfrom headwater.cli.app import app\nfrom headwater.cli.failures import run_app\n"
        f"run_app(app, ['upstream', {REPORT!r}, '--store', {demo_url!r}])\n"
        "assert 'pyspark' not in sys.modules and 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)


def test_the_default_store_is_the_librarys() -> None:
    from headwater.store.engine.database import DEFAULT_URL

    assert DEFAULT_STORE == DEFAULT_URL
