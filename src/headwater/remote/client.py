"""The HTTP client of a Headwater server: sends requests and raises its problem documents as errors."""

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
"""The largest page of the server."""

DEFAULT_TIMEOUT = 60.0
_CONNECT_SECONDS = 5.0
_ATTEMPTS = 4
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
_BUSY = 429
"""The server did not process the request, so any request may be repeated."""
_UNAVAILABLE = (502, 503, 504)

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")
Parameter = str | int | bool | datetime | None
Parameters = Mapping[str, Parameter]


class Client:
    """Safe to share between threads: each thread has its own connection."""

    def __init__(self, url: str, api_key: str | None = None, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.url = _checked(url)
        self._api_key = api_key
        self._timeout = timeout
        self._of_thread = threading.local()
        self._sessions: list[requests.Session] = []

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
        """Up to ``limit`` items, from several pages if necessary, and the cursor of the rest."""
        result: list[Item] = []
        while True:
            page_size = max(min(limit - len(result), MOST_AT_ONCE), 1)  # with a limit of 0 the server checks the rest
            page = self.get(path, {**parameters, "cursor": cursor, "limit": page_size})
            items, cursor = self.read(decode_page, kind, page)
            result += items
            if cursor is None or len(result) >= limit:
                return result[:limit], cursor if limit else None

    def read(self, decoding: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs) -> Answer:
        """Decode an answer. An error names the version of the server."""
        try:
            return decoding(*args, **options)
        except ShapeError as error:
            raise AnswerUnreadable(error.field, error.reason, self._version()) from None

    def close(self) -> None:
        sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()
        self._of_thread = threading.local()

    # -- one exchange -----------------------------------------------------------------------------

    def _exchange(self, method: str, path: str, parameters: Parameters | None, body: bytes | None) -> requests.Response:
        """Send a request and return the answer of a success. A GET is repeated while the server is unavailable, any
        request while it is busy."""
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
                may_repeat = answer.status_code == _BUSY or (method == "GET" and answer.status_code in _UNAVAILABLE)
                retry_after = _retry_after(answer)
                if not may_repeat or last or retry_after > _LONGEST_WAIT:
                    self._raise_problem(answer)
                    return answer
                wait = max(wait, retry_after)
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
        # Set here: requests would resolve a segment `.` or `..`, which may be a name, as a step in the path.
        prepared.url = f"{self.url}{PREFIX}{path}{_query(parameters or {})}"
        return prepared

    def _send(self, request: requests.PreparedRequest) -> requests.Response:
        session = self._session()
        settings = session.merge_environment_settings(self.url, {}, None, None, None)
        timeout = (_CONNECT_SECONDS, self._timeout)
        # Redirects are not followed: a POST may become a GET, whose answer of 200 would look like success.
        return session.send(request, timeout=timeout, allow_redirects=False, **settings)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._of_thread, "session", None)
        if session is None:
            session = self._of_thread.session = requests.Session()
            self._sessions.append(session)
        return session

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the key. This is an ``auth`` and not a plain header, since the user's .netrc would override a header."""
        if self._api_key is not None:
            request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request

    def _raise_problem(self, answer: requests.Response) -> None:
        """Raise the error of an unsuccessful answer."""
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
        reason = answer.reason or "no reason"
        if "Location" in answer.headers:
            reason += f", to {shorten(answer.headers['Location'])}"
        raise RequestRefused(answer.status_code, None, f"{reason}. Is {self.url} a Headwater server?")

    def _json(self, answer: requests.Response) -> object:
        if answer.status_code == 204:
            return None
        try:
            return json.loads(answer.content)
        except ValueError:
            raise AnswerUnreadable("$", "it is not JSON", self._version()) from None

    def _version(self) -> str:
        """The version of the server, from its OpenAPI document. Requested only if an answer cannot be read."""
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
        raise QueryError(f"'{shorten(text)}' contains half a surrogate pair, which HTTP cannot carry.") from None


def _query(parameters: Parameters) -> str:
    texts = {name: _text(value) for name, value in parameters.items() if value is not None}
    for text in texts.values():
        _encoded(text)  # raises for half a surrogate pair
    return f"?{urlencode(texts)}" if texts else ""


def _text(value: str | int | bool | datetime) -> str:
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(url: str) -> str:
    """The address of a server, without a path of its API."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise StoreUrlInvalid("The address of a server has no user and password. Pass the key as api_key.")
    if not parts.hostname or parts.query or parts.fragment:
        raise StoreUrlInvalid(f"'{shorten(url)}' is not the address of a server. Write http://host:port.")
    path = parts.path.rstrip("/").removesuffix(PREFIX)
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))


def _retry_after(answer: requests.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


def _why(error: requests.RequestException, timeout: float) -> str:
    """The error of the operating system, which the libraries have wrapped."""
    if isinstance(error, requests.ReadTimeout):
        return f"nothing within {timeout:g} s"
    innermost: BaseException | None = error
    while innermost is not None:
        if isinstance(innermost, OSError) and innermost.strerror:
            return innermost.strerror
        innermost = innermost.__cause__ or innermost.__context__
    return type(error).__name__
