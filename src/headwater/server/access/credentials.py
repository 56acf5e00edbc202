"""Who it is: by the key or the session that a request shows, or nobody in particular where none is needed."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from headwater.errors import NotAuthenticated, OriginRefused, RateExceeded, StoreError
from headwater.model.access import AccessKey, Scope
from headwater.server.access.bind_address import is_loopback
from headwater.server.access.origin_check import refuse_other_hosts, refuse_other_pages, refuse_proxies
from headwater.server.access.principal import Principal
from headwater.server.access.rate_limits import RateLimiter
from headwater.server.access.refusals import WINDOW_SECONDS, AuditEntries, RefusalLog
from headwater.store.access.visibility import Veil

if TYPE_CHECKING:
    from headwater.server.app.settings import ServerSettings
    from headwater.store.store import Store

LIFETIME = timedelta(hours=12)
CSRF_HEADER = "X-CSRF-Token"
_CACHE_SECONDS = 1.0
"""A key that was revoked is good for so long."""
_MAX_CACHED = 1000
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FAILURES_PER_SECOND, _FAILURE_BURST = 1.0, 20.0
_MAX_AGENT_LENGTH = 300
_log = logging.getLogger("headwater.server")


@dataclass(frozen=True)
class PresentedCredential:
    """What a request shows: a key, or the secret of a session."""

    key: str | None
    session: str | None


class Authenticator:
    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.store = store
        self.loopback = is_loopback(settings.host)
        # A cookie that only this very host gets and sets; browsers want TLS for it, which loopback has none of.
        # Servers below different paths of one host have cookies of different names: `__Host-` has them all sent to all.
        name = "headwater_session" + settings.root_path.replace("/", ".")
        self.cookie = name if self.loopback else f"__Host-{name}"
        self.cookie_path = (self.loopback and settings.root_path) or "/"
        self._threads = ThreadPoolExecutor(2, "access")
        self._notes = ThreadPoolExecutor(1, "access-notes")
        self._noting: set[str] = set()
        self._known: OrderedDict[bytes, tuple[float, AccessKey]] = OrderedDict()
        self._open: tuple[float, bool] = (0.0, False)
        self._rates = RateLimiter(settings.requests_per_second, settings.requests_at_once)
        self._guesses = RateLimiter(_FAILURES_PER_SECOND, _FAILURE_BURST)
        self._refusals = RefusalLog()
        self._telling: asyncio.TimerHandle | None = None

    async def principal(self, request: HTTPConnection, method: str) -> Principal | None:
        """None where nobody is known by what is shown; raises where a browser was made to ask, or it is too often."""
        if await self._stands_open():  # whatever is shown: a key may be meant for another server
            refuse_proxies(request.headers)
            refuse_other_hosts(request.headers)
            refuse_other_pages(request.headers)
            return principal_of(request, None)
        shown = self.shown(request)
        if shown.key is None and shown.session is None:
            return None
        key = await self._key(request, shown)
        if key is None:
            return None
        if shown.session is not None:
            refuse_other_pages(request.headers)
            _require_csrf_token(request, method, shown.session)
        if wait := self._rates.wait(key.key_id):
            raise RateExceeded(wait)
        return principal_of(request, key)

    def shown(self, request: HTTPConnection) -> PresentedCredential:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return PresentedCredential(token.strip() if scheme.lower() == "bearer" else "", None)
        return PresentedCredential(None, request.cookies.get(self.cookie))

    def secures_cookie(self, request: HTTPConnection) -> bool:
        """Whether the browser may send the session's cookie by TLS alone; a trusted proxy says what it used."""
        by_tls = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
        return not self.loopback or by_tls

    async def key_of(self, request: HTTPConnection, token: str) -> AccessKey:
        """For logging in. Whoever shows keys that are not good is slowed down."""
        key = await self._key(request, PresentedCredential(token, None))
        if key is None:
            raise NotAuthenticated()
        return key

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The store blocks, so it is asked in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def forget(self, secret: str) -> None:
        self._known.pop(_cache_key(PresentedCredential(None, secret)), None)

    def reconsider(self) -> None:
        """Keys have changed: in this process it counts at once."""
        self._known.clear()
        self._open = (0.0, False)

    async def _key(self, request: HTTPConnection, shown: PresentedCredential) -> AccessKey | None:
        name, now = _cache_key(shown), time.monotonic()
        until, known = self._known.get(name, (0.0, None))
        if known is not None and now < until:
            return known
        key: AccessKey | None = await self.call(self._look_up, shown)
        if key is None:
            self._known.pop(name, None)
            self._refused(request)
            # Only those who guess: others may come by the same address, from behind a proxy.
            if wait := self._guesses.wait(request.client.host if request.client else ""):
                raise RateExceeded(wait)
            return None
        if key.key_id not in self._noting:
            self._noting.add(key.key_id)
            self._notes.submit(self._note, key)
        self._known[name] = (now + _CACHE_SECONDS, key)
        self._known.move_to_end(name)
        if len(self._known) > _MAX_CACHED:
            self._known.popitem(last=False)
        return key

    def _refused(self, request: HTTPConnection) -> None:
        stranger = replace(principal_of(request, None).actor, id="unknown", type="anonymous")
        self._tell(self._refusals.heard(stranger))
        if self._telling is None:  # those that are only counted are told when the minute is over
            self._telling = asyncio.get_running_loop().call_later(WINDOW_SECONDS, self._tell_the_rest)

    def _tell_the_rest(self) -> None:
        self._telling = None
        self._tell(self._refusals.rest())

    def _tell(self, told: AuditEntries) -> None:
        if told:
            self._notes.submit(self._write_down, told)

    def _write_down(self, told: AuditEntries) -> None:
        """Nobody waits for that either; the log has it where the store does not."""
        try:
            self.store.deeds.record(*told)
        except StoreError as error:
            _log.warning("could not audit a refused request: %s", error)

    def close(self) -> None:
        """What is still to be told is, before the store is closed."""
        if self._telling is not None:
            self._telling.cancel()
        self._tell(self._refusals.rest())
        self._notes.shutdown()
        self._threads.shutdown()

    def _look_up(self, shown: PresentedCredential) -> AccessKey | None:
        if shown.session is not None:
            return self.store.sessions.check(shown.session)
        return self.store.access.check(shown.key or "")

    def _note(self, key: AccessKey) -> None:
        """That it was used. Nobody waits for that: another writer may have the store for long."""
        try:
            self.store.access.used(key)
        except StoreError as error:  # a store that takes no writes can still be read
            _log.warning("could not audit the use of a key: %s", error)
        finally:
            self._noting.discard(key.key_id)

    async def _stands_open(self) -> bool:
        """On this machine itself, as long as nobody ever made a key."""
        if not self.loopback:
            return False
        until, open_ = self._open
        if time.monotonic() >= until:
            open_ = not await self.call(lambda: self.store.access.exist(good=False))
            self._open = (time.monotonic() + _CACHE_SECONDS, open_)
        return open_


