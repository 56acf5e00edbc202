"""The redaction step of an event: its texts and its compressed content."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from headwater.capture.events.redaction import RedactedFrames
from headwater.formats.openlineage.claims.preimages import wrong_hashes
from headwater.proof.canonical import digest_and_preimage, digest_of
from headwater.redaction.redactor import TEXT_PATTERN_SETTINGS, Redactor
from headwater.redaction.shapes import MARK

Json = dict[str, Any]


def packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


def event(**rows: Any) -> Json:
    design, text = digest_and_preimage({"plan": [{"is": "Filter", "password": "not to be touched"}]})
    config = {"settings": {"spark.sql.x": "1"}}
    facet = {
        "mode": "key",
        "plan": {
            "format": "headwater-plan-1",
            "bytes": packed("org.apache.spark and a literal"),
            "text": "Filter (a = 1)",
        },
        "sources": [
            {"kind": "files", "options": {}, "files": {"count": 1, "list": packed("1\t2\tfile:/in/a.parquet\0")}}
        ],
        "written": {"uri": "file:/out", "files": {"count": 1, "list": packed("1\t2\tfile:/out/a.parquet\0")}},
        "replayable": True,
        "needs": [],
    }
    manifest = {"designHash": design, "design": text.decode(), "configHash": digest_of(config), "config": config}
    return {
        "eventType": "COMPLETE",
        "run": {"runId": "a", "facets": {"cdme.runManifest": manifest}},
        "job": {"namespace": "n", "name": "j", "facets": {"sql": {"query": "SELECT 1"}}},
        "inputs": [],
        "outputs": [{"namespace": "file", "name": "/out", "outputFacets": {"headwater_rows": facet | rows}}],
    }


def sent(given: Json, **settings: str) -> Json:
    found: Json = json.loads(RedactedFrames(Redactor(settings))(given).body)
    return found


def rows_of(found: Json) -> Json:
    rows: Json = found["outputs"][0]["outputFacets"]["headwater_rows"]
    return rows


def test_an_event_without_secrets_is_unchanged() -> None:
    assert sent(event()) == event()
    assert sent(event(), **{TEXT_PATTERN_SETTINGS[0]: "nowhere"}) == event()  # looked into, text by text


def test_texts_are_redacted_and_hashes_still_match() -> None:
    given = event()
    given["job"]["facets"]["sql"]["query"] = "SELECT 1 WHERE password = 'abc'"
    given["inputs"] = [{"namespace": "s3://u:abc@b", "name": "x"}]
    found = sent(given)
    assert found["job"]["facets"]["sql"]["query"] == f"SELECT 1 WHERE password = '{MARK}'"
    assert found["inputs"] == [{"namespace": f"s3://u:{MARK}@b", "name": "x"}]
    manifest = found["run"]["facets"]["cdme.runManifest"]
    assert manifest == event()["run"]["facets"]["cdme.runManifest"]
    assert wrong_hashes(manifest) == []
    assert given["inputs"][0]["namespace"] == "s3://u:abc@b"  # which is somebody else's


def test_a_query_whose_text_has_a_secret_is_not_stored() -> None:
    given = event()
    given["job"]["facets"]["sql"]["query"] = "SELECT 1 WHERE password = 'abc'"
    rows = rows_of(sent(given))
    assert "plan" not in rows
    assert (rows["replayable"], rows["needs"]) == (False, ["its text holds what looks like a secret"])
    assert rows["written"] == rows_of(event())["written"]


@pytest.mark.parametrize(
    "bytes", [packed("x eyJhbGciOiJIUzI1NiJ9.e.x y"), packed("password='abc'"), "AAAA", "no base64"]
)
def test_a_plan_with_a_secret_is_not_stored(bytes: str) -> None:
    rows = rows_of(sent(event(plan={"bytes": bytes, "text": "Filter"})))
    assert "plan" not in rows
    assert rows["replayable"] is False
    assert rows["needs"][0].startswith("the plan holds what looks like a secret (")


def test_lists_of_files_with_a_secret_in_their_paths() -> None:
    listed = {"count": 1, "list": packed("1\t2\ts3a://u:abc@b/a.parquet\0")}
    rows = rows_of(sent(event(sources=[{"kind": "files", "options": {}, "files": listed}])))
    assert rows["sources"] == [{"kind": "files", "options": {}}]
    assert (rows["replayable"], rows["needs"]) == (
        False,
        ["the paths of an input's files hold what looks like a secret"],
    )
    rows = rows_of(sent(event(written={"uri": "s3a://u:abc@b", "files": listed})))
    assert rows["written"] == {
        "uri": f"s3a://u:{MARK}@b",
        "unknown": "the paths of its files hold what looks like a secret (a password in an address)",
    }


def test_sparks_redaction_settings_apply_to_plans() -> None:
    rows = rows_of(sent(event(), **{TEXT_PATTERN_SETTINGS[1]: "a literal"}))
    assert "plan" not in rows
    assert rows["needs"] == [
        "the plan holds what looks like a secret (a value that the settings of Spark name as secret)"
    ]
