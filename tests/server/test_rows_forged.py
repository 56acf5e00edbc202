"""Forged facets of pair tables, and the server's responses to readers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.store import Store
from tests.server.api import API, LOCAL
from tests.server.running import ServerProcess
from tests.support.events import run_event, run_id
from tests.support.pair_tables import write_orders, write_pair_tables

SECRET = "canary-7f3a"
Json = dict[str, Any]


class ServedTables:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "served_tables"
        self.rows = self.folder / "rows"
        self.canary = self.folder / "secret.txt"
        self.written = self.folder / "written.csv"
        orders = write_orders(self.folder / "orders" / "part-0.parquet")
        self.entry = write_pair_tables(self.rows, run_id("good"), orders)
        self.outside = write_pair_tables(self.folder / "elsewhere", run_id("outside"), orders)
        self.canary.write_text(SECRET)
        self._before = self._files()

    def _files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}

    def assert_untouched(self) -> None:
        assert self._files() == self._before

    @property
    def sql(self) -> str:
        return (
            "0_file AS file, 0 AS row FROM (SELECT 1 AS __hw_s0_file)); "
            f"COPY (SELECT content FROM read_text('{self.canary}')) TO '{self.written}'; --"
        )

    def of(self, run: str, **changes: Any) -> Json:
        """The description of the good tables, of another run, with changes."""
        entry = json.loads(json.dumps(self.entry))
        for path, value in changes.items():
            *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
            inner = entry
            for step in steps:
                inner = inner[step]
            inner[last] = value
        return run_event(run=run, run_facets={"cdme.adjointMetadata": {"outputs": [entry]}})


@pytest.fixture
def served_tables(tmp_path: Path) -> ServedTables:
    return ServedTables(tmp_path)


@pytest.fixture
def keys(served_url: str) -> dict[str, Json]:
    with Store(served_url) as store:
        made = {scope: store.access.add(scope, scopes=[scope]).secret for scope in ("read", "write")}
    return {scope: {"Authorization": f"Bearer {secret}"} for scope, secret in made.items()}


@pytest.fixture
def client(served_url: str, keys: dict[str, Json], served_tables: ServedTables, tmp_path: Path) -> Iterator[TestClient]:
    settings = ServerSettings(workspace=str(tmp_path / "work"), rows_location=str(served_tables.rows))
    with TestClient(create_app(served_url, settings), base_url=LOCAL) as client:
        yield client


@pytest.fixture
def ask(client: TestClient, keys: dict[str, Json]) -> Any:
    """Sends an event with a key that may only write, and queries the run's rows with one that may only read."""

    def asked(event: Json, **question: Any) -> tuple[int, Json]:
        sent = client.post(f"{API}/lineage", json=event, headers=keys["write"])
        assert sent.status_code == 201, sent.text
        question = {"run": event["run"]["runId"], **question}
        answer = client.post(f"{API}/rows/trace", json=question, headers=keys["read"])
        assert SECRET not in answer.text
        return answer.status_code, answer.json()

    return asked


def test_an_unforged_facet_is_answered(ask: Any, served_tables: ServedTables) -> None:
    status, told = ask(served_tables.of("good"), where={"customer": 4})
    assert (status, told["count"]) == (200, 1)
    assert [row["id"] for row in told["sources"][0]["rows"]] == list(range(4, 100, 9))
    status, told = ask(served_tables.of("good"), condition="customer between 2 and 3")
    assert (status, told["count"]) == (200, 2)


