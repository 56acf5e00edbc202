"""Every member of the facet `cdme.adjointMetadata`, in any way, at every door: one clear refusal or a labelled answer.

Canaries lie where nobody may look: a secret file, the rows of another run, tables outside the rows location. That none
of them is opened is Linux's word (tests/support/opened_files.py), not the answer's alone.
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
from tests.server.asking import API, LOCAL
from tests.support.events import JOB_NAMESPACE, NAMESPACE, run_event, run_id, used
from tests.support.opened_files import OpenedFiles
from tests.support.pair_tables import write_orders, write_pair_tables

Json = dict[str, Any]
Path_ = tuple[str | int, ...]
SECRET = "canary-7f3a"
MINE, THEIRS = run_id("mine"), run_id("theirs")
PRODUCER = "urn:test"

pytestmark = pytest.mark.skipif(OpenedFiles.why_not() is not None, reason=f"not run: {OpenedFiles.why_not()}")


class Estate:
    """Tables of a run that is asked about, canaries, and a server with a key that writes and one that reads."""

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
        """Of the same run, later than the one before."""
        self._sent += 1
        return run_event(
            run="mine", job="count", outputs=[used("counts")], minute=self._sent, run_facets={ADJOINT_FACET: facet}
        )


class Doors:
    def __init__(self, estate: Estate, client: TestClient) -> None:
        self._estate = estate
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
        answer = self.ask("write", "POST", "/lineage", self._estate.event(facet))
        assert answer.status_code in (201, 400, 413, 422), answer.text
        return bool(answer.status_code == 201)


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Estate:
    return Estate(tmp_path_factory.mktemp("estate"), sqlite_template)


@pytest.fixture(scope="module")
def doors(estate: Estate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    settings = ServerSettings(workspace=str(tmp_path_factory.mktemp("work")), rows_location=str(estate.rows))
    with TestClient(create_app(estate.url, settings), base_url=LOCAL, raise_server_exceptions=False) as client:
        yield Doors(estate, client)


@pytest.fixture(scope="module")
def opened(estate: Estate, doors: Doors) -> Iterator[OpenedFiles]:
    with OpenedFiles(estate.canaries) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_is_left(opened: OpenedFiles) -> None:
    """What a test before this one had opened is not this one's."""
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
QUESTIONS: list[Json] = [
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
    """Without what each event changes, when its run ended, and without the label that a forged name takes away."""
    return {**answer, "dataset": None, "notes": [], "runs": [run["run"] for run in answer["runs"]]}


def judge(response: Any, expected: Json) -> None:
    """One refusal in one line, or the answer as it would be without what was forged."""
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
def expected(estate: Estate, doors: Doors) -> list[Json]:
    assert doors.send(estate.facet)
    answers = [doors.ask("read", "POST", "/rows/trace", question) for question in QUESTIONS]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 200]
    assert [answer.json()["count"] for answer in answers if answer.status_code == 200] == [9, 1, 2]
    return [answer.json() for answer in answers]


def test_canaries_show_who_looks_at_them(estate: Estate, opened: OpenedFiles) -> None:
    """The tables outside, for somebody who may: so a test that sees nothing opened could have seen it."""
    opened.since_last()
    with PairTables(estate.outside["location"]) as tables:
        assert SECRET in json.dumps(tables_document(tables, "customer = 4", 10))
    seen = opened.since_last()
    assert {Path(path).name for path in seen} >= {"headwater-pairs.json", "part-0.parquet"}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(data=st.data())
def test_every_member_in_every_way(
    estate: Estate, doors: Doors, opened: OpenedFiles, expected: list[Json], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from([*places(estate.facet), *OPTIONAL]))
    facet = estate.forged(path, data.draw(HOSTILE))
    at_the_server(doors, facet, expected)
    by_python(estate, facet)
    assert opened.since_last() == set()


