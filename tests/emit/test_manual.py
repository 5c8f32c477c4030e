"""The manual's pages: what they say holds, they agree with the queries, and their links lead somewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.manual import FOLDER, page, spelled
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec.emit.products.manual.forms import statement
from ptxspec.query import show
from ptxspec.roots import find

SPEC = specification()
DB = database()
PAGES = sorted(FOLDER.glob("*.html"))
TEXTS = sorted(FOLDER.glob("*.md"))


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here to run the pages' script")


def node(program: str, given: object) -> Any:
    """What a program prints that is given the path of the pages' script, and JSON on its standard input."""
    command = ["node", "-e", program, str(FOLDER / "forms.js")]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(path: Path) -> None:
    found = page(path)
    assert [i for i, n in Counter(found.ids).items() if n > 1] == []
    for link in found.links:
        if not link.startswith("https://"):
            name, _, anchor = link.partition("#")
            there = FOLDER / name if name else path
            assert there.is_file(), link
            # A state of the matrix is no place; its own tests hold what it says.
            assert not anchor or anchor in page(there).ids or (name == "availability.html" and "=" in anchor), link


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_rows_of_a_markdown_table_have_as_many_cells_as_its_head(path: Path) -> None:
    width = 0
    for line in path.read_text("utf-8").splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert cells == width or not (cells and width), line
        width = cells


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
@each_size
def test_a_link_to_any_variant_lands_where_it_is(whole: bool) -> None:
    pages = {}
    for opcode in SPEC.instructions:
        text = (FOLDER / f"{opcode}.html").read_text("utf-8")
        assert '<script src="forms.js"></script>' in text
        rows = re.findall(r'<tr data-operands="(\d+)"><td>(.*?)<td>', text)
        pages[opcode] = [(operands, re.findall("<code>(.*?)</code>", cell)) for operands, cell in rows]
    links = {
        o: [f"#{v.spelling}-{v.operands}" for v in (i.variants if whole else spread(i.variants, 30))]
        for o, i in SPEC.instructions.items()
    }
    landed = node(SCRIPT, [pages, links])
    assert len(landed) == sum(map(len, links.values()))
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
