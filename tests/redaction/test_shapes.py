"""Secrets in text: which are detected, what stays, and that no text takes long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser as parser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.redaction import literals, redactor, shapes
from headwater.redaction.shapes import MARK, is_secret_column, is_secret_name, redact_secrets, secret_kind_in

SECRET = "hunter2Xy9"

WITH_SECRETS = [
    f"CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:h2:x', password '{SECRET}', dbtable 'x')",
    f"TBLPROPERTIES ('password' = '{SECRET}')",
    f'OPTIONS ("password" "{SECRET}")',
    f"WHERE t.password = '{SECRET}' AND x = 'y'",
    f"WHERE password <=> '{SECRET}'",
    f"SELECT '{SECRET}' AS api_token",
    f"SELECT 'it''s {SECRET}' AS `db_password`",
    f"(password#12 = '{SECRET}')",
    f"password 'cut off {SECRET}",
    f"CREATE USER a IDENTIFIED BY '{SECRET}'",
    f"CREATE USER a IDENTIFIED BY {SECRET};",
    f"ALTER USER a IDENTIFIED WITH mysql_native_password BY '{SECRET}'",
    f"jdbc:postgresql://h/db?user=u&password={SECRET}&ssl=true",
    f"jdbc:postgresql://u:{SECRET}@h:5432/db",
    f"jdbc:mysql://u:p@{SECRET}@h:3306/db",
    f"jdbc:mysql://(host=h,user=u,password={SECRET})/db",
    f"jdbc:oracle:thin:scott/{SECRET}@//h:1521/x",
    f"jdbc:sqlserver://h:1433;user=u;password={{a;{SECRET}}};encrypt=true",
    f"jdbc:snowflake://a.snowflakecomputing.com/?user=u&private_key_pwd={SECRET}",
    f"https://{SECRET}@github.com/a/b.git",
    f"mongodb+srv://u:{SECRET}@cluster/db",
    f"https://a.blob.core.windows.net/c?sv=2020-08-04&sig={SECRET}%3D&se=2026",
    f"https://b.s3.amazonaws.com/k?X-Amz-Credential={SECRET}&X-Amz-Signature={SECRET}",
    f"s3a://AKIAIOSFODNN7EXAMPLE:{SECRET}/with@bucket/x",
    f"aws_secret_access_key = '{SECRET}'",
    f"COPY INTO t CREDENTIALS = (AWS_KEY_ID = 'x' AWS_SECRET_KEY = '{SECRET}')",
    f"SET fs.azure.account.key.acct.dfs.core.windows.net={SECRET}",
    f"SET spark.hadoop.fs.s3a.secret.key={SECRET}",
    f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={SECRET}==;EndpointSuffix=x",
    f"Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey={SECRET}=",
    f'.option("sfPassword", "{SECRET}")',
    f"options={{'user': 'u', 'password': '{SECRET}'}}",
    f"Map(user -> u, password -> {SECRET}, dbtable -> t)",
    f'{{"password": "{SECRET}", "user": "u"}}',
    f'{{\\"password\\": \\"{SECRET}\\", \\"user\\": \\"u\\"}}',
    f'org.apache.kafka.PlainLoginModule required username="u" password="{SECRET}";',
    f"ValueError: login failed for u, password: {SECRET}",
    f"curl -H 'Authorization: Basic {SECRET}=='",
    f"Authorization: Bearer {SECRET}",
    f"sent with bearer {SECRET}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\\n{SECRET} and cut off",
    f"SELECT aes('eyJhbGciOiJIUzI1NiJ9.{SECRET}.x')",
    f"ghp_{SECRET}aaaaaaaaaaaaaaaaaaaa",
    f"xoxb-{SECRET}-1234567890",
]

WITHOUT = [
    "SELECT token, count(*) FROM t GROUP BY token",
    "SELECT a.token = b.token FROM a JOIN b ON a.token=b.token",
    "concat(token, '-')",
    "SELECT author, authority FROM books WHERE primary_key = 3",
    "abfss://container@account.dfs.core.windows.net/x",
    "wasbs://c@a.blob.core.windows.net/x",
    "hdfs://nn:8020/x@y",
    "http://h:8080/a@b",
    "jdbc:postgresql://h:5432/db?user=a@b",
    "ssh://git@github.com/a/b",
    "WHERE mail = 'ada@example.org'",
    "password ''",
    "password '*********(redacted)'",
    "password=*********(redacted)",
    "The path s3://bucket/AKI/x is not there",
]


@pytest.mark.parametrize("text", WITH_SECRETS)
def test_a_secret_is_removed_once(text: str) -> None:
    redacted = redact_secrets(text)
    assert SECRET not in redacted
    assert MARK in redacted
    assert redact_secrets(redacted) == redacted
    assert secret_kind_in(text) is not None
    assert secret_kind_in(redacted) is None


@pytest.mark.parametrize("text", WITHOUT)
def test_text_without_secrets_stays(text: str) -> None:
    assert redact_secrets(text) == text
    assert secret_kind_in(text) is None


def test_text_around_a_secret_stays() -> None:
    before = "SELECT a FROM t WHERE b = 'x' AND password = 'abc' AND c = 'it''s'"
    assert redact_secrets(before) == before.replace("abc", MARK)
    address = "jdbc:mysql://ada:abc@db.example:3306/shop?useSSL=true"
    assert redact_secrets(address) == address.replace("abc", MARK)


@given(st.text(alphabet="pasword='\"\\ ;:@/[redacted]-,)(tokn", max_size=60))
def test_redaction_is_idempotent(text: str) -> None:
    once = redact_secrets(text)
    assert redact_secrets(once) == once


def test_names() -> None:
    for name in (
        "password",
        "sfPassword",
        "fs.azure.account.key.a.b",
        "spark.hadoop.fs.s3a.secret.key",
        "sasl.jaas.auth",
    ):
        assert is_secret_name(name), name
    for name in ("user", "header", "dbtable", "key", "author_id"):
        assert not is_secret_column(name), name
    assert is_secret_column("api_token")


def patterns() -> Iterator[re.Pattern[str]]:
    yield from (shape.pattern for shape in shapes.SECRET_PATTERNS)
    for module in (shapes, redactor, literals):
        yield from (value for value in vars(module).values() if isinstance(value, re.Pattern))


def repeats(parsed: Any) -> Iterator[tuple[Any, int]]:
    """Every repetition in a parsed pattern: its kind and its maximum."""
    for code, argument in parsed:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield code, argument[1]
            yield from repeats(argument[2])
        elif code is codes.SUBPATTERN:
            yield from repeats(argument[-1])
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from repeats(branch)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repeats(argument[1])
        elif code is codes.ATOMIC_GROUP:
            yield from repeats(argument)


def test_unbounded_repetitions_do_not_backtrack() -> None:
    """So that the time at one position does not depend on the ways to divide a repetition."""
    looked_at = 0
    for pattern in patterns():
        for code, most in repeats(parser.parse(pattern.pattern, pattern.flags)):
            looked_at += 1
            assert code is codes.POSSESSIVE_REPEAT or most <= 500, pattern.pattern
    assert looked_at > 100


HOSTILE = [
    *("password '", "password=", "token ", "'", '"', "\\", "://", "://a:", "@", "eyJ-", "-----BEGIN PRIVATE KEY-----"),
    *("password", "password " + " " * 50, "bearer ", "identified by ", "OPTIONS (", "OPTIONS (a ", "/*", "''", "sig=&"),
    *("jdbc:oracle:thin:a/", "a.token=b.", "secret.", "' as ", "https://", "{", "--", "AKIA", "password -> "),
]


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_a_long_text_crafted_to_be_slow(piece: str) -> None:
    """Quadratic time would be minutes for each of these, and the test would be stopped."""
    text = piece * (100_000 // len(piece))
    assert len(redact_secrets(text)) <= len(text) + 100_000 * len(MARK)
    learned = redactor.Redactor({redactor.KEY_PATTERN_SETTING: "(?i)something|else"})
    learned.text(text[:50_000])
    literals.mask_literals(text)
    literals.message_without_values(text)
    literals.stack_without_values(text)