def csrf_token(session: str) -> str:
    """Another secret that only the page has, made of the session's, so that nothing has to be kept for it."""
    return sha256(b"headwater csrf\0" + session.encode(errors="surrogatepass")).hexdigest()


def _require_csrf_token(request: HTTPConnection, method: str, session: str) -> None:
    if method not in _SAFE_METHODS:
        given = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode(errors="replace"), csrf_token(session).encode()):
            raise OriginRefused(f"requests that change something need the header {CSRF_HEADER}")


def principal_of(request: HTTPConnection, key: AccessKey | None) -> Principal:
    """Without a key: whoever is at this machine, who may do everything."""
    return Principal(
        name="local" if key is None else f"{key.name} ({key.key_id})",
        scopes=frozenset(Scope if key is None else key.scopes),
        veil=None if key is None else Veil.of(key.namespaces),
        key_id=None if key is None else key.key_id,
        client_ip=request.client.host if request.client else None,
        user_agent=request.headers.get("user-agent", "")[:_MAX_AGENT_LENGTH] or None,
        request_id=request.scope.get("state", {}).get("request_id"),
    )


def _cache_key(shown: PresentedCredential) -> bytes:
    """What it is remembered by: not the secret itself."""
    kind, secret = ("session", shown.session) if shown.session is not None else ("key", shown.key or "")
    return sha256(f"{kind}\0{secret}".encode(errors="surrogatepass")).digest()
