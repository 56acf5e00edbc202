"""The patterns of secrets in text: SQL, addresses, options, error messages, stack traces, plans.

A pattern here runs in time that grows linearly with the length of the text: a repetition without a bound is possessive,
so it is never retried, and where a match has to end somewhere, the end of the text is an end as well. The latter also
covers text that was cut off in the middle of a secret. tests/redaction/test_shapes.py reads the compiled patterns and
checks this rule.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = "[redacted]"
"""The replacement of a secret."""
_MARK_OF_SPARK = "*********"
"""What Spark itself has redacted stays: `*********(redacted)`."""
_EXACTLY = re.RegexFlag(0)

_JOINED = r"[._\- ]?"
_KINDS_OF_KEYS = (
    *("access", "account", "api", "private", "encryption", "decryption", "signing", "shared", "master", "storage"),
    *("subscription", "secret", "footer"),
)
_KEYED = rf"(?:{'|'.join(_KINDS_OF_KEYS)}){_JOINED}keys?"
_SECRET_WORD = (
    rf"passw(?:or)?d|passphrase|passcode|(?<![a-z])pwd|secret|token|credential|{_KEYED}|\.key\.list"
    r"|sharedaccess(?:key|signature)|authorization|(?<![a-z0-9])(?:x-amz-)?(?:signature|sig)(?![a-z0-9])"
)
"""Part of the name of a setting, an option or a parameter whose value is a secret."""
_NAME = re.compile(rf"{_SECRET_WORD}|auth|(?<![a-z])sas(?![a-z])|\.keys?$|\bkeys?\.", re.I)
_COLUMN = re.compile(_SECRET_WORD, re.I)
_NAME_IN_TEXT = rf"(?:{_SECRET_WORD})[\w.\-]{{0,200}}+"

_QUOTE = r"\\{0,4}+[\"'`]"
_SPACE = r"\s*+"
_OPERATOR = r"(?:<=>|=>|->|==?|:|<>|!=)"
IN_QUOTES = (
    r"\\{1,4}+\"[^\"\\]*+|\\{1,4}+'[^'\\]*+"  # within a string that is itself quoted
    r"|'(?:[^'\\]|\\.|'')*+(?:'|\\?\Z)|\"(?:[^\"\\]|\\.|\"\")*+(?:\"|\\?\Z)"
)
"""A value in quotes. Text may have been cut off within it."""
BARE = r"(?!\[redacted\])(?:\{[^}\s]{1,500}+\}|[^\s&;,'\"`)\]}>\\]++)"
"""A value without quotes, as in the query string of an address."""


class SecretPattern(NamedTuple):
    """``words``: a text with such a secret contains one of them, in lower case; ``pattern`` finds the secret as the
    group `secret`."""

    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _pattern(name: str, words: str, pattern: str, flags: re.RegexFlag = re.I) -> SecretPattern:
    return SecretPattern(name, tuple(words.split()), re.compile(pattern, flags | re.S))


_NAMES = (
    "passwo passwd passphrase passcode pwd secret token credential key sharedaccess authorization signature"
    " sig= sig' sig\" sig\\"
)

SECRET_PATTERNS: tuple[SecretPattern, ...] = (
    _pattern(
        "a private key",
        "private",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<secret>(?:(?!-----END).)*+)",
    ),
    _pattern(
        "a password in an address",
        "://",
        r"(?<=://)[^\s/:@'\"\[]{0,200}:(?!\d{1,5}(?:[/?#,;\s'\"]|\Z))"
        r"(?P<secret>[^\s'\"@/]{1,200}(?:@[^\s'\"@/]{1,200}){0,2}|[^\s'\"@]{1,200})(?=@)",
    ),
    _pattern("a token in an address", "http", r"\bhttps?://(?P<secret>[^\s/:@'\"\[]{1,500})(?=@)"),
    _pattern(
        "a password of Oracle",
        "jdbc:oracle",
        r"\bjdbc:oracle:\w{1,20}:[^/@\s'\"]{1,128}/(?P<secret>[^@\s'\"]{1,200})(?=@)",
    ),
    _pattern(
        "the password of a database user",
        "identified",
        r"\bidentified\s++(?:with\s++\S{1,64}\s++)?(?:by|as)\s++(?:password\s++|values\s++)?"
        rf"(?P<secret>{IN_QUOTES}|[^\s;'\"]{{1,200}})",
    ),
    _pattern(
        "a value behind the name of a secret",
        _NAMES,
        rf"{_NAME_IN_TEXT}(?:{_QUOTE}[\])]?{_SPACE}(?:(?:{_OPERATOR}|,){_SPACE})?"
        rf"|(?:\#\d{{1,12}}L?)?\)?{_SPACE}(?:{_OPERATOR}{_SPACE})?)(?P<secret>{IN_QUOTES})",
    ),
    _pattern(
        "a parameter with the name of a secret",
        _NAMES,
        rf"(?P<name>{_NAME_IN_TEXT})(?:{_QUOTE})?(?:=|{_SPACE}->{_SPACE})(?P<secret>{BARE})",
    ),
    _pattern(
        "a value in a message",
        "passw passphrase pwd secret key",
        rf"(?:passw(?:or)?d|passphrase|(?<![a-z])pwd|secret|{_KEYED})(?:{_QUOTE})?{_SPACE}:{_SPACE}(?P<secret>{BARE})",
    ),
    _pattern(
        "a value that becomes a column with the name of a secret",
        _NAMES,
        r"(?P<secret>'(?:[^'\\]|\\.|''){0,200}+'|\"(?:[^\"\\]|\\.){0,200}+\")"
        rf"\s{{1,20}}+as\s{{1,20}}+`?\w{{0,100}}?(?:{_SECRET_WORD})",
    ),
    _pattern(
        "an authorization header",
        "authorization bearer",
        r"\b(?:authorization[\"'\\]{0,4}\s{0,9}+[:=,]?\s{0,9}+[\"'\\]{0,4}(?:bearer|basic|token|negotiate)\s{1,9}+"
        r"|bearer\s{1,9}+(?=[\w.~+/\-]{0,40}\d))(?P<secret>[\w.~+/=\-]++)",
    ),
    _pattern(
        "a key of AWS",
        "akia asia aroa aida abia acca",
        r"(?<![A-Za-z0-9])(?P<secret>(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,124}+)",
        _EXACTLY,
    ),
    _pattern("a JSON web token", "eyj", r"(?<![A-Za-z0-9])(?P<secret>eyJ[\w\-]{8,}+(?:\.[\w\-]*+)*+)", _EXACTLY),
    _pattern(
        "a token of a service",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxa- xoxb- xoxp- xoxr- xoxs- aiza ya29. dapi sk_live_ rk_live_"
        " sk- hvs. npm_ pypi- sg.",
        r"(?<![A-Za-z0-9])(?P<secret>gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|glpat-[\w\-]{16,}+"
        r"|xox[abprs]-[\w\-]{10,}+|AIza[\w\-]{30,}+|ya29\.[\w\-]{20,}+|dapi[0-9a-f]{32,}+|[sr]k_live_\w{16,}+"
        r"|sk-[A-Za-z0-9_\-]{20,}+|hvs\.[\w\-]{20,}+|npm_[A-Za-z0-9]{30,}+|pypi-[\w\-]{30,}+"
        r"|SG\.[\w\-]{16,}+\.[\w\-]{16,}+)",
        _EXACTLY,
    ),
)
"""In the order in which they are searched."""

_ADDRESS_WITH_USER = re.compile(r"://[^\s/@'\"<>]{1,500}@")
_NAMES_OF_KEYS = tuple(f"{kind}{joint}key" for kind in _KINDS_OF_KEYS for joint in ("", ".", "_", "-", " "))
_WORDS = (
    *("pass", "pwd", "secret", "token", "credential", "sharedaccess", "authorization", "signature", "identified"),
    *("sig=", "sig'", 'sig"', "sig\\", "bearer", "begin ", ".key.list", "akia", "asia", "aroa", "aida", "abia", "acca"),
    *("eyj", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "aiza", "ya29.", "dapi"),
    *("k_live_", "sk-", "hvs.", "npm_", "pypi-", "sg."),
)
"""A text with a secret contains one of these, the name of a key, or an address with a user."""


def is_secret_name(name: str) -> bool:
    """Whether the value of a setting or an option of this name is a secret."""
    return _NAME.search(name) is not None


def is_secret_column(name: str) -> bool:
    """Whether a column of this name may hold secrets. Narrower: `author` is none."""
    return _COLUMN.search(name) is not None


def may_hold_secret(lowered: str) -> bool:
    """Whether a text, in lower case, needs a closer look. Cheap, because most texts do not."""
    if any(word in lowered for word in _WORDS):
        return True
    if "key" in lowered and any(name in lowered for name in _NAMES_OF_KEYS):
        return True
    return "@" in lowered and ("jdbc:oracle" in lowered or _ADDRESS_WITH_USER.search(lowered) is not None)


def redact_secrets(text: str) -> str:
    """The text with the mark in place of each secret. Idempotent."""
    lowered = text.lower()
    if not may_hold_secret(lowered):
        return text
    for shape in SECRET_PATTERNS:
        if any(word in lowered for word in shape.words):
            text = shape.pattern.sub(replace_secret, text)
    return text


def secret_kind_in(text: str) -> str | None:
    """The kind of a secret in the text; None if there is none."""
    lowered = text.lower()
    if not may_hold_secret(lowered):
        return None
    for shape in SECRET_PATTERNS:
        matches = shape.pattern.finditer(text) if any(word in lowered for word in shape.words) else ()
        if any(replace_secret(match) != match[0] for match in matches):
            return shape.name
    return None


def replace_secret(match: re.Match[str]) -> str:
    """The match with the mark in place of its group `secret`, between its quotes."""
    secret, whole = match["secret"], match[0]
    quote = _opening_quote(secret)
    inner = secret[len(quote) :]
    closing = quote if quote and inner.endswith(quote) else ""
    bare = inner[: len(inner) - len(closing)]
    if not bare.strip() or _is_marked(bare) or _is_column(match, bare):
        return whole
    start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
    return f"{whole[:start]}{quote}{MARK}{closing}{whole[end:]}"


def _opening_quote(secret: str) -> str:
    """As it is escaped."""
    bare = secret.lstrip("\\")
    return secret[: len(secret) - len(bare) + 1] if bare[:1] in ("'", '"') else ""


def _is_marked(bare: str) -> bool:
    return bare == MARK or bare.startswith(_MARK_OF_SPARK)


def _is_column(match: re.Match[str], bare: str) -> bool:
    """`a.token=b.token` is a condition of a join."""
    name = match.groupdict().get("name")
    return name is not None and "." in bare and bare.rpartition(".")[2].lower() == name.rpartition(".")[2].lower()
