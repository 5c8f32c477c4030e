"""The manual's pages in a real browser: chromium without a window, driven by playwright.

Where one of the two is missing, tests that ask for `visit` are skipped with the reason; where the environment says
PTXSPEC_BROWSER=required, they fail. PTXSPEC_CHROMIUM names a browser that is not on the path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

FOLDER = ROOT / "generated/manual"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# No sandbox, as containers have none; and nothing that talks to anybody.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser; without one the test is skipped or fails."""
    program = os.environ.get("PTXSPEC_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        _missing("no chromium here to open the pages with")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("no playwright here to drive a browser: pip install playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visits:
    """Opens pages of generated/manual for a test, each in a context of its own:

        page = visit("fma.html#try", width=320, theme="dark", javascript=False)

    More arguments are those of playwright's `Browser.new_context`. Whatever a page's script throws or the console calls
    an error, and whatever a page asks of a network, fails the test at its end."""

    def __init__(self, browser: Browser, folder: Path = FOLDER) -> None:
        self._browser = browser
        self._folder = folder
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def __call__(
        self,
        address: str,
        *,
        width: int = 1280,
        height: int = 800,
        theme: str = "light",
        javascript: bool = True,
        **more: Any,
    ) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,  # type: ignore[arg-type]
            java_script_enabled=javascript,
            **more,
        )
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.complaints.append(f"{address}: {error}"))
        page.on("console", lambda said: self._hear(address, said.type, said.text))
        page.on("request", lambda asked: self._see(address, asked.url))
        page.goto(self.url(address))
        return page

    def url(self, address: str) -> str:
        """The address of a page, as a reader's browser shows it."""
        name, _, state = address.partition("#")
        return (self._folder / name).as_uri() + (f"#{state}" if state else "")

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        assert not self.complaints, "\n".join(self.complaints)

    def _hear(self, address: str, kind: str, text: str) -> None:
        if kind == "error":
            self.complaints.append(f"{address}: {text}")

    def _see(self, address: str, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"{address} asks the network for {url}")


def _missing(reason: str) -> None:
    if os.environ.get("PTXSPEC_BROWSER") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
