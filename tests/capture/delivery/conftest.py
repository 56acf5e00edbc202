"""Deliveries that are closed after the test, and leave no thread behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.capture.delivery import Delivery, EventSink
from tests.capture.delivery.endpoint import Endpoint

Deliver = Callable[..., Delivery]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def warnings() -> list[str]:
    """What the user was told."""
    return []


@pytest.fixture
def deliver(spool: Path, warnings: list[str]) -> Iterator[Deliver]:
    """Opens a delivery to some sinks, in the usual spool or ``at`` another."""
    opened: list[Delivery] = []

    def make(*sinks: EventSink, at: Path = spool, **options: Any) -> Delivery:
        opened.append(Delivery(sinks, at, warn=warnings.append, **options))
        return opened[-1]

    yield make
    for delivery in opened:
        delivery.close(1.0)
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("headwater-")]
    assert left == []


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as running:
        yield running
