"""The manual's files for other readers than browsers: language models, Sphinx, editors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import sphobjinv
from helpers import ROOT
from helpers.repository import database
from helpers.sizes import spread

FOLDER = ROOT / "generated/manual"
DB = database()
PAGES = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}


def test_llms_txt_lists_every_page_by_an_address_that_is_there() -> None:
    text = (FOLDER / "llms.txt").read_text("utf-8")
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert sorted(listed) == sorted(PAGES)
    # The format asks for a title, then a quotation that says what it is about.
    assert re.match(r"# \S.*\n\n> \S", text)


@pytest.fixture(scope="module")
def inventory() -> sphobjinv.Inventory:
    return sphobjinv.Inventory(str(FOLDER / "objects.inv"))


def test_sphinx_finds_every_variant_and_every_page(inventory: sphobjinv.Inventory) -> None:
    terms = {o.name: o.uri_expanded for o in inventory.objects if o.role == "term"}
    assert set(terms) == {v.spelling for v in DB.variants} | set(DB.opcodes)
    assert terms["max.NaN.f32"] == "max.html#max.NaN.f32" and terms["max"] == "max.html"
    documents = {o.uri_expanded for o in inventory.objects if o.role == "doc"}
    assert documents == {path.name for path in FOLDER.glob("*.html")}


def test_every_address_of_the_inventory_is_a_page(inventory: sphobjinv.Inventory) -> None:
    pages = {Path(unquote(o.uri_expanded.partition("#")[0])) for o in inventory.objects}
    assert all((FOLDER / page).is_file() for page in pages)


def test_an_editor_shows_what_queries_say() -> None:
    hover = json.loads((FOLDER / "hover.json").read_text("utf-8"))
    texts: dict[str, list[str]] = {}
    for opcode, cards in hover["variants"].items():
        for text, spellings in cards.items():
            for spelling in spellings:
                assert spelling.partition(".")[0] == opcode
                texts.setdefault(spelling, []).append(text)
    assert set(texts) == {v.spelling for v in DB.variants}
    assert set(hover["opcodes"]) == set(DB.opcodes)
    for v in spread(DB.variants, 300):
        verdict = DB.query(v.spelling, operands=v.operands)
        needs = f"Available nowhere: {v.crash}" if v.crash else f"Needs {DB.catalog.text(v.requires)}."
        alike = [text for text in texts[v.spelling] if needs in text]
        assert alike and all((verdict.hazard or "Claim") in text for text in alike), v.spelling
    names = {f".{name}" for v in DB.variants for name in v.spelling.split(".")[1:]}
    assert names == set(hover["modifiers"]) | set(hover["types"])
