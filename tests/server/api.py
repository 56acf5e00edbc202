"""Sends requests to a server and validates its responses against its own OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import quote

from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator

from headwater.server.app.app import create_app

API = "/api/v1"
LOCAL = "http://127.0.0.1"


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of every server. Building it takes longer than a response."""
    return create_app("sqlite://").openapi()


def segment(name: str) -> str:
    return quote(name, safe="")


def ask(client: TestClient, path: str, expected: int = 200, /, **parameters: Any) -> Any:
    """The JSON at ``path``, validated against the OpenAPI document."""
    answer = client.get(f"{API}{path}", params=parameters)
    assert answer.status_code == expected, answer.text
    told = answer.json()
    described = _response(path, expected)
    assert described is not None, f"{path} is not described"
    [media] = described["content"]
    assert answer.headers["content-type"] == media
    schema = {**described["content"][media]["schema"], "components": document()["components"]}
    Draft202012Validator(schema).validate(told)
    return told


def _response(path: str, status: int) -> dict[str, Any] | None:
    found: dict[str, Any] | None = None
    for pattern, operations in document()["paths"].items():
        if "get" in operations and _matcher(pattern).fullmatch(f"{API}{path}"):
            found = found or operations["get"]["responses"].get(str(status))
    return found


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{\w+\\}", "[^/]*", re.escape(pattern)))
