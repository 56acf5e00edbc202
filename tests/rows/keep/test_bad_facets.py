"""Every member of a facet may be anything: one refusal, and nothing outside the allowed roots is looked at."""

from __future__ import annotations

import base64
import copy
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headwater.errors import KeptPlanRefused, RowsError
from headwater.rows.kept_queries.roots import PlanRoots
from headwater.rows.kept_queries.trust import PlanTrust
from tests.capture.telling import Json
from tests.rows.keep.keeping import PLACE, trusted


def listed(*paths: str) -> Json:
    text = "".join(f"10\t1763000000000\t{path}\0" for path in paths).encode()
    return {"count": len(paths), "list": base64.b64encode(zlib.compress(text)).decode()}


def facet(*paths: str, **source: Any) -> Json:
    """As a capture writes it, of a query over these files."""
    schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
    read = {"kind": "files", "format": "parquet", "options": {}, "schema": schema, "partitions": '{"fields":[]}'}
    about = {
        "datasets": [{"namespace": "file", "name": "/in"}],
        "ids": [1],
        "files": listed(*(paths or ("file:/in/a",))),
    }
    return {
        "mode": "key",
        "spark": "4.3.0",
        "replayable": True,
        "needs": [],
        "columns": ["id"],
        "plan": {"format": "headwater-plan-1", "digest": "sha256:00", "bytes": "AA==", "text": "", "python": []},
        "sources": [{**read, **about, **source}],
        "written": {"uri": "file:/out", "format": "parquet", "files": listed("file:/out/b")},
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [path, *(found for name in value for found in places(value[name], (*path, name)))]
    if isinstance(value, list):
        return [path, *(found for number in range(len(value)) for found in places(value[number], (*path, number)))]
    return [path]


PLACES = [path for path in places(facet()) if path]
STRANGE: list[Any] = [
    *("'; DROP TABLE x; --", "../../etc/passwd", "file:/etc/passwd", "http://127.0.0.1/", "jdbc:derby:memory:x"),
    *("\0", "\ud800", "java.io.File", 2**63, -(2**63) - 1, 10**400, float("nan"), float("inf")),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(STRANGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def with_member(whole: Json, path: tuple[Any, ...], value: Any) -> Json:
    changed = copy.deepcopy(whole)
    holder: Any = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


@settings(suppress_health_check=[HealthCheck.too_slow])  # where the machine is busy
@given(st.sampled_from(PLACES), JSON)
@example(("sources", 0, "files", "count"), 10**400)
@example(("sources", 0, "files", "list"), base64.b64encode(zlib.compress(b"x" * 10_000_000)).decode())
@example(("sources", 0, "files", "list"), base64.b64encode(zlib.compress(b"1\t1e5\tfile:/a\0")).decode())
@example(("sources", 0, "files", "list"), base64.b64encode(zlib.compress(b"9" * 5000 + b"\t1\tfile:/a\0")).decode())
@example(("sources", 0, "schema"), "[" * 100_000)
@example(("sources", 0, "format"), "java.io.File")
@example(("sources", 0, "options"), {"avroSchemaUrl": "http://127.0.0.1/"})
@example(("replayable",), "yes")
def test_any_member_may_be_anything(path: tuple[Any, ...], value: Any) -> None:
    """It passes with the types that a capture writes, or is refused in one line; nothing else is raised."""
    changed = with_member(facet(), path, value)
    refusal = ""
    try:
        assert PlanTrust(allow_unsigned=True).verify(changed, PLACE).content is changed
    except RowsError as refused:
        refusal = str(refused)
    assert not {"\n", "\0"} & set(refusal)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=8), JSON) | JSON)
def test_a_facet_that_is_anything(value: Any) -> None:
    with pytest.raises(KeptPlanRefused):
        PlanTrust(allow_unsigned=True).verify(value, PLACE)


REACHING = [
    "http://127.0.0.1:9/secret",
    "https://169.254.169.254/latest/meta-data",
    "ftp://127.0.0.1/x",
    "jdbc:postgresql://127.0.0.1/x",
    "jar:file:/a.jar!/x",
    "har://x/y",
    "file:/in/../../etc/passwd",
    "file:/in/%2e%2e/%2e%2e/etc/passwd",
    "unknown:/x",
]


@pytest.mark.parametrize("path", REACHING)
def test_paths_that_no_kept_plan_reads(path: str) -> None:
    for changed in (
        facet(path),
        facet("file:/in/a", path),
        with_member(facet(), ("written", "files"), listed(path)),
        with_member(facet(), ("written", "uri"), path),
        with_member(
            facet(), ("sources", 0), {"kind": "delta", "datasets": [], "ids": [1], "version": "1", "path": path}
        ),
    ):
        with pytest.raises(KeptPlanRefused, match="it reads"):
            trusted(changed)
        with pytest.raises(KeptPlanRefused, match="it reads"):
            trusted(changed, roots=PlanRoots(local_only=True))


@pytest.mark.parametrize("path", ["s3a://bucket/x", "hdfs://host/x", "file://host/x", "//host/x"])
def test_a_server_reads_its_own_machine_unless_a_root_allows_more(path: str) -> None:
    with pytest.raises(KeptPlanRefused, match="not on this machine"):
        trusted(facet(path), roots=PlanRoots(local_only=True))


def test_roots(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a").touch()
    (inside / "link").symlink_to(outside / "a")
    (inside / "folder").symlink_to(outside)
    (inside / "near").symlink_to(inside / "a")
    roots = PlanRoots((str(inside), "s3a://bucket/in", "file:/out"), local_only=True)
    for path in (f"file:{inside}/a", f"file://{inside}/a", f"{inside}/near", "s3a://bucket/in/a"):
        trusted(facet(path), roots=roots)
    for path in (
        *(f"file:{outside}/a", f"file:{inside}/link", f"file:{inside}/folder/a", f"file:{inside}2/a", f"{outside}/a"),
        *("s3a://bucket/inner/a", "s3a://bucket/in/../x", "s3a://other/in/a", f"file://host{inside}/a", "http://a/"),
    ):
        with pytest.raises(KeptPlanRefused, match="it reads") as refused:
            trusted(facet(path), roots=roots)
        assert os.path.basename(path) in str(refused.value)
