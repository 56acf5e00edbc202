"""The transport: one request after another to a Headwater server, with its problems raised as errors."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import ParamSpec, TypeVar
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import requests

from headwater.errors import (
    AnswerUnreadable,
    NotAuthenticated,
    QueryError,
    RequestRefused,
    StoreUnavailable,
    StoreUrlInvalid,
    shorten,
)
from headwater.formats.openlineage.event import as_utc
from headwater.remote.decoding import ShapeError, decode_page
from headwater.remote.problems import error_of

PREFIX = "/api/v1"
MOST_AT_ONCE = 1000
"""What the server lists in one answer."""

DEFAULT_TIMEOUT = 60.0
_CONNECT_SECONDS = 5.0
_ATTEMPTS = 4
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
_BUSY = 429
"""The server has done nothing of what was asked, so any request may be sent again."""
_UNAVAILABLE = (502, 503, 504)

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")
Parameter = str | int | bool | datetime | None
Parameters = Mapping[str, Parameter]


class Client:
    """Safe to share between threads: each has a connection of its own."""

    def __init__(self, url: str, api_key: str | None = None, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.url = _checked(url)
        self._api_key = api_key
        self._timeout = timeout
        self._mine = threading.local()
        self._opened: list[requests.Session] = []

    def get(self, path: str, parameters: Parameters | None = None) -> object:
        return self._json(self._exchange("GET", path, parameters, None))

    def get_bytes(self, path: str) -> bytes:
        return self._exchange("GET", path, None, None).content

    def post(self, path: str, body: bytes | None = None, parameters: Parameters | None = None) -> object:
        return self._json(self._exchange("POST", path, parameters, body))

    def delete(self, path: str) -> object:
        return self._json(self._exchange("DELETE", path, None, None))

    def items(
        self, path: str, parameters: Parameters, kind: type[Item], limit: int, cursor: str | None = None
    ) -> tuple[list[Item], str | None]:
        """As many items as ``limit``, from as many pages as that takes, and the cursor that goes on from there."""
        found: list[Item] = []
        while True:
            asked = max(min(limit - len(found), MOST_AT_ONCE), 1)  # a limit of 0 finds out what is wrong with the rest
            page = self.get(path, {**parameters, "cursor": cursor, "limit": asked})
            items, cursor = self.read(decode_page, kind, page)
            found += items
            if cursor is None or len(found) >= limit:
                return found[:limit], cursor if limit else None

    def read(self, decoding: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs) -> Answer:
        """What ``decoding`` makes of an answer; its errors name the server's version."""
        try:
            return decoding(*args, **options)
        except ShapeError as error:
            raise AnswerUnreadable(error.field, error.reason, self._version()) from None

    def close(self) -> None:
        opened, self._opened = self._opened, []
        for session in opened:
            session.close()
        self._mine = threading.local()

    # -- one exchange -----------------------------------------------------------------------------

    def _exchange(self, method: str, path: str, parameters: Parameters | None, body: bytes | None) -> requests.Response:
        """The answer, if it is a good one. GETs are sent again while the server is away, anything while it is busy."""
        request = self._prepared(method, path, parameters, body)
        wait = _FIRST_WAIT
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS
            try:
                answer = self._send(request)
            except requests.RequestException as error:
                if last or method != "GET" or isinstance(error, requests.ReadTimeout):
                    raise StoreUnavailable(f"No answer from {self.url}: {_why(error, self._timeout)}.") from None
            else:
                again = answer.status_code == _BUSY or (method == "GET" and answer.status_code in _UNAVAILABLE)
                asked = _retry_after(answer)
                if not again or last or asked > _LONGEST_WAIT:
                    self._refuse_problem(answer)
                    return answer
                wait = max(wait, asked)
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def _prepared(
        self, method: str, path: str, parameters: Parameters | None, body: bytes | None
    ) -> requests.PreparedRequest:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = requests.Request(method, self.url, headers=headers, data=body, auth=self._sign)
        prepared = self._session().prepare_request(request)
        # Set as it is: requests would take a segment that is `.` or `..`, which a name may be, for a step in the path.
        prepared.url = f"{self.url}{PREFIX}{path}{_query(parameters or {})}"
        return prepared

    def _send(self, request: requests.PreparedRequest) -> requests.Response:
        session = self._session()
        settings = session.merge_environment_settings(self.url, {}, None, None, None)
        timeout = (_CONNECT_SECONDS, self._timeout)
        # A redirected POST may turn into a GET and be answered with a friendly 200: not followed.
        return session.send(request, timeout=timeout, allow_redirects=False, **settings)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._mine, "session", None)
        if session is None:
            session = self._mine.session = requests.Session()
            self._opened.append(session)
        return session

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """As ``auth`` rather than a header: a header would give way to a line in the user's .netrc."""
        if self._api_key is not None:
            request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request

    def _refuse_problem(self, answer: requests.Response) -> None:
        if 200 <= answer.status_code < 300:
            return
        try:
            problem = json.loads(answer.content)
        except ValueError:
            problem = None
        if isinstance(problem, dict) and "code" in problem:
            raise error_of(problem, answer.status_code)
        if answer.status_code == 401:
            raise NotAuthenticated()
        said = answer.reason or "no reason"
        if "Location" in answer.headers:
            said += f", to {shorten(answer.headers['Location'])}"
        raise RequestRefused(answer.status_code, None, f"{said}. Is {self.url} a Headwater server?")

    def _json(self, answer: requests.Response) -> object:
        if answer.status_code == 204:
            return None
        try:
            return json.loads(answer.content)
        except ValueError:
            raise AnswerUnreadable("$", "it is not JSON", self._version()) from None

    def _version(self) -> str:
        """The server's, as its OpenAPI document says; asked for only where an answer cannot be read."""
        try:
            request = self._prepared("GET", "/openapi.json", None, None)
            return str(json.loads(self._send(request).content)["info"]["version"])
        except (requests.RequestException, ValueError, KeyError, TypeError):
            return "of an unknown version"


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return _encoded(name).replace(".", "%2E") if name in (".", "..") else _encoded(name)


def _encoded(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise _half_a_pair(text) from None


def _half_a_pair(text: str) -> QueryError:
    return QueryError(f"'{shorten(text)}' holds half a surrogate pair, which cannot be asked for over HTTP.")


def _query(parameters: Parameters) -> str:
    told = {name: _text(value) for name, value in parameters.items() if value is not None}
    for text in told.values():
        _encoded(text)
    return f"?{urlencode(told)}" if told else ""


def _text(value: str | int | bool | datetime) -> str:
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(url: str) -> str:
    """Without what is not part of the address of a server."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise StoreUrlInvalid("The address of a server holds no user and password: give the key as api_key.")
    if not parts.hostname or parts.query or parts.fragment:
        raise StoreUrlInvalid(f"'{shorten(url)}' is not the address of a server. Write http://host:port.")
    path = parts.path.rstrip("/").removesuffix(PREFIX)
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))


def _retry_after(answer: requests.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


def _why(error: requests.RequestException, timeout: float) -> str:
    """What the operating system said, from beneath the layers of libraries."""
    if isinstance(error, requests.ReadTimeout):
        return f"nothing within {timeout:g} s"
    innermost: BaseException | None = error
    while innermost is not None:
        if isinstance(innermost, OSError) and innermost.strerror:
            return innermost.strerror
        innermost = innermost.__cause__ or innermost.__context__
    return type(error).__name__
