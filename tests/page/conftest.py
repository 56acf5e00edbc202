"""A server with the demo's data, and a browser on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.server.routes.page import BUILT
from tests.conftest import ROOT
from tests.page.browser import CheckedPage, browsing, chromium
from tests.server.running import ServerProcess
from tests.support import why_missing
from tests.support.spark import short_job_environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Only while this folder's tests run: its driver runs an event loop in the thread that other tests need."""
    if (reason := why_missing("page")) is not None or not (BUILT / "index.html").exists():
        pytest.skip(f"not run: the page is not built: {reason or './dev test builds it'}")
    pytest.importorskip("playwright", reason="not run: no Playwright in this environment")
    executable = chromium()
    if executable is None:
        pytest.skip("not run: no Chromium or Chrome on PATH, and HEADWATER_CHROMIUM names none")
    with browsing(executable) as found:
        yield found


@pytest.fixture(scope="module")
def shared_pages(browser: Browser) -> Iterator[dict[str, CheckedPage]]:
    """Pages by their server, because starting a page and compiling its program takes longer than most tests."""
    pages: dict[str, CheckedPage] = {}
    yield pages
    for page in pages.values():
        page.close()


@pytest.fixture
def open_page(browser: Browser, shared_pages: dict[str, CheckedPage]) -> Iterator[Callable[..., CheckedPage]]:
    """Opens a page on a server; at the end it must have recorded no error.

    It is a new one with ``alone=True``, for a test that leaves something in its storage or listeners.
    """
    opened: list[CheckedPage] = []
    own: list[CheckedPage] = []

    def make(url: str, *, alone: bool = False) -> CheckedPage:
        if alone:
            own.append(CheckedPage(browser, url))
            opened.append(own[-1])
        else:
            opened.append(shared_pages.get(url) or CheckedPage(browser, url))
            shared_pages[url] = opened[-1]
            opened[-1].complaints.clear()
        return opened[-1]

    yield make
    complaints = [complaint for one in opened for complaint in one.complaints]
    for one in own:
        one.close()
    assert complaints == []


ONE_AFTER_THE_OTHER = """
import json, sys
from headwater.cli.app import app
from headwater.cli.failures import run_app
sys.exit(next((code for command in json.loads(sys.argv[1]) if (code := run_app(app, command))), 0))
"""
"""Commands of ours in one process: to start Python takes longer than each of them."""


class Demo:
    """The data of `examples/carbon.py`, served."""

    def __init__(self, folder: Path) -> None:
        self.lake = folder / "carbon"
        self.store = f"sqlite:///{folder}/lineage.db"
        self.rows = folder / "rows"
        self.url = ""

    def name(self, dataset: str) -> str:
        return str(self.lake / dataset)


@pytest.fixture(scope="package")
def demo(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    folder = tmp_path_factory.mktemp("demo")
    made = Demo(folder)
    environment = {
        "HEADWATER_KEY": str(folder / "key"),
        "HEADWATER_SPOOL": str(folder / "spool"),
        **short_job_environment("local[1]"),
    }
    commands = [
        ["records", "send", str(ROOT / "examples" / "carbon_records.jsonl"), "--store", made.store],
        ["records", "work", "--until-empty", "--no-compaction", "--store", made.store],
        ["keys", "new"],
        ["checkpoint", "--store", made.store],
    ]
    for command in (
        [str(ROOT / "examples" / "carbon.py"), str(made.lake), made.store, str(made.rows)],
        ["-c", ONE_AFTER_THE_OTHER, json.dumps(commands)],
    ):
        done = subprocess.run(
            [sys.executable, *command], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
    with ServerProcess(
        made.store, "--rows-location", str(made.rows), log=folder / "server.log", **environment
    ) as server:
        made.url = server.url
        yield made
