"""The redaction step: known patterns of secrets, and what the settings of Spark define as secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import overload

from headwater.redaction.shapes import (
    BARE,
    IN_QUOTES,
    MARK,
    is_secret_column,
    is_secret_name,
    may_hold_secret,
    redact_secrets,
    replace_secret,
    secret_kind_in,
)

KEY_PATTERN_SETTING = "spark.redaction.regex"
TEXT_PATTERN_SETTINGS = ("spark.redaction.string.regex", "spark.sql.redaction.string.regex")
OPTION_PATTERN_SETTING = "spark.sql.redaction.options.regex"
REDACTION_SETTINGS = (KEY_PATTERN_SETTING, *TEXT_PATTERN_SETTINGS, OPTION_PATTERN_SETTING)
DEFAULT_PATTERNS = {KEY_PATTERN_SETTING: "(?i)secret|password|token|access[.]?key", OPTION_PATTERN_SETTING: "(?i)url"}
"""Spark's own; Spark 3.5 has `(?i)secret|password|token|access[.]key`, of which this is the wider one."""

_MAX_CACHED_LENGTH = 300
_MAX_CACHED_TEXTS = 5_000
_OPTION_MAPS = frozenset(
    {"options", "settings", "properties", "tblproperties", "serdeproperties", "parameters", "conf"}
)
_LIST_OF_OPTIONS = re.compile(r"\b(?:options|(?:tbl|db|serde)?properties)\s*+\(", re.I)
_OPTION = re.compile(
    rf"\s*+[\"'`]?(?P<name>[\w.\-]{{1,200}}+)[\"'`]?\s*+=?\s*+(?P<secret>{IN_QUOTES}|{BARE})\s*+,?", re.S
)
_PAIR = re.compile(
    r"(?<![\w.\-])(?P<name>[\w.\-]{1,200}+)"
    rf"(?:[\"'`]?\s*+(?:=>|->|=|:|,)?\s*+(?P<secret>{IN_QUOTES})|(?:=|\s*+->\s*+)(?P<bare>{BARE}))",
    re.S,
)
_MAY_LIST_OPTIONS = tuple(
    re.compile(rf"{word}(?:(?:\s|\\[nrt]){{0,20}}+\(|\":\{{\")") for word in ("options", "properties")
)
"""Also within an event as JSON."""
_TEXT = re.compile(r"[\s'\"(]")
"""Rarely part of a path: a name with one of these is text, such as a query in a plan."""
_NAMES = frozenset({"name", "namespace"})
_ADDRESS = re.compile(r"(?:jdbc:)?[a-zA-Z][\w+.\-]{0,30}+://[^/]*+")
_FLAGS = re.compile(r"\(\?([a-zA-Z]{1,8})\)")
_CLASSES = {
    r"\p{Alpha}": "a-zA-Z",
    r"\p{Digit}": "0-9",
    r"\p{Alnum}": "a-zA-Z0-9",
    r"\p{Upper}": "A-Z",
    r"\p{Lower}": "a-z",
    r"\p{XDigit}": "0-9a-fA-F",
    r"\p{L}": r"^\W\d_",
    r"\p{N}": r"\d",
}


