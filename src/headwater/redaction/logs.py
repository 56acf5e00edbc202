"""Removes secrets from Headwater's log in the process of a job: an error may quote an option or an address."""

from __future__ import annotations

import logging
from weakref import WeakSet

from headwater.redaction.redactor import Redactor

_LOGGER = "headwater"


class _RedactingFilter(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._known_shapes = Redactor()
        self.of_captures: WeakSet[Redactor] = WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        redacted = self._redact(text)
        if redacted != text:
            record.msg, record.args = redacted, None
        if record.exc_info:
            record.exc_text = self._redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def _redact(self, text: str) -> str:
        for redactor in (self._known_shapes, *self.of_captures):
            text = redactor.text(text)
        return text


def redact_logs(redactor: Redactor) -> None:
    """Redact the log until the process ends."""
    logger = logging.getLogger(_LOGGER)
    installed = next((log_filter for log_filter in logger.filters if isinstance(log_filter, _RedactingFilter)), None)
    if installed is None:
        installed = _RedactingFilter()
        logger.addFilter(installed)
    installed.of_captures.add(redactor)
