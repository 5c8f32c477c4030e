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
    from playwright.sync_api import Browser as Chromium, Page

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
# What a window emulates unless a test says otherwise: nothing.
_USUAL = {"media": "null", "reduced_motion": "null", "forced_colors": "null", "contrast": "null"}


class Browser:
    """A browser and its windows. They are used again, as opening one costs as much as loading a page."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._free: dict[bool, list[Page]] = {True: [], False: []}

    def take(self, javascript: bool) -> Page:
        """A window with nothing in its storage; what it shows is to be replaced."""
        if self._free[javascript]:
            return self._free[javascript].pop()
        page = self._chromium.new_context(java_script_enabled=javascript).new_page()
        page.set_default_timeout(60_000)
        return page

    def give_back(self, page: Page, javascript: bool) -> None:
        if javascript:
            page.evaluate("localStorage.clear()")
        self._free[javascript].append(page)


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
        chromium = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()


class Visits:
    """Opens pages of generated/manual for a test, each in a window of its own until the test leaves it or ends:

        page = visit("fma.html#try", width=320, theme="dark", javascript=False)
        visit.leave(page)

    More arguments are those of playwright's `Page.emulate_media`. Whatever a page's script throws or the console calls
    an error, and whatever a page asks of a network, fails the test at its end."""

    def __init__(self, browser: Browser, folder: Path = FOLDER) -> None:
        self._browser = browser
        self._folder = folder
        self._open: dict[Page, tuple[bool, dict[str, Any]]] = {}
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
        page = self._browser.take(javascript)
        heard: dict[str, Any] = {
            "pageerror": lambda error: self.complaints.append(f"{address}: {error}"),
            "console": lambda said: self._hear(address, said.type, said.text),
            "request": lambda asked: self._see(address, asked.url),
        }
        self._open[page] = javascript, heard
        # Where the same page is still shown, another address would only scroll in it.
        page.goto("about:blank")
        for event, hear in heard.items():
            page.on(event, hear)  # type: ignore[call-overload]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**{**_USUAL, "color_scheme": theme, **more})
        page.goto(self.url(address))
        return page

    def leave(self, page: Page) -> None:
        """Nothing more is looked at in this window."""
        javascript, heard = self._open.pop(page)
        for event, hear in heard.items():
            page.remove_listener(event, hear)
        self._browser.give_back(page, javascript)

    def url(self, address: str) -> str:
        """The address of a page, as a reader's browser shows it."""
        name, _, state = address.partition("#")
        return (self._folder / name).as_uri() + (f"#{state}" if state else "")

    def close(self) -> None:
        for page in list(self._open):
            self.leave(page)
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
