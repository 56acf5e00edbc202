"""Authenticates requests by access key or session, or as the local user where the store has no keys."""

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
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from starlette.requests import HTTPConnection

from headwater.errors import NotAuthenticated, OriginRefused, RateExceeded, StoreError
from headwater.model.access import AccessKey, Scope
from headwater.server.access.bind_address import is_loopback
from headwater.server.access.origin_check import refuse_other_hosts, refuse_other_pages, refuse_proxies
from headwater.server.access.principal import Principal
from headwater.server.access.rate_limits import RateLimiter
from headwater.server.access.refusals import WINDOW_SECONDS, AuditEntries, RefusalLog
from headwater.store.access.visibility import EVERYTHING, Visibility

if TYPE_CHECKING:
    from headwater.server.app.settings import ServerSettings
    from headwater.store.store import Store

LIFETIME = timedelta(hours=12)
CSRF_HEADER = "X-CSRF-Token"
_CACHE_SECONDS = 1.0
"""How long a checked key is cached, and so how long a revoked key still works."""
_MAX_CACHED = 1000
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FAILURES_PER_SECOND, _FAILURE_BURST = 1.0, 20.0
_MAX_AGENT_LENGTH = 300
_log = logging.getLogger("headwater.server")
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class PresentedCredential:
    """The credential of a request: an access key, or the secret of a session."""

    key: str | None
    session: str | None


class Authenticator:
    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.store = store
        self.loopback = is_loopback(settings.host)
        # `__Host-` limits the cookie to this host, but browsers require TLS for it, which loopback does not have.
        # Servers under different paths of one host need different names, because `__Host-` sends cookies to all paths.
        name = "headwater_session" + settings.root_path.replace("/", ".")
        self.cookie = name if self.loopback else f"__Host-{name}"
        self.cookie_path = (self.loopback and settings.root_path) or "/"
        self._threads = ThreadPoolExecutor(2, "access")
        self._audit_thread = ThreadPoolExecutor(1, "access-audit")
        self._keys_being_recorded: set[str] = set()
        self._cache: OrderedDict[bytes, tuple[float, AccessKey]] = OrderedDict()
        self._keyless_cache: tuple[float, bool] = (0.0, False)
        """Until when it counts, and whether the server accepts requests without a key."""
        self._rates = RateLimiter(settings.requests_per_second, settings.requests_at_once)
        self._failures = RateLimiter(_FAILURES_PER_SECOND, _FAILURE_BURST)
        self._refusals = RefusalLog()
        self._flush_timer: asyncio.TimerHandle | None = None

    async def principal(self, request: HTTPConnection, method: str) -> Principal | None:
        """Return the principal of a request, or None if its credential is missing or invalid.

        Raises OriginRefused if a page of another site made the browser send it, and RateExceeded.
        """
        if await self._is_keyless():  # even if a key is sent: it may be meant for another server
            refuse_proxies(request.headers)
            refuse_other_hosts(request.headers)
            refuse_other_pages(request.headers)
            return principal_of(request, None)
        credential = self.credential_of(request)
        if credential.key is None and credential.session is None:
            return None
        key = await self._authenticate(request, credential)
        if key is None:
            return None
        if credential.session is not None:
            refuse_other_pages(request.headers)
            _require_csrf_token(request, method, credential.session)
        if wait := self._rates.wait(key.key_id):
            raise RateExceeded(wait)
        return principal_of(request, key)

    def credential_of(self, request: HTTPConnection) -> PresentedCredential:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return PresentedCredential(token.strip() if scheme.lower() == "bearer" else "", None)
        return PresentedCredential(None, request.cookies.get(self.cookie))

    def secures_cookie(self, request: HTTPConnection) -> bool:
        """Whether the session cookie is limited to TLS; a trusted proxy reports the scheme it was called with."""
        by_tls = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
        return not self.loopback or by_tls

    async def key_of(self, request: HTTPConnection, token: str) -> AccessKey:
        """Return the access key of a login. Clients that send invalid keys are slowed down."""
        key = await self._authenticate(request, PresentedCredential(token, None))
        if key is None:
            raise NotAuthenticated()
        return key

    async def call(
        self, function: Callable[_Arguments, _Answer], *args: _Arguments.args, **options: _Arguments.kwargs
    ) -> _Answer:
        """Call the store in a thread, because it blocks."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *args, **options))

    def forget(self, secret: str) -> None:
        self._cache.pop(_cache_key(PresentedCredential(None, secret)), None)

    def clear_cache(self) -> None:
        """Forget all cached keys, so that a change counts at once in this process."""
        self._cache.clear()
        self._keyless_cache = (0.0, False)

    async def _authenticate(self, request: HTTPConnection, credential: PresentedCredential) -> AccessKey | None:
        name, now = _cache_key(credential), time.monotonic()
        expires_at, cached = self._cache.get(name, (0.0, None))
        if cached is not None and now < expires_at:
            return cached
        key = await self.call(self._look_up, credential)
        if key is None:
            self._cache.pop(name, None)
            self._record_refusal(request)
            # This slows down failed attempts only: other clients may share the address, behind a proxy.
            if wait := self._failures.wait(request.client.host if request.client else ""):
                raise RateExceeded(wait)
            return None
        if key.key_id not in self._keys_being_recorded:
            self._keys_being_recorded.add(key.key_id)
            self._audit_thread.submit(self._record_use, key)
        self._cache[name] = (now + _CACHE_SECONDS, key)
        self._cache.move_to_end(name)
        if len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        return key

    def _record_refusal(self, request: HTTPConnection) -> None:
        anonymous = replace(principal_of(request, None).actor, id="unknown", type="anonymous")
        self._submit(self._refusals.add(anonymous))
        if self._flush_timer is None:  # refusals that are only counted are written when the window ends
            self._flush_timer = asyncio.get_running_loop().call_later(WINDOW_SECONDS, self._flush_refusals)

    def _flush_refusals(self) -> None:
        self._flush_timer = None
        self._submit(self._refusals.flush())

    def _submit(self, entries: AuditEntries) -> None:
        if entries:
            self._audit_thread.submit(self._write_audit, entries)

    def _write_audit(self, entries: AuditEntries) -> None:
        """No request waits for it; if the store fails, the server's log has a warning."""
        try:
            self.store.deeds.record(*entries)
        except StoreError as error:
            _log.warning("could not audit a refused request: %s", error)

    def close(self) -> None:
        """Write the remaining audit entries. To be called before the store is closed."""
        if self._flush_timer is not None:
            self._flush_timer.cancel()
        self._submit(self._refusals.flush())
        self._audit_thread.shutdown()
        self._threads.shutdown()

    def _look_up(self, credential: PresentedCredential) -> AccessKey | None:
        if credential.session is not None:
            return self.store.sessions.check(credential.session)
        return self.store.access.check(credential.key or "")

    def _record_use(self, key: AccessKey) -> None:
        """Record that the key was used. No request waits for it: another writer may hold the store for long."""
        try:
            self.store.access.used(key)
        except StoreError as error:  # a read-only store can still be read
            _log.warning("could not audit the use of a key: %s", error)
        finally:
            self._keys_being_recorded.discard(key.key_id)

    async def _is_keyless(self) -> bool:
        """Whether requests need no key: on loopback, as long as no key was ever created."""
        if not self.loopback:
            return False
        expires_at, keyless = self._keyless_cache
        if time.monotonic() >= expires_at:
            keyless = not await self.call(lambda: self.store.access.exist(good=False))
            self._keyless_cache = (time.monotonic() + _CACHE_SECONDS, keyless)
        return keyless


