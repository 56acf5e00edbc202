"""Events to an OpenLineage endpoint, one request each: the specification has no other form that all servers accept."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from headwater.capture.delivery.sink import SinkDown, SinkRefused
from headwater.errors import shorten

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

DEFAULT_TIMEOUT = 5.0
MAX_RETRY_AFTER = 300.0
"""A server that asks for a longer pause is retried after this many seconds."""

_MAX_BODY_BYTES = 64 * 1024
_ENDPOINT = "/api/v1/lineage"
_TRY_LATER = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    # A wrong key or address will be corrected, and the events should still be there by then.
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
)
# The answers of a server that does not understand gzip.
_NOT_UNDERSTOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


class HttpSink:
    """Used by one thread. `requests` is imported with the first event, since that takes longer than everything else."""

    def __init__(
        self, url: str, *, api_key: str | None = None, timeout: float = DEFAULT_TIMEOUT, gzip: bool = True
    ) -> None:
        self._url = _endpoint(url)
        self.name = _without_userinfo(self._url)
        self._api_key = api_key
        self._timeout = timeout
        self._gzip = gzip
        self._settled = not gzip
        """Whether we know that the server understands what we send."""
        self._session: Session | None = None

    def deliver(self, events: Sequence[bytes]) -> None:
        for event in events:
            answer = self._post(event, self._gzip)
            if answer.status in _NOT_UNDERSTOOD and not self._settled:
                answer = self._post(event, gzip=False)
                self._gzip = not answer.taken
            answer.judge()
            self._settled = True

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _post(self, event: bytes, gzip: bool) -> _Answer:
        from requests import RequestException, Timeout

        headers = {"Content-Type": "application/json"}
        if gzip:
            headers["Content-Encoding"] = "gzip"
            event = _gzip(event)
        try:
            # A redirected POST may turn into a GET and be answered with a friendly 200: not followed.
            answer = self._get_session().post(
                self._url, data=event, headers=headers, timeout=self._timeout, allow_redirects=False, stream=True
            )
            with closing(answer):
                return _Answer(answer.status_code, answer.reason, answer.headers, _body(answer))
        except Timeout:
            raise SinkDown(f"no answer within {self._timeout:g} s") from None
        except RequestException as error:
            raise SinkDown(_error_reason(error)) from None

    def _get_session(self) -> Session:
        if self._session is None:
            from requests import Session

            self._session = Session()
            if self._api_key is not None:
                self._session.auth = self._sign
        return self._session

    def _sign(self, request: PreparedRequest) -> PreparedRequest:
        """As ``auth`` rather than a header: a header would give way to a line in the user's .netrc."""
        request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    headers: Mapping[str, str]
    body: str

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300

    def judge(self) -> None:
        if self.taken:
            return
        status_line = f"{self.status} {self.reason}"
        if 400 <= self.status < 500 and self.status not in _TRY_LATER:
            raise SinkRefused(f"{status_line}: {shorten(self.body)}" if self.body else status_line)
        if "Location" in self.headers:
            status_line += f" to {shorten(self.headers['Location'])}"
        raise SinkDown(f"it answers {status_line}", _retry_after(self.headers.get("Retry-After")))


def _body(answer: Response) -> str:
    """Read completely, so that the connection can be used again, unless it is long or breaks off: the status is
    enough."""
    from requests import RequestException

    length = answer.headers.get("Content-Length", "")
    if not length.isdecimal() or int(length) > _MAX_BODY_BYTES:
        return ""
    try:
        return answer.text
    except RequestException:
        return ""


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith("/lineage"):
        path += _ENDPOINT
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _without_userinfo(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _gzip(body: bytes) -> bytes:
    # Level 1: most of the saving for a fraction of the time, which is the job's.
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def _retry_after(header: str | None) -> float | None:
    """Seconds, from either form of the header."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        from email.utils import parsedate_to_datetime  # brings sockets and more along, for a form that few servers use

        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (aware - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _error_reason(error: BaseException) -> str:
    """The operating system's reason, from beneath the layers of libraries, else the class of the error."""
    innermost: BaseException | None = error
    while innermost is not None:
        if isinstance(innermost, OSError) and innermost.strerror:
            return innermost.strerror
        innermost = innermost.__cause__ or innermost.__context__
    return f"{type(error).__name__}: {shorten(str(error))}"
