"""What `./dev` prints, and the errors that it reports in one line."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class DevError(Exception):
    """A mistake or a lack that we can name in one line."""


def say(text: str) -> None:
    print(text, flush=True)  # flushed: what children print must come after it, in a CI log too


@contextlib.contextmanager
def step(text: str) -> Iterator[None]:
    say(f"- {text}")
    started = time.monotonic()
    yield
    say(f"  {time.monotonic() - started:.1f} s")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
