"""A description of pair tables that somebody else wrote: refused in one line, and nothing else is read or written."""

from __future__ import annotations

import copy
import json
import math
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from headwater.cli.app import app
from headwater.errors import HeadwaterError, LayoutInvalid, PathNotAllowed, RowsError
from headwater.rows.pairs.layout import FILES, MARKER_FILE
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.opening import LookupRoots
from headwater.rows.pairs.render import tables_document
from headwater.store.store import Store
from tests.support.events import run_event, run_id
from tests.support.pair_tables import write_orders, write_pair_tables

SECRET = "canary-7f3a"
MINE, THEIRS = run_id("mine"), run_id("theirs")


class Estate:
    """Tables of two runs, and canaries beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = folder / "rows"
        self.canary = folder / "canary" / "secret.txt"
        self.written = folder / "canary" / "written.csv"
        self.canary.parent.mkdir()
        self.canary.write_text(SECRET)
        self.entry = write_pair_tables(self.rows, MINE, write_orders(folder / "orders" / "part-0.parquet"))
        self.other = write_pair_tables(self.rows, THEIRS, write_orders(folder / "others" / "part-0.parquet", 50))
        self._before = self._files()

    def _files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}

    def assert_untouched(self) -> None:
        assert self._files() == self._before

    @property
    def sql(self) -> str:
        """What the attack of a review had in `occurrence`."""
        return (
            "0_file AS file, 0 AS row FROM (SELECT 1 AS __hw_s0_file)); "
            f"COPY (SELECT content FROM read_text('{self.canary}')) TO '{self.written}'; --"
        )


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Estate:
    return Estate(tmp_path_factory.mktemp("estate"))


def answer(entry: Any, where: str | None = "customer = 4", **options: Any) -> dict[str, Any]:
    with PairTables({"outputs": [entry]}, run_id=MINE, **options) as tables:
        return tables_document(tables, where, 100)


def changed(entry: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    forged: Any = copy.deepcopy(entry)
    inner = forged
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return dict(forged)


def fields(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from fields(member, (*path, name))


def test_what_is_not_forged_is_answered(estate: Estate) -> None:
    told = answer(estate.entry)
    assert [row["customer"] for row in told["rows"]] == [4]
    assert [row["id"] for row in told["sources"][0]["rows"]] == list(range(4, 100, 9))
    with PairTables(estate.entry) as tables:
        tables.verify()
        [(file, _), *_] = tables.sources([out.id for out in tables.output_rows("customer = 4")])[0].rows()
        assert [out.values["customer"] for out in tables.rows_reached(0, [(file, 4), (file, 5)])] == [4, 5]


def test_sql_in_an_occurrence_is_refused(estate: Estate) -> None:
    for path in [
        ("sources", 0, "occurrence"),
        ("composition", 1, "sources", 0),
        ("composition", 0, "links", 0, "link"),
    ]:
        whole = changed(changed(estate.entry, ("composition", 1, "sources"), [estate.sql]), path, estate.sql)
        with pytest.raises(LayoutInvalid, match="is refused at ") as refused:
            answer(whole)
        assert SECRET not in str(refused.value)
    for path in [("composition", 1, "block"), ("composition", 0, "block"), ("composition", 0, "links", 0, "to")]:
        for block in ("1/../../../../canary", "../../../../../canary", 10**30, -1, True, 1.0, None):
            with pytest.raises(LayoutInvalid):
                answer(changed(estate.entry, path, block))
    estate.assert_untouched()


HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([math.nan, math.inf, -math.inf, 0.5, 1e308, -1, 2, 7, 10**4 + 1, 2**63, 10**400, -(10**400)]),
    st.integers(),
    st.floats(),
    st.sampled_from(
        [
            *("", "x", "\x00", "\ud800", "full", "sampled", "content", "range", "a" * 200_000),
            *("..", "../..", "/etc", "/etc/passwd", "file:/etc", "file:///proc/self", "~", "//host/share"),
            *("s3://bucket/x", "http://127.0.0.1:9/x", "file://host/x", "block-0/../..", "block-*", "*"),
            *("1 OR 1=1", "'; ATTACH '/tmp/x.db'; --", '"; DROP TABLE x; --', "read_text('/etc/passwd')", "{0}", "?"),
            "sha256:" + "0" * 64,
        ]
    ),
    st.text(max_size=20),
    st.sampled_from([[], {}, [[]], [{}], {"": None}, {"a": "b"}, ["a"] * 10_001]),
    st.just("SQL"),
    st.just("CANARY"),
    st.just("THEIRS"),
)
_NOT_READ = {"agreement", "notes", "rows", "pairs", "bytes"}
"""A lookup takes notes from the folder's own mark; nothing is looked up by the rest."""


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_field_in_every_way(estate: Estate, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(fields(estate.entry))))
    value = data.draw(HOSTILE)
    special = {"SQL": estate.sql, "CANARY": str(estate.canary.parent), "THEIRS": estate.other["location"]}
    value = special.get(value, value) if isinstance(value, str) else value
    forged = changed(estate.entry, path, value)
    same = json.dumps(forged) == json.dumps(estate.entry)
    if same or path[0] in _NOT_READ or "pairs" in path or "bytes" in path:
        with suppress(LayoutInvalid):
            assert answer(forged) == answer(estate.entry)
        return
    with pytest.raises(HeadwaterError) as refused:
        answer(forged)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1_000
    assert SECRET not in str(refused.value)


