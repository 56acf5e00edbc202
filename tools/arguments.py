"""Options of the commands."""

from __future__ import annotations

from tools.console import DevError


def take_flag(args: list[str], flag: str) -> bool:
    given = flag in args
    if given:
        args.remove(flag)
    return given


def take_option(args: list[str], option: str) -> str | None:
    if option not in args:
        return None
    place = args.index(option)
    if place + 1 == len(args):
        raise DevError(f"{option} needs a value. See ./dev help.")
    value = args[place + 1]
    del args[place : place + 2]
    return value


def no_more(args: list[str]) -> None:
    if args:
        raise DevError(f"Not understood: {' '.join(args)}. See ./dev help.")
