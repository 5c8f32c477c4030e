"""The manual's pages: what they say holds, they agree with the queries, and their links lead somewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ptxspec
import pytest
from helpers import ROOT
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec.emit.products.manual.forms import statement
from ptxspec.model import Variant
from ptxspec.query import show
from ptxspec.read.notation import expand
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


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here to run the pages' script")


def node(program: str, given: object) -> Any:
    """What a program prints that is given the path of the pages' script, and JSON on its standard input."""
    command = ["node", "-e", program, str(FOLDER / "forms.js")]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


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


def spelled(text: str) -> list[str]:
    """What a notation such as `max{.ftz}.f32 (2)` stands for."""
    opcode, notation, operands = re.fullmatch(r"(\w+)(\S*)((?: \(\d\))?)", text).groups()  # type: ignore[union-attr]
    return [".".join((opcode, *names)) + operands for names in expand(notation, SPEC.notation)]


@each_size
def test_the_matrix_is_what_the_queries_say(whole: bool) -> None:
    head, *rows = page(FOLDER / "availability.html").rows
    texts = [re.findall(r"\w+(?:\.|\{)\S+(?: \(\d\))?", r[0]) for r in rows]
    listed = [[name for text in row for name in spelled(text)] for row in texts]
    assert Counter(name for names in listed for name in names) == Counter(shown(v) for v in DB.variants if not v.crash)
    assert all(len(r) == len(head) for r in rows)
    bases = [t.name for t in SPEC.targets.values() if not t.base]
    order = {p: i for i, p in enumerate(SPEC.versions)}
    columns = {}
    for place, text in enumerate(head[1:], 1):
        first, _, last = text.partition(" to ")
        if first in bases:
            columns |= dict.fromkeys(bases[bases.index(first) : bases.index(last or first) + 1], place)
        else:
            # The a and f kinds that take more than their bases.
            columns |= dict.fromkeys(text.split(", "), place)
    assert [t for t in columns if t in bases] == bases
    pairs = [(t, ptx) for t in SPEC.targets.values() for ptx in list(SPEC.versions)[order[t.ptx] :]]
    for t, ptx in pairs if whole else spread(pairs, 100):
        place = columns.get(t.name) or columns[t.base]
        said = set()
        for row, names in zip(rows, listed, strict=True):
            first, _, last = row[place].rstrip("!").replace("\N{CHECK MARK}", t.ptx).partition("\N{EN DASH}")
            if first and order[first] <= order[ptx] <= order[last or ptx]:
                said.update(names)
        assert said == {shown(v) for v in DB.available(target=t.name, ptx=ptx)}, (t.name, ptx)


def names(cell: str) -> set[str]:
    return {n for n in re.split(r",\s+", cell) if n}


def variants_of(cell: str) -> set[str]:
    """The variants that "abs: .{f32,f64}; add: {.ftz}.f32 (2)" names."""
    parts = [part.strip().partition(": ") for part in cell.split(";") if part]
    return {name for opcode, _, found in parts for rest in names(found) for name in spelled(opcode + rest)}


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
        assert variants_of(rows[t.name][1]) == {
            shown(v) for v in DB.variants if v.requires.target == t.name and not v.crash
        }


FILTER = """
const fs = require("fs");
const {html, asked} = JSON.parse(fs.readFileSync(0, "utf-8"));
const texts = (text, pattern) => [...text.matchAll(pattern)];
const rows = texts(html.match(/<tbody id="rows">([^]*?)<.tbody>/)[1], /<tr>(.*?)<.tr>/g).map(([, row]) => {
  const codes = texts(row, /<code>(.*?)<.code>/g).map(m => ({textContent: m[1]}));
  const cells = texts(row, /<td(?: colspan="(\\d+)")?>(.*?)<.td>/g);
  return {cells: cells.map(m => ({colSpan: Number(m[1] ?? 1), textContent: m[2]})), getElementsByTagName: () => codes};
});
const elements = {rows: {rows}, count: {}};
for (const id of ["words", "column"]) {
  elements[id] = {value: "", addEventListener() {}};
}
global.document = {getElementById: id => elements[id]};
global.addEventListener = () => {};
const script = html.match(/<script>([^]*?)<.script>/)[1];
const ask = `asked.map(([words, column]) => {
  elements.words.value = words;
  elements.column.value = column;
  filter();
  return elements.count.textContent;
})`;
console.log(JSON.stringify(eval(fs.readFileSync(process.argv[1], "utf-8") + script + ask)));
"""


