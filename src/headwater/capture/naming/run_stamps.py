"""Names of folders and files that differ from run to run: `run_20261118T060000`, `orders-2026-11-18.csv`, a UUID, a
Unix time. The stamp is a partition, the rest names the dataset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_DATE = "|".join(  # with one separator throughout
    rf"(?:19|20)\d{{2}}{separator}(?:0[1-9]|1[0-2]){separator}(?:0[1-9]|[12]\d|3[01])"
    for separator in ("-", "_", r"\.", "")
)
_CLOCK = r"[T_ -]?(?:[01]\d|2[0-3])(?:[-_:.]?[0-5]\d(?:[-_:.]?[0-5]\d(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}:?\d{2})?"
_PERIOD = r"(?:19|20)\d{2}-(?:W[0-5]\d|Q[1-4]|0[1-9]|1[0-2])"
_TIME = rf"(?:{_DATE})(?:{_CLOCK})?|{_PERIOD}"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-f]{32}"
_ULID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_UNIX = r"1\d{9}(?:\d{3}){0,2}"
_SPARK = r"\d{13,14}[-_]\d{4,6}"  # of an application's id
_NUMBERED = r"run|run_?id|batch|attempt|execution"
_RUN = (
    rf"{_NUMBERED}|job|load|exec|application|app|local|export|dump|extract|backup|snapshot|ingest|ingestion|scheduled|manual|backfill|"
    r"dag_run|date|day|dt|ds|ts|time|timestamp|as_?of|part|partition|version|v"
)
_SUFFIX = r"(?:\.[A-Za-z]\w{0,7}){0,2}"

_OF_A_RUN = re.compile(
    rf"(?P<word>{_RUN})(?:__|[-_.=])?(?P<stamp>{_TIME}|{_UUID}|{_ULID}|{_UNIX}|{_SPARK})(?:[-_][0-9a-f]{{6,40}})?", re.I
)
_RUN_NUMBER = re.compile(rf"(?P<word>{_NUMBERED})[-_=](?P<stamp>\d+)", re.I)
_ALONE = re.compile(
    rf"(?P<time>{_TIME})(?:{_SUFFIX})|(?P<id>{_UUID}|{_ULID})(?:{_SUFFIX})|(?P<unix>{_UNIX})(?:{_SUFFIX})"
)
_AT_THE_END = re.compile(
    rf"(?P<name>.*[^-_.])[-_.]+(?:(?P<time>{_TIME})|(?P<id>{_UUID})|(?P<unix>{_UNIX}))(?P<suffix>{_SUFFIX})"
)
_AT_THE_BEGINNING = re.compile(rf"(?:(?P<time>{_TIME})|(?P<id>{_UUID}))[-_.]+(?P<name>[A-Za-z].*)")
_KEYS = {"time": "date", "id": "id", "unix": "time"}


@dataclass(frozen=True, slots=True)
class RunStamp:
    """``rest`` is what is left of the name; None if nothing is."""

    key: str
    value: str
    rest: str | None = None


@lru_cache(maxsize=4096)
def read_stamp(segment: str) -> RunStamp | None:
    """The stamp in the last segment of a path."""
    if not any(character.isdigit() for character in segment):
        return None
    stamp = read_run_folder(segment)
    if stamp is not None:
        return stamp
    match = _ALONE.fullmatch(segment)
    if match is not None:
        return RunStamp(_key(match), segment)
    match = _AT_THE_END.fullmatch(segment)
    if match is not None:
        return RunStamp(_key(match), _value(match), match["name"] + match["suffix"])
    match = _AT_THE_BEGINNING.fullmatch(segment)
    return None if match is None else RunStamp(_key(match), _value(match), match["name"])


@lru_cache(maxsize=4096)
def read_run_folder(segment: str) -> RunStamp | None:
    """The same in any segment: the folder of a run or a date, which holds several datasets."""
    match = _OF_A_RUN.fullmatch(segment) or _RUN_NUMBER.fullmatch(segment)
    if match is not None:
        word = match["word"]
        return RunStamp(word.lower(), segment[len(word) :].lstrip("-_.="))
    match = _ALONE.fullmatch(segment)
    return RunStamp("date", segment) if match is not None and match["time"] else None


def _key(match: re.Match[str]) -> str:
    return next(key for group, key in _KEYS.items() if match.groupdict().get(group))


def _value(match: re.Match[str]) -> str:
    return next(value for group in _KEYS if (value := match.groupdict().get(group)))
