"""A real browser, and a page that records every console message and every violation of its content security policy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
TIMEOUT_MS = 60_000  # milliseconds: the machine may be busy


def chromium() -> str | None:
    named = os.environ.get("HEADWATER_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def browsing(executable: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    # As where there is no graphics card: WebGL is emulated, and only that. With all of the page drawn by an emulated
    # card, it would be ten times as slow as anybody sees it.
    options = ["--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=options)
        try:
            yield browser
        finally:
            browser.close()


class CheckedPage:
    """A page that records its errors."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.context = browser.new_context(
            base_url=url,
            viewport={"width": 1400, "height": 900},
            color_scheme="light",
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda told: self._record(told.type, told.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _record(self, kind: str, text: str) -> None:
        # What a server refuses is told by the page itself; a policy that stops something is a fault of ours.
        if kind == "error" and "Failed to load resource" not in text:
            self.complaints.append(text)

    def accessibility_violations(self) -> list[str]:
        """Violations that axe finds, which would hinder users of screen readers or with low vision."""
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
            ".filter(one => ['serious', 'critical'].includes(one.impact))"
            ".map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 120)).slice(0, 3).join(' | ')}`)"
        )
        return list(found)

    @contextmanager
    def in_dark_mode(self) -> Iterator[None]:
        """The same page on a system with a dark colour scheme."""
        self.page.emulate_media(color_scheme="dark")
        try:
            self.page.reload()
            yield
        finally:
            self.page.emulate_media(color_scheme="light")

    def close(self) -> None:
        self.context.close()
