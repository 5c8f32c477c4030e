"""The manual's pages: what they say holds, they agree with the queries, and their links lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.manual import FOLDER, page, spelled
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.emit.products.manual.forms import statement
from ptxspec.query import show

SPEC = specification()
DB = database()
PAGES = sorted(FOLDER.glob("*.html"))
TEXTS = sorted(FOLDER.glob("*.md"))
# What people wrote: addresses of other places, and sections of NVIDIA's manual.
WRITTEN = "".join(
    p.read_text("utf-8") for folder in ("spec", "templates/manual") for p in sorted((ROOT / folder).rglob("*.*"))
)
ADDRESSES = set(re.findall(r"https://[^\s\"'<>{})#]+(?:#[\w-]+)?", WRITTEN))
SECTIONS = set(re.findall(r"[a-z]\w+(?:-+\w+)+", WRITTEN))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(path: Path) -> None:
    found = page(path)
    assert [i for i, n in Counter(found.ids).items() if n > 1] == []
    for link in found.links:
        if link.startswith("https://"):
            place, _, anchor = link.partition("#")
            assert link in ADDRESSES or (place in ADDRESSES and anchor in SECTIONS), link
        else:
            name, _, anchor = link.partition("#")
            there = FOLDER / name if name else path
            assert there.is_file(), link
            assert not anchor or anchor in page(there).ids or means(there.stem, anchor), link


def means(name: str, anchor: str) -> bool:
    """A page's script understands an anchor that is nobody's id: a variant, or the state of the matrix."""
    return is_filter(anchor) if name == "availability" else is_variant(name, anchor)


def is_filter(anchor: str) -> bool:
    known = {"target": SPEC.targets, "ptx": SPEC.versions, "only": ("1",)}
    parts = [part.split("=") for part in anchor.split("&")]
    return all(len(part) == 2 and part[1] in known.get(part[0], ()) for part in parts)


def is_variant(opcode: str, anchor: str) -> bool:
    """The page's script leads to a variant, whether its card is called after it or not, or tries it."""
    spelling, _, operands = anchor.removeprefix("try=").partition("-")
    of = SPEC.instructions[opcode].variants if opcode in SPEC.instructions else ()
    return any(v.spelling == spelling and operands in ("", str(v.operands)) for v in of)


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
    for line in variants.partition("\nNVIDIA's manual also lists")[0].splitlines():
        forms, *cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        for text in re.findall(r"`(\S+)`", forms) if cells and cells[0].isdigit() else ():
            for name in spelled(text):
                key = (name, cells[1].replace("\\", ""), cells[2])
                assert key not in found
                found[key] = cells
    wanted = [(v.spelling, statement(v), SPEC.catalog.text(v.requires)) for v in SPEC.instructions[opcode].variants]
    assert sorted(found) == sorted(wanted)


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
        # Rounding toward zero makes no number normal, nor does that of a reciprocal to nearest; of the mixed forms
        # something else is open.
        "ftz of several types": "what .ftz flushes",
    }
    inexact = {"mul", "fma", "mad", "div", "rcp"}
    for v in DB.variants:
        if v.claim == "exact":
            opcode, *modifiers = v.spelling.split(".")
            # The zeros of .pzo, and what s2f6 becomes, have no sign.
            signed = "pzo" not in modifiers and not modifiers[-1].startswith("s2f6")
            # Integers have one zero.
            signed &= v.kind != "integer" or opcode == "cvt"
            said = {m for m in modifiers if m == "oob" or (m == "relu" and signed)}
            if "ftz" in modifiers and v.spelling.endswith(".rz.ftz.f16x2.f32x2.f32x2"):
                said.add("ftz of several types")
            elif "ftz" in modifiers and "rz" not in modifiers and opcode in inexact and v.spelling != "rcp.rn.ftz.f32":
                said.add("ftz")
            wanted = {named[s] for s in said}
            assert {text for text in named.values() if text in v.basis} == wanted, v.spelling


@each_size
def test_what_is_shown_of_a_variant_has_its_notes_and_no_others(db: Database, whole: bool) -> None:
    """Of variants with the same notes, types of results and requirements one."""
    alike = {
        (i.opcode, v.result.type.name, v.requires, *(n.selector.matches(v) for n in i.notes)): (i, v)
        for i in SPEC.instructions.values()
        for v in i.variants
    }
    for i, v in alike.values() if whole else spread(list(alike.values()), 20):
        shown = show.page(db, ROOT, v.spelling, v.operands)
        assert [n.text for n in i.notes if n.text in shown] == [n.text for n in i.notes if n.selector.matches(v)]
        assert ("NaN results" in shown) == (v.result.type.nan is not None)
