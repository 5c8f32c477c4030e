"""The manual's pages: what they say holds, they agree with the queries, and their links lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import ptxspec
import pytest
from helpers import ROOT
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec.query import show
from ptxspec.roots import find

FOLDER = ROOT / "generated/manual"
SPEC = specification()
DB = database()
PAGES = sorted(FOLDER.glob("*.html"))
TEXTS = sorted(FOLDER.glob("*.md"))


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


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(path: Path) -> None:
    found = page(path)
    assert [i for i, n in Counter(found.ids).items() if n > 1] == []
    for link in found.links:
        if not link.startswith("https://"):
            name, _, anchor = link.partition("#")
            there = FOLDER / name if name else path
            assert there.is_file(), link
            assert not anchor or anchor in page(there).ids, link


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_rows_of_a_markdown_table_have_as_many_cells_as_its_head(path: Path) -> None:
    width = 0
    for line in path.read_text("utf-8").splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert cells == width or not (cells and width), line
        width = cells


# Availability

TWICE = {s for s, n in Counter(v.spelling for v in DB.variants).items() if n > 1}


def shown(v: ptxspec.Variant) -> str:
    return f"{v.spelling} ({v.operands})" if v.spelling in TWICE else v.spelling


@each_size
def test_the_matrix_is_what_the_queries_say(whole: bool) -> None:
    head, *rows = page(FOLDER / "availability.html").rows
    listed = [re.findall(r"\w+\.\S+(?: \(\d\))?", r[0]) for r in rows]
    assert Counter(name for names in listed for name in names) == Counter(shown(v) for v in DB.variants)
    assert all(len(r) == len(head) for r in rows)
    bases = [t.name for t in SPEC.targets.values() if not t.base]
    order = {p: i for i, p in enumerate(SPEC.versions)}
    columns = {}
    for place, text in enumerate(head[1:], 1):
        first, _, last = text.partition(" to ")
        columns |= dict.fromkeys(bases[bases.index(first) : bases.index(last or first) + 1], place)
    assert list(columns) == bases
    pairs = [(t, ptx) for t in SPEC.targets.values() for ptx in list(SPEC.versions)[order[t.ptx] :]]
    for t, ptx in pairs if whole else spread(pairs, 100):
        place = columns[t.base or t.name]
        said = set()
        for row, names in zip(rows, listed, strict=True):
            first, _, last = row[place].partition("\N{EN DASH}")
            if first and order[first] <= order[ptx] <= order[last or ptx]:
                said.update(names)
        assert said == {shown(v) for v in DB.available(target=t.name, ptx=ptx)}, (t.name, ptx)


def names(cell: str) -> set[str]:
    return {n for n in re.split(r",\s*", cell) if n}


def variants_of(cell: str) -> set[str]:
    """The variants that "abs: .f32, .f64; add: .f32 (2)" names."""
    parts = [part.strip().partition(": ") for part in cell.split(";") if part]
    return {opcode + rest for opcode, _, found in parts for rest in names(found)}


@each_size
def test_the_history_is_what_the_queries_say(whole: bool) -> None:
    rows = {r[0]: r[1:] for r in page(FOLDER / "history.html").rows}
    versions = list(SPEC.versions)
    steps = list(zip(["", *versions], versions, strict=False))
    for old, new in steps if whole else spread(steps, 12):
        brought, _, ended = rows[new][2].partition("No longer: ")
        added, removed = DB.diff_ptx(old, new) if old else (DB.available(ptx=new), [])
        assert (variants_of(brought), variants_of(ended)) == (set(map(shown, added)), set(map(shown, removed))), new
        assert names(rows[new][1]) == {t.name for t in SPEC.targets.values() if t.ptx == new}
    for t in SPEC.targets.values():
        assert variants_of(rows[t.name][1]) == {shown(v) for v in DB.variants if v.requires.target == t.name}


# What a page says of its instruction


@pytest.mark.parametrize("opcode", SPEC.instructions)
def test_a_page_speaks_of_no_target_on_which_nothing_of_it_exists(opcode: str) -> None:
    text = (FOLDER / f"{opcode}.md").read_text("utf-8")
    variants = SPEC.instructions[opcode].variants
    oldest = {SPEC.targets[v.requires.target].order for v in variants if v.computes and "f32" in v.type_names}
    implied = any(order <= SPEC.targets["sm_13"].order for order in oldest)
    assert ("From sm_10 to sm_13, `.f32` behaves" in text) == implied


def test_a_nan_rule_is_named_with_what_follows_it() -> None:
    text = (FOLDER / "rcp.md").read_text("utf-8")
    assert "- `.approx.f64`: Every NaN result is 0x7fffffff00000000" in text
    assert "- `other .f64`: A NaN operand's payload survives" in text
    assert "## NaN results" not in (FOLDER / "testp.md").read_text("utf-8")


def test_what_is_open_is_named_beside_the_claim() -> None:
    """Of results that are no NaN; the notes say why, and what the emulator does."""
    named = {
        "relu": "whether .relu turns -0.0 into +0.0",
        "oob": "which bits the out-of-bounds NaN has and in which operands it counts",
        "ftz": "whether a result that only rounding makes normal is flushed",
    }
    inexact = {"mul", "fma", "mad", "div", "rcp"}
    for v in DB.variants:
        if v.claim == "exact":
            opcode, *modifiers = v.spelling.split(".")
            wanted = {text for m, text in named.items() if m in modifiers and (m != "ftz" or opcode in inexact)}
            assert {text for text in named.values() if text in v.rests_on} == wanted, v.spelling


@each_size
def test_what_is_shown_of_a_variant_has_its_notes_and_no_others(whole: bool) -> None:
    root, every = find(ROOT), [(i, v) for i in SPEC.instructions.values() for v in i.variants]
    for i, v in every if whole else spread(every, 60):
        shown = show.page(root, v.spelling, v.operands)
        assert [n.text for n in i.notes if n.text in shown] == [n.text for n in i.notes if n.selector.matches(v)]
        assert ("NaN results" in shown) == (v.result.type.nan is not None)
