"""Trusted proxies, and the client address and scheme that they forward.

Any client can send `X-Forwarded-For`. It counts only if the peer of the connection is a trusted proxy, and is read from
the right: each proxy appends the address it was called from, so the first address from the right that is not a trusted
proxy is the client. Everything to the left of it came from the client. A value that is not an address ends the walk at
the proxy that sent it; no header makes a request fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import islice

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_MAX_HOPS = 50
_SCHEMES = ("http", "https")
_PORT = r"(?::[0-9]{1,5})?"
_IN_BRACKETS = re.compile(rf"\[([^\]]*)\]{_PORT}")
_WITH_PORT = re.compile(rf"([0-9.]+){_PORT}")
_PAIR = re.compile(r'\s*([!#$%&\'*+.^_`|~0-9A-Za-z-]+)=("(?:[^"\\]|\\.)*"|[^\s";,]*)\s*(?:;|$)')
_ESCAPED = re.compile(r"\\(.)")


def parse_network(text: str) -> Network:
    """Parse an address or a network, like 10.0.0.0/8. ValueError if it is neither, or covers every address."""
    network = ip_network(text.strip())
    if network.prefixlen == 0:
        raise ValueError(f"'{text}' covers every address, so any client could claim any address")
    return network


def parse_address(text: str) -> Address | None:
    """Parse an address as proxies write it: alone, with a port, or in brackets. None if it is not an address."""
    text = text.strip()
    if match := _IN_BRACKETS.fullmatch(text) or _WITH_PORT.fullmatch(text):
        text = match[1]
    if "%" in text:  # an IPv6 zone, which may be any text
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


class TrustedProxies:
    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = [parse_network(network) for network in networks]

    def trusts(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)

    def resolve(self, peer: str, headers: Headers) -> tuple[str, str | None]:
        """Return the client's address, and the scheme it used if a trusted proxy reports it."""
        if not self.trusts(parse_address(peer)):
            return peer, None
        addresses = _list_of(headers, "x-forwarded-for")
        forwarded = list(_elements(",".join(headers.getlist("forwarded"))))
        walks = [self._walk(peer, hops) for hops in (addresses, [pairs.get("for", "") for pairs in forwarded]) if hops]
        if not walks or len({client for client, _ in walks}) > 1:
            # If the two headers differ, one came from the client, through a proxy that writes only the other.
            return peer, None
        client, hops = walks[0]
        schemes = (
            _list_of(headers, "x-forwarded-proto") if addresses else [pairs.get("proto", "") for pairs in forwarded]
        )
        return client, _scheme(schemes, hops)

    def _walk(self, peer: str, hops: Sequence[str]) -> tuple[str, int]:
        """Return the client's address, and how many values were read from the right to find it."""
        client, count = peer, 0
        for hop in islice(reversed(hops), _MAX_HOPS):
            address = parse_address(hop)
            if address is None:
                break
            client, count = str(address), count + 1
            if not self.trusts(address):
                break
        return client, count


class ForwardedClient:
    """The outermost middleware: logs, limits, audit entries and cookies then use the client's address."""

    def __init__(self, app: ASGIApp, proxies: TrustedProxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client") is not None:
            peer, _ = scope["client"]
            client, scheme = self._proxies.resolve(peer, Headers(scope=scope))
            if client != peer:
                scope["client"] = (client, 0)
            if scheme is not None:
                scope["scheme"] = scheme
        await self._app(scope, receive, send)


def _list_of(headers: Headers, name: str) -> list[str]:
    values = headers.getlist(name)
    return ",".join(values).split(",") if values else []


def _scheme(schemes: Sequence[str], hops: int) -> str | None:
    """Return the scheme that the proxy next to the client saw. Proxies that replace the header leave one value."""
    if not schemes:
        return None
    scheme = schemes[-max(1, min(hops, len(schemes)))].strip().lower()
    return scheme if scheme in _SCHEMES else None


def _elements(header: str) -> Iterator[dict[str, str]]:
    """Yield the elements of `Forwarded` (RFC 7239) with lower-case names; a malformed one is empty."""
    if not header.strip():
        return
    for element in _split_outside_quotes(header):
        yield _pairs(element)


def _pairs(element: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    position, end = 0, len(element)
    while position < end:
        match = _PAIR.match(element, position)
        if match is None or match[1].lower() in pairs:
            return {}
        value = match[2]
        pairs[match[1].lower()] = _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
        position = match.end()
    return pairs


def _split_outside_quotes(header: str) -> Iterator[str]:
    start, quoted, escaped = 0, False, False
    for position, letter in enumerate(header):
        if escaped:
            escaped = False
        elif quoted and letter == "\\":
            escaped = True
        elif letter == '"':
            quoted = not quoted
        elif letter == "," and not quoted:
            yield header[start:position]
            start = position + 1
    yield header[start:]
