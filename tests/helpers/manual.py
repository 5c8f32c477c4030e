"""The manual's pages as tests read them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from ptxspec.query.database import Variant
from ptxspec.read.notation import expand

from helpers import ROOT
from helpers.repository import database, specification

FOLDER = ROOT / "generated/manual"


class Page(HTMLParser):
    """Links, anchors, and rows of tables as lists of the cells' texts; one as wide as several columns is in each."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.rows: list[list[str]] = []
        self._open = False
        self._columns = 1
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [str(given["id"])] if "id" in given else []
        self.links += [str(given["href"])] if "href" in given else []
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True
            self._columns = int(given.get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        if self._open and tag in ("td", "th"):
            self.rows[-1] += [self.rows[-1][-1]] * (self._columns - 1)
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1] += data


@cache
def page(path: Path) -> Page:
    return Page(path)


@cache
def _twice() -> set[str]:
    """Spellings of variants that differ in nothing but the number of operands."""
    return {s for s, n in Counter(v.spelling for v in database().variants).items() if n > 1}


def shown(v: Variant) -> str:
    """As pages about several opcodes name a variant: `max.f32 (2)` where the spelling is that of several."""
    return f"{v.spelling} ({v.operands})" if v.spelling in _twice() else v.spelling


def spelled(text: str) -> list[str]:
    """What a notation such as `max{.ftz}.f32 (2)` stands for."""
    opcode, notation, operands = re.fullmatch(r"(\w+)(\S*)((?: \(\d\))?)", text).groups()  # type: ignore[union-attr]
    return [".".join((opcode, *names)) + operands for names in expand(notation, specification().notation)]
