"""The files of the page that the server serves, and the agreement of page and server."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headwater.server.app.app import create_app
from headwater.server.describe import description
from headwater.server.routes import page
from tests.conftest import ROOT
from tests.support import why_missing

BUILT = page.BUILT  # before another is put in its place
ADDRESSES_FILE = ROOT / "ui" / "src" / "app" / "addresses.ts"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("built")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text('<div id="page"></div>')
    (folder / "mark.svg").write_text("<svg/>")
    (folder / "assets" / "main-1a2b.js").write_text("let a = 1;" * 1000)
    (folder / "secret.txt").write_text("not for anybody")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "BUILT", folder)
        yield TestClient(create_app("sqlite://"), base_url="http://127.0.0.1")


@pytest.mark.parametrize("address", page.ADDRESSES)
def test_every_view_address_serves_the_page(built: TestClient, address: str) -> None:
    answer = built.get(f"{address}?name=a%2Fb")
    assert answer.status_code == 200
    assert 'id="page"' in answer.text
    assert answer.headers["cache-control"] == "no-cache"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_hashed_assets_are_immutable_and_compressed(built: TestClient) -> None:
    answer = built.get("/assets/main-1a2b.js")
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.text == "let a = 1;" * 1000
    bare = built.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in bare.headers
    assert bare.text == answer.text


@pytest.mark.parametrize("path", ["/assets/none.js", "/assets/..%2Fsecret.txt", "/secret.txt", "/assets/", "/else"])
def test_unknown_paths_are_not_found(built: TestClient, path: str) -> None:
    answer = built.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_without_the_page_the_server_lists_its_endpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "BUILT", tmp_path)
    answer = TestClient(create_app("sqlite://"), base_url="http://127.0.0.1").get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert "/api/v1/lineage/upstream" in answer.text


def test_the_page_hides_no_route_of_the_api(built: TestClient) -> None:
    assert built.get("/api/v1/lineage/batch").status_code == 405


def test_the_page_and_the_server_know_the_same_addresses() -> None:
    listed = re.search(r"PATHS = \[(.*?)\] as const", ADDRESSES_FILE.read_text(), re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r'"([^"]+)"', listed[1])) == page.ADDRESSES


def test_the_client_is_generated_from_the_openapi_document() -> None:
    told = (ROOT / "ui" / "openapi.json").read_text()
    assert told == description(), "the server answers otherwise than ui/openapi.json says: ./dev describe"


def test_its_own_tests_pass() -> None:
    npm = shutil.which("npm", path=str(Path(sys.executable).parent))
    if (reason := why_missing("page")) is not None or npm is None:
        pytest.skip(f"not run: no Node: {reason or './dev test installs it'}")
    done = subprocess.run(
        [npm, "--prefix", "ui", "test"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_the_first_load_is_small() -> None:
    """The files that the document names, gzipped: the rest is loaded on demand."""
    if not (BUILT / "index.html").exists():
        pytest.skip("not run: the page is not built")
    named = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', (BUILT / "index.html").read_text())
    assert named
    assert sum(len(gzip.compress((BUILT / name).read_bytes())) for name in named) < 250_000
