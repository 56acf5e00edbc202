"""Checks the signing key of checkpoints, without showing it."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import KeyUnusable
from headwater.proof.keys import KeyRing, default_key_file

_CHECK = "signing key"


def signing_key(options: DoctorOptions) -> Iterator[Finding]:
    file = default_key_file()
    if not file.exists():
        yield warning(_CHECK, f"none at {file}", "Run headwater keys new to sign the log.")
        return
    try:
        KeyRing.load(file)
    except KeyUnusable as error:
        private = not file.is_file() or not stat.S_IMODE(file.stat().st_mode) & 0o077
        remedy = "Set HEADWATER_KEY to a key file of your own." if private else f"chmod 600 '{file}'"
        yield failed(_CHECK, str(error), remedy)
    else:
        yield ok(_CHECK, f"{file}, readable by its owner only")
