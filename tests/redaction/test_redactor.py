"""Secrets that Spark's settings name, and redaction of documents."""

from __future__ import annotations

import logging

import pytest

from headwater.redaction.logs import redact_logs
from headwater.redaction.redactor import KEY_PATTERN_SETTING, OPTION_PATTERN_SETTING, TEXT_PATTERN_SETTINGS, Redactor
from headwater.redaction.shapes import MARK


def test_options_by_their_names() -> None:
    document = {
        "options": {"header": "true", "password": "abc", "url": "jdbc:h2:x", "query": "WHERE token = 'abc'"},
        "fields": {"password": "direct"},
        "list": ["password=abc", 3, None],
        "inputs": {"s3a://u:abc@b/x": "sha256:1"},
    }
    assert Redactor().document(document) == {
        "options": {"header": "true", "password": MARK, "url": MARK, "query": f"WHERE token = '{MARK}'"},
        "fields": {"password": "direct"},
        "list": [f"password={MARK}", 3, None],
        "inputs": {f"s3a://u:{MARK}@b/x": "sha256:1"},
    }


def test_lists_of_options_in_sql() -> None:
    sql = "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:h2:x', 'dbtable' = 'a', pin 'abc') WHERE url = 'x'"
    assert Redactor().text(sql) == sql.replace("jdbc:h2:x", MARK)
    assert Redactor({OPTION_PATTERN_SETTING: "^pin$"}).text(sql) == sql.replace("jdbc:h2:x", MARK).replace("abc", MARK)


def test_keys_of_sparks_own_setting() -> None:
    redactor = Redactor({KEY_PATTERN_SETTING: "(?i)pin|code"})
    for text in ("pin=abc", "the_code = 'abc'", '"pin": "abc"', "Map(pin -> abc, a -> b)"):
        redacted = redactor.text(text)
        assert "abc" not in redacted, text
        assert redactor.text(redacted) == redacted
        assert redactor.may_hold_secret(text)
    assert redactor.options({"pin": "abc", "pan": "abc"}) == {"pin": MARK, "pan": "abc"}


def test_texts_of_sparks_own_settings() -> None:
    redactor = Redactor({TEXT_PATTERN_SETTINGS[0]: r"\p{Digit}{4}-\d{4}", TEXT_PATTERN_SETTINGS[1]: "(?i)agent \\w+"})
    assert redactor.text("card 1234-5678 of Agent Smith") == f"card {MARK} of {MARK}"


def test_a_session_only_adds_patterns() -> None:
    redactor = Redactor({TEXT_PATTERN_SETTINGS[1]: "one"})
    redactor.learn({TEXT_PATTERN_SETTINGS[1]: "two"})
    assert redactor.text("one two three") == f"{MARK} {MARK} three"


def test_a_pattern_that_python_cannot_compile_is_reported() -> None:
    told: list[str] = []
    redactor = Redactor({KEY_PATTERN_SETTING: "(?<name"}, lambda name, reason: told.append(name))
    assert told == [KEY_PATTERN_SETTING]
    assert redactor.text("password 'abc'") == f"password '{MARK}'"


def test_the_log_contains_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    redactor = Redactor({TEXT_PATTERN_SETTINGS[1]: "agent [a-z]+"})
    redact_logs(redactor)
    log = logging.getLogger("headwater")
    try:
        raise ValueError("password=abc")
    except ValueError as wrong:
        log.warning("%s and %s", wrong, "agent smith", exc_info=wrong)
    assert f"password={MARK} and {MARK}" in caplog.text
    assert "abc" not in caplog.text
    assert "smith" not in caplog.text
    assert "ValueError" in caplog.text.partition("Traceback")[2]


def test_members_below_a_secret_keep_their_names() -> None:
    redactor = Redactor()
    assert redactor.name("/lake/out&sig=abc/a") == f"/lake/out&sig={MARK}/a"
    assert redactor.name("s3a://u:abc@b/x/token=1/y") == f"s3a://u:{MARK}@b/x/token={MARK}/y"
    assert redactor.name("s3://b") == "s3://b"
    assert redactor.name("file:/a/b") == "file:/a/b"
    assert redactor.document({"name": "/a/secret=abc/b"}) == {"name": f"/a/secret={MARK}/b"}


def test_partitions_of_a_column_with_the_name_of_a_secret() -> None:
    partition = {"dimensions": {"token": "abc", "author": "Ada", "day": "2026-11-15"}}
    assert Redactor().document(partition) == {"dimensions": {"token": MARK, "author": "Ada", "day": "2026-11-15"}}
