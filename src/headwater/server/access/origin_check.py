"""Refuses requests that a page of another site made a browser send.

A browser sends the session cookie, and reaches loopback addresses, on behalf of any page that it shows. It also names
that page in `Sec-Fetch-Site` and `Origin`, and in `Host` the name under which the page addressed the server. Programs
other than browsers send neither of the first two and pass these checks.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from headwater.errors import OriginRefused, ProxyRefused
from headwater.server.access.bind_address import is_loopback

_SAME_SITE = ("same-origin", "none")  # none: typed into the address bar, or from a bookmark
_PROXY_HEADERS = ("forwarded", "x-real-ip")


def refuse_other_pages(headers: Headers) -> None:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in _SAME_SITE:
        raise OriginRefused(f"the request comes from a page of another origin ({site})")
    if origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
        raise OriginRefused("the request comes from a page of another origin")


def refuse_other_hosts(headers: Headers) -> None:
    """For servers without keys: refuse host names that are not local.

    A page can make its own host name resolve to this machine (DNS rebinding), and would then count as same-origin.
    """
    host = headers.get("host")
    if host is not None and not is_loopback(urlsplit(f"//{host}").hostname or ""):
        raise OriginRefused("without access keys, only local host names such as 127.0.0.1 or localhost are accepted")


def refuse_proxies(headers: Headers) -> None:
    """For servers without keys: refuse proxied requests, because any client of a local proxy looks local."""
    for name in headers:
        if name in _PROXY_HEADERS or name.startswith("x-forwarded-"):
            raise ProxyRefused(name)