@settings(max_examples=100, deadline=None)
@given(value=st.recursive(HOSTILE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)))
def test_no_entry_at_all(value: Any) -> None:
    for facet in (value, {"outputs": value}, {"outputs": [value]}):
        with pytest.raises(HeadwaterError):
            PairTables(facet, run_id=MINE)


def test_each_missing_field_is_named(estate: Estate) -> None:
    for name in ("format", "mode", "location", "identity", "sources", "composition", "digests"):
        with pytest.raises(LayoutInvalid, match=f"at {name}"):
            answer({key: value for key, value in estate.entry.items() if key != name})


def test_the_tables_of_another_run_are_not_read(estate: Estate) -> None:
    with pytest.raises(LayoutInvalid, match="not a folder of this run"):
        answer(estate.other)
    moved = changed(estate.other, ("location",), estate.entry["location"])
    moved = json.loads(json.dumps(moved).replace(THEIRS, MINE))
    with pytest.raises(LayoutInvalid, match="holds other tables than it describes"):
        answer(moved)
    estate.assert_untouched()


def test_lookups_stay_below_their_roots(estate: Estate, tmp_path: Path) -> None:
    assert answer(estate.entry, roots=LookupRoots.of_server(str(estate.rows)))["count"] == 1
    with pytest.raises(PathNotAllowed):
        answer(estate.entry, roots=LookupRoots.of_server(str(tmp_path)))
    both = LookupRoots.of_server(str(estate.rows), [str(estate.folder / "orders")])
    assert answer(estate.entry, roots=both)["count"] == 1
    without = LookupRoots.of_server(str(estate.rows), [str(tmp_path)])
    with pytest.raises(PathNotAllowed, match="outside the folders that may be read"):
        answer(estate.entry, roots=without)
    link = tmp_path / "rows" / MINE
    link.parent.mkdir()
    link.symlink_to(estate.rows / MINE)
    linked = json.loads(json.dumps(estate.entry).replace(str(estate.rows), str(link.parent)))
    with pytest.raises(PathNotAllowed):
        answer(linked, roots=LookupRoots.of_server(str(link.parent)))


@pytest.fixture
def copied(estate: Estate, tmp_path: Path) -> Path:
    folder = tmp_path / "rows" / MINE / "0"
    shutil.copytree(estate.rows / MINE / "0", folder)
    return folder


def test_a_folder_is_not_trusted_either(estate: Estate, copied: Path) -> None:
    """One that somebody else has laid down, whose name a person types."""
    with PairTables(copied) as tables:
        assert tables_document(tables, "customer = 4", 10)["count"] == 1
    file = copied / "block-1" / "part-0.parquet"
    outside = estate.rows / MINE / "0" / "block-1" / "part-0.parquet"
    file.unlink()
    file.symlink_to(outside)
    with PairTables(copied) as tables, pytest.raises(PathNotAllowed):
        tables_document(tables, "customer = 4", 10)
    mark = copied / MARKER_FILE
    entry = json.loads(mark.read_text())
    for text in (
        json.dumps({**entry, "sample": math.nan}),
        "[" * 100_000,
        "1" * 10_000,
        json.dumps(changed(entry, ("sources", 0, "occurrence"), estate.sql)),
        "\x00",
    ):
        mark.write_text(text)
        with pytest.raises(RowsError):
            PairTables(copied)
    estate.assert_untouched()


