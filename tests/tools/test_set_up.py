"""The set-up: stamps that mark it as done, foreign folders, two concurrent set-ups."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools.console import DevError
from tools.environment import set_up
from tools.locks import LOCK_RECIPES
from tools.paths import MAIN_LOCK, PYPROJECT, ROOT
from tools.pip import locked_install
from tools.stamps import packages_digest, read_stamp, write_stamp
from tools.venv_creation import create_venv, make_venv
from tools.venvs import DBT, MAIN, OTHER_SPARKS, Venv

IN_THE_SET_UP = """
from tools.environment import only_one_set_up
with only_one_set_up():
    print("at work", flush=True)
    input()
"""


@pytest.fixture
def venv(tmp_path: Path) -> Venv:
    return Venv(tmp_path / ".venv-trial", MAIN_LOCK)


def test_a_stamp_is_read_as_it_was_written(venv: Venv) -> None:
    assert read_stamp(venv) == {}
    venv.folder.mkdir()
    write_stamp(venv, {"packages": "abc", "missing": {}})
    assert read_stamp(venv) == {"packages": "abc", "missing": {}}
    assert [path.name for path in venv.folder.iterdir()] == ["headwater-setup.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '"packages"', "\0"], ids=repr)
def test_a_damaged_stamp_counts_as_none(text: str, venv: Venv) -> None:
    venv.folder.mkdir()
    venv.stamp.write_text(text)
    assert read_stamp(venv) == {}


def test_what_determines_the_packages(tmp_path: Path) -> None:
    locks = [tmp_path / "a.lock", tmp_path / "b.lock"]
    for lock in locks:
        lock.write_text("duckdb==1.4.0\n")
    folder = tmp_path / "venv"
    before = packages_digest(Venv(folder, locks[0], java_lock=locks[1]))
    assert packages_digest(Venv(folder, locks[1], java_lock=locks[0])) == before
    locks[1].write_text("duckdb==1.4.1\n")
    assert packages_digest(Venv(folder, locks[0], java_lock=locks[1])) != before
    assert packages_digest(Venv(folder, locks[1], java_lock=locks[0])) != before


def test_a_foreign_folder_is_not_changed(venv: Venv) -> None:
    kept = venv.folder / "bin" / "python"
    kept.parent.mkdir(parents=True)
    kept.write_text("somebody's")
    with pytest.raises(DevError, match=re.escape(f"{venv.folder} was not made by ./dev: move it away")):
        make_venv(venv)
    assert kept.read_text() == "somebody's"


def test_an_unfinished_venv_is_recreated(venv: Venv, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    venv.folder.mkdir()
    write_stamp(venv, {"packages": "of before"})
    (venv.folder / "half").mkdir()
    (venv.folder / "half" / "done.py").write_text("")
    (venv.folder / "link").symlink_to(elsewhere)
    make_venv(venv)
    assert not (venv.folder / "half").exists()
    assert not (venv.folder / "link").is_symlink()
    assert (elsewhere / "kept").exists()
    assert read_stamp(venv) == {}
    prefix = subprocess.run([venv.python, "-c", "import sys; print(sys.prefix)"], capture_output=True, check=True)
    assert prefix.stdout.decode().strip() == str(venv.folder)


def test_a_path_where_no_venv_can_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DevError, match="cannot make a venv: "):
        create_venv(tmp_path / "file")


def test_a_python_that_is_too_new_is_named(tmp_path: Path) -> None:
    this = ".".join(map(str, sys.version_info[:2]))
    venv = Venv(tmp_path / ".venv-spark35", MAIN_LOCK, newest_python=(3, 10))
    with pytest.raises(DevError, match=rf"\.venv-spark35 works with Python 3\.10 at most, and this is {this}: run"):
        set_up(venv)
    assert not venv.folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no flock")
def test_the_second_set_up_waits_for_the_first() -> None:
    def started() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", IN_THE_SET_UP]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with started() as first, started() as second:
        outputs = {process: process.stdout for process in (first, second)}
        lines = {}
        for process, output in outputs.items():
            assert output is not None
            lines[process] = output.readline()
        assert sorted(lines.values()) == ["Waiting for another ./dev to finish its set-up.\n", "at work\n"]
        holder, waiter = sorted((first, second), key=lambda process: lines[process] != "at work\n")
        holder.communicate("\n", timeout=60)
        assert waiter.communicate("\n", timeout=60)[0] == "at work\n"


def test_every_lock_file_has_a_recipe_whose_groups_exist() -> None:
    assert {path.name for path in LOCK_RECIPES} == {path.name for path in ROOT.glob("requirements*.lock")}
    groups = tomllib.loads(PYPROJECT.read_text())["dependency-groups"]
    named = [
        recipe[place + 1] for recipe in LOCK_RECIPES.values() for place, part in enumerate(recipe) if part == "--group"
    ]
    assert set(named) == groups.keys() - {"test"}  # which others include


def test_every_environment_has_a_lock_of_its_own() -> None:
    venvs = [MAIN, *OTHER_SPARKS.values(), DBT]
    assert len({venv.lock for venv in venvs}) == len({venv.folder for venv in venvs}) == len(venvs)
    assert {venv.lock for venv in venvs} | {venv.java_lock for venv in venvs} <= LOCK_RECIPES.keys()


@pytest.mark.parametrize("lock", LOCK_RECIPES, ids=lambda lock: lock.name)
def test_every_package_is_installed_by_its_hash(lock: Path) -> None:
    assert "--require-hashes" in locked_install(MAIN, lock)
    lines = lock.read_text().replace("\\\n", " ").splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    assert packages
    assert [line for line in packages if "==" not in line or "--hash=sha256:" not in line] == []