@pytest.mark.parametrize("word", ["SECRET", "SECRETS", "THEIRS", "OUTSIDE", "LINK", "UP", "ENCODED", "LONG", "GLOB"])
def test_folders_that_are_somebody_else_s(
    estate: Estate, doors: Doors, opened: OpenedFiles, expected: list[Json], word: str
) -> None:
    """As one would forge it who knows the tables: all that is said of them is true, but that they are this run's."""
    facet = estate.moved(estate.theirs if word == "THEIRS" else estate.outside, estate.words[word])
    at_the_server(doors, facet, expected, refused=True)
    by_python(estate, facet)
    assert opened.since_last() == set()


@pytest.mark.parametrize("text", ["two\nlines", "a" * 100_000])
@pytest.mark.parametrize("place", [("outputs", 0, "identity", 0), ("outputs", 0, "mode"), *OPTIONAL], ids=str)
def test_a_refusal_is_one_short_line(
    estate: Estate, doors: Doors, opened: OpenedFiles, expected: list[Json], place: Path_, text: str
) -> None:
    """Also where it quotes what was sent."""
    at_the_server(doors, estate.forged(place, text), expected)
    by_python(estate, estate.forged(place, text))


def at_the_server(doors: Doors, facet: Any, expected: list[Json], *, refused: bool = False) -> None:
    if not doors.send(facet):
        return
    for question, right in zip(QUESTIONS, expected, strict=True):
        response = doors.ask("read", "POST", "/rows/trace", question)
        judge(response, right)
        assert not (refused and response.status_code == 200), response.text
        assert doors.ask("part", "POST", "/rows/trace", question).status_code == 403
    way = doors.ask("read", "GET", "/rows/askable", dataset="counts", namespace=NAMESPACE)
    assert way.status_code == 200, way.text
    assert SECRET not in way.text
    reason = way.json()["instant"]["reason"] or ""
    assert len(reason) < 1_000
    assert "\n" not in reason
    for read in (f"/runs/{MINE}", f"/jobs/runs/{MINE}/facets"):
        shown = doors.ask("read", "GET", read, **({"type": "run"} if "facets" in read else {}))
        assert shown.status_code == 200, shown.text
        assert SECRET not in shown.text
        # Of a run that wrote what a key does not see, the key is not told where the rows of that are.
        partly = doors.ask("part", "GET", read, **({"type": "run"} if "facets" in read else {}))
        assert partly.status_code == 200, partly.text
        assert ADJOINT_FACET not in partly.text


def by_python(estate: Estate, facet: Any) -> None:
    try:
        with PairTables(facet, run_id=MINE, roots=LookupRoots.of_server(str(estate.rows))) as tables:
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
def test_a_facet_that_is_anything(
    estate: Estate, doors: Doors, opened: OpenedFiles, expected: list[Json], value: Any
) -> None:
    at_the_server(doors, value, expected)
    by_python(estate, value)
    assert opened.since_last() == set()


@pytest.fixture
def command(estate: Estate, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Callable[[], tuple[int, str, str]]:
    monkeypatch.setenv("HEADWATER_STORE", estate.url)

    def asked() -> tuple[int, str, str]:
        capfd.readouterr()
        code = run_app(commands, ["rows", "lookup", MINE, "--where", "customer = 4", "--json"])
        return code, *capfd.readouterr()

    return asked


@pytest.mark.parametrize("word", ["THEIRS", "SQL", None])
def test_command_line(
    estate: Estate, doors: Doors, opened: OpenedFiles, command: Callable[[], tuple[int, str, str]], word: Any
) -> None:
    """A person at the command line reads whatever that user may: not the tables of another run, and no other files."""
    for path in [*(path for path in places(estate.facet) if len(path) < 4), *NUMBERED]:
        if path[:1] != ("outputs",) or not doors.send(estate.forged(path, word)):
            continue
        code, out, err = command()
        assert code == 0 or (code, out) == (1, ""), err
        assert SECRET not in out + err
        assert err.count("\n") == code, err
        assert opened.since_last() == set()