@pytest.mark.parametrize(
    "files",
    [
        *(
            {"0": {"77": "s3://b/x.parquet"}},
            {"0": {"77": "http://127.0.0.1:9/x.parquet"}},
            {"0": {"77": "relative.parquet"}},
        ),
        *({"0": {"77": 5}}, {"0": {"x": "/a.parquet"}}, {"0": {"9" * 30: "/a.parquet"}}, {"0": []}, {}, [], None),
        *({"0": {"77": "/a/../b.parquet"}}, {"0": {"77": "CANARY"}}, {"0": {"77": "/proc/*/environ"}}),
    ],
)
def test_files_that_tables_name_are_parquet_files_of_this_machine(estate: Estate, copied: Path, files: Any) -> None:
    (copied / FILES).write_text(json.dumps(files).replace("CANARY", str(estate.canary)))
    with PairTables(copied) as tables, pytest.raises(HeadwaterError) as refused:
        tables_document(tables, "customer = 4", 10)
    assert "\n" not in str(refused.value)
    assert SECRET not in str(refused.value)


WRONG_CONDITIONS = [
    "customer = 4); COPY (SELECT 1) TO '{written}'; SELECT (1 = 1",
    "customer IN (SELECT length(content) FROM read_text('{canary}'))",
    "(SELECT count(*) FROM read_text('{canary}')) = 1",
    "read_text('{canary}') = 'x'",
    "getenv('HOME') = customer",
    "current_setting('temp_directory') = 'x'",
    "customer = 4 -- and so on",
    "customer = 4; SELECT 1",
    "__hw_out_hi = 4",
    "customer = 'no number'",
    "customer = $1",
    "customer =",
    "",
    "a" * 20_000,
]


@pytest.mark.parametrize("text", WRONG_CONDITIONS)
def test_a_condition_is_a_condition(estate: Estate, text: str) -> None:
    text = text.replace("{canary}", str(estate.canary)).replace("{written}", str(estate.written))
    with pytest.raises(HeadwaterError) as refused:
        answer(estate.entry, where=text)
    assert SECRET not in str(refused.value)
    estate.assert_untouched()


def test_conditions_as_duckdb_reads_them(estate: Estate) -> None:
    for text, count in [
        ('"customer" = 4', 1),
        ("CUSTOMER IN (1, 2) OR customer > 6", 4),
        ("customer BETWEEN 2 AND 4 AND NOT customer = 3", 2),
        ("cast(customer AS varchar) LIKE '4%'", 1),
        (r"cast(customer AS varchar) = '\'", 0),
        ("customer IS NOT NULL", 9),
    ]:
        assert answer(estate.entry, where=text)["count"] == count, text


def test_on_the_command_line(estate: Estate, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/lineage.db"

    def asked(entry: Any, *more: str) -> Any:
        facet = {"outputs": [entry]}
        with Store(address) as store:
            store.ingest(run_event(run="mine", run_facets={"cdme.adjointMetadata": facet}))
        return CliRunner().invoke(app, ["rows", "lookup", MINE, "--store", address, "--json", *more])

    good = asked(estate.entry, "--where", "customer = 4")
    assert json.loads(good.stdout)["count"] == 1
    wrong = asked(estate.entry, "--where", f"customer IN (SELECT 1 FROM read_text('{estate.canary}'))")
    assert isinstance(wrong.exception, HeadwaterError)
    assert "It contains a subquery" in str(wrong.exception)
    forged = CliRunner()
    with Store(address) as store:
        facet = {"outputs": [changed(estate.entry, ("sources", 0, "occurrence"), estate.sql)]}
        store.ingest(run_event(run="forged", run_facets={"cdme.adjointMetadata": facet}))
    result = forged.invoke(app, ["rows", "lookup", run_id("forged"), "--store", address])
    assert isinstance(result.exception, LayoutInvalid)
    assert SECRET not in result.output
    estate.assert_untouched()


def test_a_long_list_of_files(estate: Estate, copied: Path) -> None:
    """The files are then allowed when rows of them are asked for, and no sooner."""
    orders = json.loads((copied / FILES).read_text())["0"]["77"]
    numbered = {"77": orders, **{str(number): f"/nowhere/{number}.parquet" for number in range(1_000, 3_000)}}
    (copied / FILES).write_text(json.dumps({"0": numbered}))
    with PairTables(copied) as tables:
        told = tables_document(tables, "customer = 4", 100)
        assert [row["id"] for row in told["sources"][0]["rows"]] == list(range(4, 100, 9))
        assert tables.output_rows("customer = 5")[0].values == {"customer": 5}