def csrf_token(session: str) -> str:
    """Return the CSRF token of a session, derived from its secret, so that the server need not store it."""
    return sha256(b"headwater csrf\0" + session.encode(errors="surrogatepass")).hexdigest()


def _require_csrf_token(request: HTTPConnection, method: str, session: str) -> None:
    if method not in _SAFE_METHODS:
        token = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(token.encode(errors="replace"), csrf_token(session).encode()):
            raise OriginRefused(f"requests that change something need the header {CSRF_HEADER}")


def principal_of(request: HTTPConnection, key: AccessKey | None) -> Principal:
    """Return the principal of a key; without a key, the local user, who may do everything."""
    return Principal(
        name="local" if key is None else f"{key.name} ({key.key_id})",
        scopes=frozenset(Scope if key is None else key.scopes),
        visibility=EVERYTHING if key is None else Visibility.of(key.namespaces),
        key_id=None if key is None else key.key_id,
        client_ip=request.client.host if request.client else None,
        user_agent=request.headers.get("user-agent", "")[:_MAX_AGENT_LENGTH] or None,
        request_id=request.scope.get("state", {}).get("request_id"),
    )


def _cache_key(credential: PresentedCredential) -> bytes:
    """Return a hash of the credential, so that the cache does not hold secrets."""
    kind, secret = ("session", credential.session) if credential.session is not None else ("key", credential.key or "")
    return sha256(f"{kind}\0{secret}".encode(errors="surrogatepass")).digest()
