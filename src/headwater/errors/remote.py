"""A Headwater server that is used as a store over HTTP."""

from __future__ import annotations

from headwater.errors.base import HeadwaterError, shorten


class RemoteError(HeadwaterError):
    """Something about a Headwater server that is used as a store over HTTP."""


class NotOffered(RemoteError):
    """``method`` has no route; a partial answer would be a wrong one."""

    def __init__(self, method: str) -> None:
        self.method = method
        super().__init__(f"{method} is not offered over HTTP; open the store itself or run it on the server.")


class RequestRefused(RemoteError):
    """``code`` is that of the server's problem, where it sends one."""

    def __init__(self, status: int, code: str | None, detail: str) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        named = str(status) if code is None else f"{status}, {code}"
        super().__init__(f"The server refuses the request ({named}): {detail}")


class AnswerUnreadable(RemoteError):
    """``field`` is the path to it, like `nodes[0].via`."""

    def __init__(self, field: str, reason: str, version: str) -> None:
        self.field = field
        self.reason = reason
        self.version = version
        super().__init__(
            f"The answer of the server (Headwater {shorten(version)}) cannot be read at {shorten(field)}: {reason}. "
            "Use the same version on both sides."
        )
