"""Error lines that the command line prints: one line, without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from headwater.errors import HeadwaterError

PASSWORD = "hunter2-s3cret"


class Caught:
    line: str = ""


@contextmanager
def refused(kind: type[HeadwaterError], *mentions: str) -> Iterator[Caught]:
    """The block raises exactly ``kind``, in one line that contains all these texts and never the password."""
    caught = Caught()
    with pytest.raises(kind) as raised:
        yield caught
    assert type(raised.value) is kind
    caught.line = str(raised.value)
    assert caught.line.isprintable(), "more than one line, or not for the eye"
    assert len(caught.line) < 600
    for text in mentions:
        assert text in caught.line
    assert PASSWORD not in caught.line
