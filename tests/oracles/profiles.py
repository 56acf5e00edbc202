"""The number of examples: a few in every run of the tests, many in the long one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings

_HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large]
_PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]  # not explain: a failure is slow enough to shrink


def QUICK(examples: int) -> Callable[[Any], Any]:
    """The same examples in every run, so that a correct change never fails."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=_PHASES,
        suppress_health_check=_HEALTH,
    )


def LONG(examples: int) -> Callable[[Any], Any]:
    """Random examples each time; in CI the same ones, so that a result depends only on the change."""
    if "CI" in os.environ:
        return QUICK(examples)
    return settings(
        max_examples=examples,
        deadline=None,
        print_blob=True,
        phases=_PHASES,
        suppress_health_check=_HEALTH,
    )
