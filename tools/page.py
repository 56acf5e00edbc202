"""Building the web page from `ui/` into the package."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tools.console import DevError, step
from tools.node import install_node_packages, npm, page_environment
from tools.paths import PAGE_BUILT, PAGE_LOCK, PAGE_SOURCE, ROOT
from tools.pip import install_optional
from tools.processes import run
from tools.stamps import Stamp
from tools.venvs import MAIN

PAGE_MADE = {"node_modules", "schema.d.ts"}  # in ui/, by us


def make_page(stamp: Stamp) -> None:
    """From ui/ into the package, where the server finds it; again only when something in ui/ is another."""
    digest = page_digest()
    if "page" in stamp["missing"] or (stamp.get("page") == digest and (PAGE_BUILT / "index.html").exists()):
        return
    with step(f"installing Node and a driver of browsers into {MAIN.name}"):
        reason = install_optional(MAIN, PAGE_LOCK)
    if reason is None:
        with step("installing what the page is made of"):
            reason = install_node_packages()
    if reason is not None:
        stamp["missing"]["page"] = reason
        return
    with step("building the page"):
        for script in ("client", "build"):
            if code := run(npm("run", "--silent", script), page_environment()):
                raise DevError(f"npm run {script} failed (exit {code}; the lines above say why)")
    stamp["page"] = digest


def page_digest() -> str:
    """Of all that decides what the page is."""
    digest = hashlib.sha256(PAGE_LOCK.read_bytes())
    for folder, folders, files in os.walk(PAGE_SOURCE):
        folders[:] = sorted(set(folders) - PAGE_MADE)
        for name in sorted(set(files) - PAGE_MADE):
            path = Path(folder, name)
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
