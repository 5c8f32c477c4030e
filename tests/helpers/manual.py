"""The manual's pages as tests read them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, cached_property
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
    """Return the spellings that a notation such as `max{.ftz}.f32 (2)` stands for."""
    opcode, notation, operands = re.fullmatch(r"(\w+)(\S*)((?: \(\d\))?)", text).groups()  # type: ignore[union-attr]
    return [".".join((opcode, *names)) + operands for names in expand(notation, specification().notation)]


@dataclass(eq=False)
class Row:
    """The notations of a row, and for each target's column what stands there: "8.6", or "a 9.1" and "f 9.1"."""

    texts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    @cached_property
    def names(self) -> list[str]:
        return [name for text in self.texts for name in spelled(text)]


class Matrix(HTMLParser):
    """The table of availability.html as a reader has it who runs no script."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.columns: list[str] = []
        self.rows: list[Row] = []
        self._text: list[str] | None = None
        self._skips = False
        table, _, _ = (folder / "availability.html").read_text("utf-8").partition("</table>")
        self.feed(table)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "th" and "data-target" in given:
            self.columns.append(str(given["data-target"]))
        elif tag == "th" and given.get("scope") == "row":
            self.rows.append(Row())
        elif self.rows and tag == "code":
            self._open(self.rows[-1].texts)
        elif self.rows and tag == "td":
            self._skips = given.get("class") == "needs"
            self._open(self.rows[-1].cells)
        elif self._text and tag == "br":
            self._text[-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("code", "tr"):
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text and not self._skips:
            self._text[-1] += data

    def _open(self, texts: list[str]) -> None:
        if not self._skips or texts is not self.rows[-1].cells:
            texts.append("")
        self._text = texts


def parts(cell: str) -> dict[str, tuple[str, list[int]]]:
    """Return what a cell says of a target ("") and of its kinds ("a", "f"): PTX versions, and the hazards there."""
    found = re.findall(r"^(?:([af]) )?([\d.\N{EN DASH}]+)(?:! hazard ([\d, ]+))?$", cell, re.MULTILINE)
    assert len(found) == len(cell.splitlines())
    return {kind: (versions, [int(n) for n in marks.split(",") if n]) for kind, versions, marks in found}
