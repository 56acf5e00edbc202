"""Which page made a browser ask.

A browser sends a session's cookie along, and reaches this machine's own addresses, for whatever page it shows. It also
says which page that is: `Sec-Fetch-Site`, `Origin`, and by `Host` whom the page took us for. Programs that are no
browsers say nothing of the kind, and are let through here.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from headwater.errors import OriginRefused, ProxyRefused
from headwater.server.access.bind_address import is_loopback

_SAME_SITE = ("same-origin", "none")  # none: typed in, or from a bookmark
_PROXY_HEADERS = ("forwarded", "x-real-ip")


def refuse_other_pages(headers: Headers) -> None:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in _SAME_SITE:
        raise OriginRefused(f"the request comes from a page of another origin ({site})")
    if origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
        raise OriginRefused("the request comes from a page of another origin")


def refuse_other_hosts(headers: Headers) -> None:
    """Where nobody shows a key. A page can have its own name lead to this machine, and would then be of our origin."""
    host = headers.get("host")
    if host is not None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
        raise OriginRefused("without access keys, only local host names such as 127.0.0.1 or localhost are accepted")


def refuse_proxies(headers: Headers) -> None:
    """Where nobody shows a key. Whoever a proxy on this machine lets through comes from this machine, it seems."""
    for name in headers:
        if name in _PROXY_HEADERS or name.startswith("x-forwarded-"):
            raise ProxyRefused(name)
