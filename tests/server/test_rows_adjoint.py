"""Every member of the facet `cdme.adjointMetadata`, with any value, through every entry point: one clear refusal or
a labelled answer.

Canaries are in places that must not be read: a secret file, the rows of another run, tables outside the rows
location. That none of them is opened is checked by Linux (tests/support/opened_files.py), not only by the answer.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headwater.capture.events.facets import adjoint_facet
from headwater.cli.app import app as commands
from headwater.cli.failures import run_app
from headwater.errors import HeadwaterError
from headwater.formats.openlineage.facet_names import ADJOINT_FACET
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.opening import LookupRoots
from headwater.rows.pairs.render import tables_document
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from tests.server.api import API, LOCAL
from tests.support.events import JOB_NAMESPACE, NAMESPACE, run_event, run_id, used
from tests.support.opened_files import OpenedFiles
from tests.support.pair_tables import write_orders, write_pair_tables

Json = dict[str, Any]
Path_ = tuple[str | int, ...]
SECRET = "canary-7f3a"
MINE, THEIRS = run_id("mine"), run_id("theirs")
PRODUCER = "urn:test"

pytestmark = pytest.mark.skipif(OpenedFiles.why_not() is not None, reason=f"not run: {OpenedFiles.why_not()}")


class ServedTables:
    """Tables of the queried run, canaries, and a server with a key that writes and one that reads."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder, self.rows = folder, folder / "rows"
        self.secret = folder / "secret" / "passwords.parquet"
        self.secret.parent.mkdir()
        self.secret.write_text(SECRET)
        entry = write_pair_tables(self.rows, MINE, write_orders(folder / "orders" / "part-0.parquet"))
        theirs = write_pair_tables(self.rows, THEIRS, self._private(folder / "private" / "part-0.parquet"))
        outside = write_pair_tables(folder / "elsewhere", MINE, folder / "private" / "part-0.parquet")
        self.theirs, self.outside = theirs, outside
        (self.rows / "link").symlink_to(folder / "elsewhere" / MINE / "0")
        dataset = {"namespace": NAMESPACE, "name": "counts"}
        self.facet: Json = dict(adjoint_facet([{**entry, "dataset": dataset}], PRODUCER))
        self.canaries = [folder / name for name in ("secret", "private", "elsewhere")] + [self.rows / THEIRS]
        self.url = f"sqlite:///{folder}/store.db"
        (folder / "store.db").write_bytes(template.read_bytes())
        self._sent = 0
        self.words = {
            "SECRET": str(self.secret), "SECRETS": str(self.secret.parent), "THEIRS": theirs["location"],
            "OUTSIDE": outside["location"], "LINK": f"{self.rows}/link", "UP": f"{self.rows}/../elsewhere/{MINE}/0",
            "ENCODED": f"file://{self.rows}/%2e%2e/elsewhere/{MINE}/0", "LONG": f"{self.rows}/{'a' * 300}/0",
            "GLOB": f"{self.rows}/*/0", "SQL": (
                "0_file AS file, 0 AS row FROM (SELECT 1 AS __hw_s0_file)); COPY (SELECT content FROM "
                f"read_text('{self.secret}')) TO '{self.secret.parent}/written.csv'; --"
            ),
        }  # fmt: skip

    def _private(self, file: Path) -> Path:
        write_orders(file)
        pq.write_table(pq.read_table(file).append_column("private", pa.array([SECRET] * 100)), file)
        return file

    def moved(self, entry: Json, location: str) -> Json:
        """The facet of these tables, with all that repeats their location."""
        text = json.dumps(adjoint_facet([{**entry, "dataset": self.facet["outputs"][0]["dataset"]}], PRODUCER))
        return dict(json.loads(text.replace(json.dumps(entry["location"])[1:-1], json.dumps(location)[1:-1])))

    def forged(self, path: Path_, value: Any) -> Json:
        value = self.words.get(value, value) if isinstance(value, str) else value
        facet = copy.deepcopy(self.facet)
        holder: Any = facet
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
        return facet

    def event(self, facet: Any) -> Json:
        """An event of the same run, later than the previous one."""
        self._sent += 1
        return run_event(
            run="mine", job="count", outputs=[used("counts")], minute=self._sent, run_facets={ADJOINT_FACET: facet}
        )


