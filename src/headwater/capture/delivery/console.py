"""Events on the console, one line each.

On standard error: another program may read the job's standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from headwater.capture.delivery.sink import SinkDown


class ConsoleSink:
    name = "console"
    batch = 100

    def deliver(self, events: Sequence[bytes]) -> None:
        try:
            # Looked up each time, because notebooks and tests put another stream in its place.
            sys.stderr.write("".join(f"{event.decode()}\n" for event in events))
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError) as error:  # a closed pipe, a closed stream, none at all
            raise SinkDown(f"the console cannot be written: {error}") from None
