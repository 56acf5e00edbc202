"""Checks the address to listen on: loopback, or any address once the store has an access key."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from headwater.errors import BindRefused

if TYPE_CHECKING:
    from headwater.server.app.settings import ServerSettings
    from headwater.store.store import Store


def check_bind(store: Store, settings: ServerSettings) -> None:
    if not is_loopback(settings.host) and not store.access.exist(good=True):
        raise BindRefused(settings.host)


def is_loopback(host: str) -> bool:
    """Return whether an address or a name is loopback.

    Names are not resolved: the result could change later, and others control it.
    """
    bare = host.removeprefix("[").removesuffix("]").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False