class Redactor:
    """Removes secrets from text and documents. ``settings`` are those of Spark; a session may add its own later, which
    only adds patterns. ``on_unreadable`` is called with the name of a setting whose regular expression Python cannot
    compile, and with the reason."""

    def __init__(
        self, settings: Mapping[str, str] | None = None, on_unreadable: Callable[[str, str], None] | None = None
    ) -> None:
        self._known: dict[str, str] = {}
        """Short texts with their redacted form: names, types and addresses repeat from event to event."""
        self._learned: set[tuple[str, str]] = set()
        self._keys: tuple[re.Pattern[str], ...] = ()
        self._options: tuple[re.Pattern[str], ...] = ()
        self._texts: tuple[re.Pattern[str], ...] = ()
        self._on_unreadable = on_unreadable or (lambda name, reason: None)
        self.learn(DEFAULT_PATTERNS)
        self._own_keys = False
        """Whether the settings define patterns for keys beyond Headwater's own."""
        self.learn(settings or {})

    def learn(self, settings: Mapping[str, str]) -> None:
        """Add the settings of Spark that define what is secret."""
        for name in REDACTION_SETTINGS:
            text = settings.get(name)
            if not text or (name, text) in self._learned:
                continue
            self._learned.add((name, text))
            try:
                pattern = pattern_of_java(text)
            except re.error as wrong:
                self._on_unreadable(name, str(wrong))
                continue
            if name == KEY_PATTERN_SETTING:
                self._keys += (pattern,)
                self._own_keys = True
            elif name == OPTION_PATTERN_SETTING:
                self._options += (pattern,)
            else:
                self._texts += (pattern,)
            self._known = {}

    def may_hold_secret(self, text: str) -> bool:
        """Whether a text may contain a secret; False is certain."""
        if self._texts or self._own_keys:
            return True
        lowered = text.lower()
        return may_hold_secret(lowered) or any(pattern.search(lowered) for pattern in _MAY_LIST_OPTIONS)

    def text(self, text: str) -> str:
        """The text without secrets. Idempotent."""
        if len(text) > _MAX_CACHED_LENGTH:
            return self._redact(text)
        redacted = self._known.get(text)
        if redacted is None:
            if len(self._known) >= _MAX_CACHED_TEXTS:
                self._known.clear()
            redacted = self._known[text] = self._redact(text)
        return redacted

    def _redact(self, text: str) -> str:
        for pattern in self._texts:
            text = pattern.sub(_replace_with_mark, text)
        text = redact_secrets(text)
        if self._own_keys:
            text = _PAIR.sub(self._pair, text)
        if "(" in text and _LIST_OF_OPTIONS.search(text) is not None:
            text = "".join(self._with_options(text))
        return text

    def secret_in(self, text: str) -> str | None:
        """The kind of a secret in the text; None if there is none."""
        if (shape := secret_kind_in(text)) is not None:
            return shape
        return None if self.text(text) == text else "a value that the settings of Spark name as secret"

    @overload
    def document(self, value: str) -> str: ...
    @overload
    def document(self, value: Mapping[str, object]) -> dict[str, object]: ...
    @overload
    def document(self, value: object) -> object: ...
    def document(self, value: object) -> object:
        """A document with every text redacted, keys included, and options by their names."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self._field(key, item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        return value

    def name(self, name: str) -> str:
        """The name of a dataset, a job or a column without secrets. A secret ends with a step of the path: otherwise
        everything below it would have one name, and would be one dataset."""
        if "/" not in name or _TEXT.search(name) is not None:
            return self.text(name)
        address = _ADDRESS.match(name)
        start = address[0] if address else ""
        return self.text(start) + "/".join(map(self.text, name[len(start) :].split("/")))

    def options(self, options: Mapping[str, object]) -> dict[str, object]:
        """Options of a reader, a writer or a table."""
        return {self.text(name): self._option(name, value) for name, value in options.items()}

    def settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Settings of Spark, as with options."""
        return {self.text(name): self._setting(name, value) for name, value in settings.items()}

    def is_secret(self, name: str, *, of_option: bool = False) -> bool:
        """Whether the value of a setting, or of an option, of this name is a secret."""
        patterns = self._keys + self._options if of_option else self._keys
        return is_secret_name(name) or any(pattern.search(name) for pattern in patterns)

    def _field(self, name: str, value: object) -> object:
        if name.lower() in _OPTION_MAPS and isinstance(value, Mapping):
            return self.options(value)
        if name == "dimensions" and isinstance(value, Mapping):  # of a partition: the column, and its value
            return {key: MARK if item and is_secret_column(key) else self.document(item) for key, item in value.items()}
        if name in _NAMES and isinstance(value, str):
            return self.name(value)
        return self.document(value)

    def _option(self, name: str, value: object) -> object:
        return self._setting(name, value) if isinstance(value, str) else self.document(value)

    def _setting(self, name: str, value: str) -> str:
        """As Spark does, a value is also matched against the pattern for keys."""
        return MARK if value and self.is_secret(name, of_option=True) else self.text(value)

    def _pair(self, match: re.Match[str]) -> str:
        if not any(pattern.search(match["name"]) for pattern in self._keys):
            return match[0]
        if match["secret"] is not None:
            return replace_secret(match)
        start = match.start("bare") - match.start()
        return match[0] if match["bare"].startswith((MARK, "****")) else f"{match[0][:start]}{MARK}"

    def _with_options(self, text: str) -> Iterable[str]:
        """`OPTIONS (url '…')`: lists of options in SQL."""
        at = 0
        for opening in _LIST_OF_OPTIONS.finditer(text):
            if opening.end() < at:
                continue
            yield text[at : opening.end()]
            at = opening.end()
            while (option := _OPTION.match(text, at)) is not None:
                yield replace_secret(option) if self.is_secret(option["name"], of_option=True) else option[0]
                at = option.end()
        yield text[at:]


def pattern_of_java(text: str) -> re.Pattern[str]:
    """A regular expression of Java as one of Python. A flag applies to the whole expression."""
    flags = re.RegexFlag(0)
    for letters in _FLAGS.findall(text):
        for letter in letters:
            flags |= {"i": re.I, "s": re.S, "m": re.M, "x": re.X}.get(letter, re.RegexFlag(0))
    text = _FLAGS.sub("", text)
    for java_class, python_class in _CLASSES.items():
        text = text.replace(f"[{java_class}]", f"[{python_class}]").replace(java_class, f"[{python_class}]")
    return re.compile(text, flags)


def _replace_with_mark(match: re.Match[str]) -> str:
    return MARK if match[0] and MARK not in match[0] else match[0]