@needs_node
def test_the_matrix_is_searched_by_words_and_target() -> None:
    html = (FOLDER / "availability.html").read_text("utf-8")
    every = {v.key: v for i in SPEC.instructions.values() for v in i.variants if not v.crash}.values()

    def has(v: Variant, word: str) -> bool:
        text = v.spelling.lower()
        return word in text if "." in word else any(part.startswith(word) for part in text.split("."))

    asked = [("", 0), ("max f16 nan", 0), ("MAX.NaN", 0), ("set eq f16x2", 0), ("e2m1x2", 0), ("f16", 1), ("", 1)]
    wanted = [
        sum(
            all(has(v, word.lower()) for word in words.split())
            and (not column or SPEC.catalog.takes(v.requires, "sm_10"))
            for v in every
        )
        for words, column in asked
    ]
    found = node(FILTER, {"html": html, "asked": asked})
    assert found == wanted and len(set(wanted)) == len(wanted)


# What a page says of its instruction


@pytest.mark.parametrize("opcode", SPEC.instructions)
def test_a_page_has_each_variant_once_with_what_it_needs(opcode: str) -> None:
    """The table says of a variant's operands and requirement what queries say."""
    *_, variants = (FOLDER / f"{opcode}.md").read_text("utf-8").partition("\n## Variants\n")
    found = {}
    for line in variants.partition("\nThe manual lists besides")[0].splitlines():
        forms, *cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        for text in re.findall(r"`(\S+)`", forms) if cells and cells[0].isdigit() else ():
            for name in spelled(text):
                key = (name, cells[1].replace("\\", ""), cells[2])
                assert key not in found
                found[key] = cells
    wanted = [(v.spelling, statement(v), SPEC.catalog.text(v.requires)) for v in SPEC.instructions[opcode].variants]
    assert sorted(found) == sorted(wanted)


SCRIPT = """
const fs = require("fs");
const [pages, links] = JSON.parse(fs.readFileSync(0, "utf-8"));
const run = {};
global.addEventListener = (event, act) => { run[event] = act; };
global.location = {};
eval(fs.readFileSync(process.argv[1], "utf-8"));
const found = [];
for (const [page, rows] of Object.entries(pages)) {
  const all = rows.map(([operands, texts]) => {
    const codes = texts.map(textContent => ({
      textContent, seen: false, classList: {toggle() {}}, scrollIntoView() { this.seen = true; },
    }));
    return {dataset: {operands}, cells: [{getElementsByTagName: () => codes}], codes};
  });
  global.document = {querySelectorAll: () => all};
  for (const hash of links[page]) {
    all.forEach(row => row.codes.forEach(code => { code.seen = false; }));
    location.hash = hash;
    run.hashchange();
    const seen = row => row.codes.filter(c => c.seen).map(c => [row.dataset.operands, c.textContent]);
    found.push([hash, all.flatMap(seen)]);
  }
}
console.log(JSON.stringify(found));
"""


@needs_node
def test_a_link_to_any_variant_lands_where_it_is() -> None:
    pages = {}
    for opcode in SPEC.instructions:
        text = (FOLDER / f"{opcode}.html").read_text("utf-8")
        assert '<script src="forms.js"></script>' in text
        rows = re.findall(r'<tr data-operands="(\d+)"><td>(.*?)<td>', text)
        pages[opcode] = [(operands, re.findall("<code>(.*?)</code>", cell)) for operands, cell in rows]
    links = {o: [f"#{v.spelling}-{v.operands}" for v in i.variants] for o, i in SPEC.instructions.items()}
    landed = node(SCRIPT, [pages, links])
    assert len(landed) == len(DB.variants)
    for hash, places in landed:
        ((operands, text),) = places
        assert hash.removeprefix("#") in [f"{name}-{operands}" for name in spelled(text)]


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
        # Toward zero, rounding makes no number normal: of the mixed forms something else is open.
        "ftz of several types": "what .ftz flushes",
    }
    inexact = {"mul", "fma", "mad", "div", "rcp"}
    for v in DB.variants:
        if v.claim == "exact":
            opcode, *modifiers = v.spelling.split(".")
            said = {m for m in modifiers if m in ("relu", "oob")}
            if "ftz" in modifiers and v.spelling.endswith(".rz.ftz.f16x2.f32x2.f32x2"):
                said.add("ftz of several types")
            elif "ftz" in modifiers and opcode in inexact:
                said.add("ftz")
            wanted = {named[s] for s in said}
            assert {text for text in named.values() if text in v.rests_on} == wanted, v.spelling


@each_size
def test_what_is_shown_of_a_variant_has_its_notes_and_no_others(whole: bool) -> None:
    """Of variants with the same notes, types of results and requirements one."""
    root = find(ROOT)
    alike = {
        (i.opcode, v.result.type.name, v.requires, *(n.selector.matches(v) for n in i.notes)): (i, v)
        for i in SPEC.instructions.values()
        for v in i.variants
    }
    for i, v in alike.values() if whole else spread(list(alike.values()), 60):
        shown = show.page(root, v.spelling, v.operands)
        assert [n.text for n in i.notes if n.text in shown] == [n.text for n in i.notes if n.selector.matches(v)]
        assert ("NaN results" in shown) == (v.result.type.nan is not None)