def test_on_a_running_server(served_url: str, keys: dict[str, Json], served_tables: ServedTables) -> None:
    """An attack found in a review: SQL in the occurrence of a source, and an ordinary query of a reader."""
    sql = served_tables.sql
    event = served_tables.of("good", sources__0__occurrence=sql, composition__1__sources__0=sql)
    with ServerProcess(served_url, "--rows-location", str(served_tables.rows)) as server:

        def post(path: str, body: Json, scope: str) -> tuple[int, bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            headers = {**keys[scope], "Content-Type": "application/json"}
            connection.request("POST", f"{API}{path}", json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer.status, content

        assert post("/lineage", event, "write")[0] == 201
        status, content = post("/rows/trace", {"run": run_id("good")}, "read")
    told = json.loads(content)
    assert (status, told["code"]) == (409, "layout_invalid")
    assert "composition[1].sources[0]" in told["detail"]
    assert SECRET.encode() not in content
    served_tables.assert_untouched()


FORGED: list[tuple[str, Any]] = [
    ("sources__0__occurrence", "SQL"),
    ("sources__0__occurrence", 10**30),
    ("sources__0__grain", "SQL"),
    ("sources__0__dataset__name", 5),
    ("composition__1__block", "1/../../../.."),
    ("composition__1__block", 7),
    ("composition__1__sources__0", "SQL"),
    ("composition__0__links__0__link", "SQL"),
    ("composition__0__links__0__to", -1),
    ("composition", "SQL"),
    ("identity__0", 5),
    ("digests", {"block-0/../../..": "sha256:" + "0" * 64}),
    ("digests__files.json", "../../secret.txt"),
    ("sample", 10**400),
    ("mode", ["full"]),
    ("notes", "SQL"),
    ("format", "headwater-pairs-2"),
]


@pytest.mark.parametrize(("field", "value"), FORGED)
def test_a_forged_field_is_named(ask: Any, served_tables: ServedTables, field: str, value: Any) -> None:
    status, told = ask(served_tables.of("good", **{field: served_tables.sql if value == "SQL" else value}))
    assert (status, told["code"]) == (409, "layout_invalid")
    assert field.split("__", maxsplit=1)[0] in told["detail"]
    assert "\n" not in told["detail"]
    served_tables.assert_untouched()


def test_a_column_that_is_sql_is_a_name(ask: Any, served_tables: ServedTables) -> None:
    """It is not one of the columns of the tables in the folder."""
    status, told = ask(served_tables.of("good", identity__0=f'customer" FROM read_text({served_tables.canary!r}); --'))
    assert (status, told["code"]) == (409, "layout_invalid")
    served_tables.assert_untouched()


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("OUTSIDE", "tables_elsewhere"),
        ("ESTATE/rows/../elsewhere", "tables_elsewhere"),
        ("ESTATE/rows/link", "tables_elsewhere"),
        ("file:///etc", "tables_elsewhere"),
        ("s3://bucket/rows", "tables_elsewhere"),
        ("http://127.0.0.1:9/rows", "tables_elsewhere"),
        ("file://127.0.0.1/rows", "tables_elsewhere"),
        ("\\\\host\\share", "tables_elsewhere"),
        ("http://[", "tables_elsewhere"),
        ("a" * 5_000, "tables_elsewhere"),
        (5, "tables_elsewhere"),
        (None, "tables_elsewhere"),
    ],
)
def test_tables_outside_the_location_are_not_read(
    ask: Any, served_tables: ServedTables, location: Any, code: str
) -> None:
    (served_tables.rows / "link").symlink_to(served_tables.folder / "elsewhere" / run_id("outside") / "0")
    if isinstance(location, str):
        location = location.replace("OUTSIDE", served_tables.outside["location"]).replace(
            "ESTATE", str(served_tables.folder)
        )
    status, told = ask(served_tables.of("outside", location=location))
    assert (status, told["code"]) == (409, code)


def test_the_tables_of_another_run_are_not_shown(ask: Any, served_tables: ServedTables) -> None:
    """A writer of one namespace cannot expose rows by naming the folder of another sender's run."""
    status, told = ask(served_tables.of("thief"))
    assert (status, told["code"]) == (409, "layout_invalid")
    assert "not a folder of this run" in told["detail"]


def test_files_that_tables_name_are_read_only_as_parquet(ask: Any, served_tables: ServedTables) -> None:
    """If an attacker could write below the rows location: a file is read as Parquet or not at all."""
    files = served_tables.rows / run_id("good") / "0" / "files.json"
    files.write_text(json.dumps({"0": {"77": str(served_tables.canary)}}))
    status, told = ask(served_tables.of("good"), where={"customer": 4})
    assert (status, told["code"]) == (409, "tables_unreadable")
    assert str(served_tables.folder) not in told["detail"]


def test_the_list_of_supported_queries_still_works(
    client: TestClient, keys: dict[str, Json], served_tables: ServedTables
) -> None:
    event = served_tables.of("good", identity={"a": 1}, mode=5, location=[])
    event["outputs"] = [{"namespace": "data", "name": "x"}]
    assert client.post(f"{API}/lineage", json=event, headers=keys["write"]).status_code == 201
    answer = client.get(f"{API}/rows/askable", params={"dataset": "x"}, headers=keys["read"])
    assert (answer.status_code, answer.json()["instant"]["possible"]) == (200, False)