class EntryPoints:
    def __init__(self, served_tables: ServedTables, client: TestClient) -> None:
        self._tables = served_tables
        self._client = client
        assert isinstance(client.app, FastAPI)
        access = client.app.state.service.store.access
        scopes = {"write": ["write"], "read": ["read"], "part": ["read", "write"]}
        namespaces = {"part": [JOB_NAMESPACE]}
        self._keys = {
            name: access.add(name, scopes=scopes[name], namespaces=namespaces.get(name, ["*"])).secret
            for name in scopes
        }

    def ask(self, key: str, method: str, path: str, body: Any = None, **query: str) -> Any:
        headers = {"Authorization": f"Bearer {self._keys[key]}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        return self._client.request(method, f"{API}{path}", params=query, content=content, headers=headers)

    def send(self, facet: Any) -> bool:
        """Whether the server takes the event."""
        answer = self.ask("write", "POST", "/lineage", self._tables.event(facet))
        assert answer.status_code in (201, 400, 413, 422), answer.text
        return bool(answer.status_code == 201)


@pytest.fixture(scope="module")
def served_tables(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> ServedTables:
    return ServedTables(tmp_path_factory.mktemp("served_tables"), sqlite_template)


@pytest.fixture(scope="module")
def entry_points(served_tables: ServedTables, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EntryPoints]:
    settings = ServerSettings(workspace=str(tmp_path_factory.mktemp("work")), rows_location=str(served_tables.rows))
    with TestClient(create_app(served_tables.url, settings), base_url=LOCAL, raise_server_exceptions=False) as client:
        yield EntryPoints(served_tables, client)


@pytest.fixture(scope="module")
def opened(served_tables: ServedTables, entry_points: EntryPoints) -> Iterator[OpenedFiles]:
    with OpenedFiles(served_tables.canaries) as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_open_files(opened: OpenedFiles) -> None:
    """Files that an earlier test opened do not belong to this one."""
    opened.since_last()


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


HOSTILE = st.one_of(
    st.sampled_from(["SECRET", "SECRETS", "THEIRS", "OUTSIDE", "LINK", "UP", "ENCODED", "LONG", "GLOB", "SQL"]),
    st.sampled_from([math.nan, math.inf, -1, 0, 1, 7, 0.5, 1e308, 2**63, 10**400, True, None]),
    st.sampled_from(
        [
            *("", "x", "two\nlines", "\x00", "\ud800", "full", "key", "a" * 100_000),
            *("block-0/../..", "/proc/self/environ", "file:///etc", "//host/share", "http://["),
            *("s3://bucket/x", "http://127.0.0.1:9/x", "jdbc:derby:memory:x"),
        ]
    ),
    st.sampled_from([[], {}, [[]], [{}], {"": None}, {"namespace": 5}, ["a"] * 10_001]),
    st.recursive(
        st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=5,
    ),
)
NUMBERED: list[Path_] = [
    ("outputs", 0, "sources", 0, "occurrence"),
    ("outputs", 0, "composition", 1, "sources", 0),
    ("outputs", 0, "composition", 0, "links", 0, "link"),
]
"""What once was pasted into SQL."""
OPTIONAL: list[Path_] = [("outputs", 0, "invalid"), ("outputs", 0, "sample")]
QUERIES: list[Json] = [
    {"run": MINE},
    {"run": MINE, "where": {"customer": 4}},
    {"run": MINE, "output": 1},
    {"dataset": "counts", "namespace": NAMESPACE, "condition": "customer between 2 and 3"},
]
REFUSED = {
    403: {"not_permitted"},  # no tables are known of the run, and to run its query again is for an admin
    404: {"no_output"},
    409: {"layout_invalid", "tables_elsewhere", "tables_unreadable", "rows_error"},
}


def known(answer: Json) -> Json:
    """Without members that each event changes, when its run ended, and without the label that a forged name removes."""
    return {**answer, "dataset": None, "notes": [], "runs": [run["run"] for run in answer["runs"]]}


def check(response: Any, expected: Json) -> None:
    """One refusal in one line, or the answer as it would be without the forged members."""
    assert SECRET not in response.text
    if response.status_code == 200:
        assert known(response.json()) == known(expected)
        assert response.json()["dataset"] in (expected["dataset"], None)
        return
    problem = response.json()
    assert problem["code"] in REFUSED[response.status_code], response.text
    assert len(problem["detail"]) < 1_000
    assert "\n" not in problem["detail"]


@pytest.fixture(scope="module")
def expected(served_tables: ServedTables, entry_points: EntryPoints) -> list[Json]:
    assert entry_points.send(served_tables.facet)
    answers = [entry_points.ask("read", "POST", "/rows/trace", question) for question in QUERIES]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 200]
    assert [answer.json()["count"] for answer in answers if answer.status_code == 200] == [9, 1, 2]
    return [answer.json() for answer in answers]


def test_canaries_detect_reads(served_tables: ServedTables, opened: OpenedFiles) -> None:
    """The tables outside, for a reader who may read them: so the detection works."""
    opened.since_last()
    with PairTables(served_tables.outside["location"]) as tables:
        assert SECRET in json.dumps(tables_document(tables, "customer = 4", 10))
    seen = opened.since_last()
    assert {Path(path).name for path in seen} >= {"headwater-pairs.json", "part-0.parquet"}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(data=st.data())
def test_every_member_with_any_value(
    served_tables: ServedTables,
    entry_points: EntryPoints,
    opened: OpenedFiles,
    expected: list[Json],
    data: st.DataObject,
) -> None:
    path = data.draw(st.sampled_from([*places(served_tables.facet), *OPTIONAL]))
    facet = served_tables.forged(path, data.draw(HOSTILE))
    at_the_server(entry_points, facet, expected)
    by_python(served_tables, facet)
    assert opened.since_last() == set()


@pytest.mark.parametrize("word", ["SECRET", "SECRETS", "THEIRS", "OUTSIDE", "LINK", "UP", "ENCODED", "LONG", "GLOB"])
def test_folders_of_another_run(
    served_tables: ServedTables, entry_points: EntryPoints, opened: OpenedFiles, expected: list[Json], word: str
) -> None:
    """As an attacker who knows the tables would forge it: every member is correct, except that the tables are
    another run's."""
    facet = served_tables.moved(
        served_tables.theirs if word == "THEIRS" else served_tables.outside, served_tables.words[word]
    )
    at_the_server(entry_points, facet, expected, refused=True)
    by_python(served_tables, facet)
    assert opened.since_last() == set()


@pytest.mark.parametrize("text", ["two\nlines", "a" * 100_000])
@pytest.mark.parametrize("place", [("outputs", 0, "identity", 0), ("outputs", 0, "mode"), *OPTIONAL], ids=str)
def test_a_refusal_is_one_short_line(
    served_tables: ServedTables,
    entry_points: EntryPoints,
    opened: OpenedFiles,
    expected: list[Json],
    place: Path_,
    text: str,
) -> None:
    """Also where it quotes the request."""
    at_the_server(entry_points, served_tables.forged(place, text), expected)
    by_python(served_tables, served_tables.forged(place, text))


def at_the_server(entry_points: EntryPoints, facet: Any, expected: list[Json], *, refused: bool = False) -> None:
    if not entry_points.send(facet):
        return
    for question, right in zip(QUERIES, expected, strict=True):
        response = entry_points.ask("read", "POST", "/rows/trace", question)
        check(response, right)
        assert not (refused and response.status_code == 200), response.text
        assert entry_points.ask("part", "POST", "/rows/trace", question).status_code == 403
    way = entry_points.ask("read", "GET", "/rows/askable", dataset="counts", namespace=NAMESPACE)
    assert way.status_code == 200, way.text
    assert SECRET not in way.text
    reason = way.json()["instant"]["reason"] or ""
    assert len(reason) < 1_000
    assert "\n" not in reason
    for read in (f"/runs/{MINE}", f"/jobs/runs/{MINE}/facets"):
        shown = entry_points.ask("read", "GET", read, **({"type": "run"} if "facets" in read else {}))
        assert shown.status_code == 200, shown.text
        assert SECRET not in shown.text
        # Of a run that wrote what a key does not see, the key is not told where the rows of that are.
        partly = entry_points.ask("part", "GET", read, **({"type": "run"} if "facets" in read else {}))
        assert partly.status_code == 200, partly.text
        assert ADJOINT_FACET not in partly.text


def by_python(served_tables: ServedTables, facet: Any) -> None:
    try:
        with PairTables(facet, run_id=MINE, roots=LookupRoots.of_server(str(served_tables.rows))) as tables:
            answer, refusal = json.dumps(tables_document(tables, "customer = 4", 100)), ""
    except HeadwaterError as refused:
        answer, refusal = "", str(refused)
    assert SECRET not in answer + refusal
    assert "\n" not in refusal
    assert len(refusal) < 1_000


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(value=HOSTILE)
@example(value={"outputs": "x"})
@example(value={"outputs": [None]})
@example(value={"outputs": {"0": {}}})
def test_a_facet_with_any_content(
    served_tables: ServedTables, entry_points: EntryPoints, opened: OpenedFiles, expected: list[Json], value: Any
) -> None:
    at_the_server(entry_points, value, expected)
    by_python(served_tables, value)
    assert opened.since_last() == set()


@pytest.fixture
def command(
    served_tables: ServedTables, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> Callable[[], tuple[int, str, str]]:
    monkeypatch.setenv("HEADWATER_STORE", served_tables.url)

    def asked() -> tuple[int, str, str]:
        capfd.readouterr()
        code = run_app(commands, ["rows", "lookup", MINE, "--where", "customer = 4", "--json"])
        return code, *capfd.readouterr()

    return asked


@pytest.mark.parametrize("word", ["THEIRS", "SQL", None])
def test_command_line(
    served_tables: ServedTables,
    entry_points: EntryPoints,
    opened: OpenedFiles,
    command: Callable[[], tuple[int, str, str]],
    word: Any,
) -> None:
    """A user of the command line can read whatever that user may: but not the tables of another run, and no other
    files."""
    for path in [*(path for path in places(served_tables.facet) if len(path) < 4), *NUMBERED]:
        if path[:1] != ("outputs",) or not entry_points.send(served_tables.forged(path, word)):
            continue
        code, out, err = command()
        assert code == 0 or (code, out) == (1, ""), err
        assert SECRET not in out + err
        assert err.count("\n") == code, err
        assert opened.since_last() == set()
