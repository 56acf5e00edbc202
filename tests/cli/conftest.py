"""Fixtures to run commands, and a store to query."""

from __future__ import annotations

from pathlib import Path

import pytest

import headwater as hw
from headwater.examples import orders_events
from tests.cli.running import OUR_VARIABLES, Result, Run, run_here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in OUR_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def run_command(*arguments: str) -> Result:
        capsys.readouterr()
        code = run_here(list(arguments))
        return Result(code, *capsys.readouterr())

    return run_command


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the demo's events, which tests only read."""
    url = f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.db"
    with hw.connect(url) as lineage:
        lineage.ingest_many(orders_events())
    return url


@pytest.fixture
def ask(run: Run, demo_url: str) -> Run:
    return lambda *arguments: run(*arguments, "--store", demo_url)
