"""Evidence, keys, and who may do what."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors.base import HeadwaterError, listing, shorten


class AssuranceError(HeadwaterError):
    """A key, an anchor or a proof is unusable or wrong."""


class NoteInvalid(AssuranceError):
    pass


class KeyUnusable(AssuranceError):
    pass


class UnknownCaptureKey(AssuranceError):
    def __init__(self, asked: str, known: Sequence[str]) -> None:
        self.asked = asked
        self.known = tuple(known)
        hint = listing("Trusted", known, "The store trusts no capture key.")
        super().__init__(f"Capture key '{shorten(asked)}' is not trusted. {hint}")


class AnchorUnusable(AssuranceError):
    pass


class EvidenceBroken(AssuranceError):
    """``what`` is the first thing that fails verification."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{shorten(what)} does not hold: {reason}")


class AccessError(HeadwaterError):
    """The HTTP server refuses access."""


class NotAuthenticated(AccessError):
    """The message does not say whether a key is unknown, revoked or expired: that would help someone who guesses."""

    def __init__(self) -> None:
        super().__init__("Send a valid access key: `Authorization: Bearer hw_…`.")


class NotPermitted(AccessError):
    def __init__(self, scope: str, *, whole: bool = False) -> None:
        self.scope = scope
        also = ", for all namespaces" if whole else ""
        super().__init__(f"This requires a key with the scope '{scope}'{also}.")


class NamespaceRefused(AccessError):
    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        super().__init__("The key is limited to " + listing("namespaces", patterns, "no namespace at all."))


class OriginRefused(AccessError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"A session is valid only for this server's own page: {reason}.")


class ProxyRefused(AccessError):
    def __init__(self, header: str) -> None:
        self.header = header
        super().__init__(
            f"The request came through a proxy ({header}), and a server without access keys takes only local requests. "
            "Create a key with `headwater access add`."
        )


class RateExceeded(AccessError):
    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"Too many requests with this key. Retry in {retry_after:.0f} s.")


class UnknownAccessKey(AccessError):
    def __init__(self, asked: str, known: Sequence[str]) -> None:
        self.asked = asked
        self.known = tuple(known)
        hint = listing("Keys", known, "The store has none yet: `headwater access add` creates one.")
        super().__init__(f"Access key '{shorten(asked)}' is not known. {hint}")


class AccessKeyInvalid(AccessError):
    pass


class LastAdminKey(AccessError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{shorten(name)}' is the last key that can manage keys; without it, no key can be created over HTTP. "
            "Create a second admin key first, or revoke this one with `headwater access revoke`."
        )


class BindRefused(AccessError):
    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"'{shorten(host)}' can be reached from other machines, and the store has no valid access key. "
            "Create one with `headwater access add`, or serve on 127.0.0.1."
        )
