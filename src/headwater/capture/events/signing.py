"""The key that signs kept plans."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from headwater.errors import HeadwaterError
from headwater.proof.keys import KeyRing, SigningKey

KEY_VARIABLE = "HEADWATER_CAPTURE_KEY"
KEY_FILE = "capture.pem"
"""The name of a key file in a spool folder."""
_log = logging.getLogger("headwater")


class CaptureSigningKey:
    """A key file, read when it is first needed: never in the job's own thread.

    A file that the user names has to exist. The default file is created, and never overwritten. ``file`` is None for a
    store in memory: the key lives as long as the capture.
    """

    def __init__(self, file: Callable[[], Path | None], *, create: bool) -> None:
        self._file = file
        self._create = create
        self._lock = Lock()
        self._key: SigningKey | None = None
        self._failed = False

    @property
    def is_default(self) -> bool:
        """Whether Headwater created the key itself, for the store beside which it lies."""
        return self._create

    def get(self) -> SigningKey | None:
        """None if the file cannot be used: the capture goes on, and its plans are not signed."""
        with self._lock:
            if self._key is None and not self._failed:
                try:
                    self._key = self._load()
                except (HeadwaterError, OSError) as error:
                    self._failed = True
                    _log.warning("Kept plans are not signed, so no trace will run them. %s", error)
            return self._key

    def _load(self) -> SigningKey:
        file = self._file()
        if file is None:
            return SigningKey.new()
        return (KeyRing.load_or_create(file) if self._create else KeyRing.load(file)).newest
