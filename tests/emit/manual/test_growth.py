"""The changes that one more opcode makes in the manual: its own pages, and lines about it where opcodes are listed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers.project import Project

OPCODE = "bfoo"
INSTRUCTION = """\
opcode: bfoo
summary: Exclusive or, made up.
manual:
  - {section: 9.7.9.3, anchor: logic-and-shift-instructions-xor}
syntax:
  - bfoo.b32    d, a, b
requires:
  - {ptx: 3.2, target: sm_37, section: 9.7.9.3}
semantics: |
  d = a ^ b
corner_cases:
  - title: Bits
    section: 9.7.9.3
    rows:
      - [0x0f0f0f0f, 0x00ffff00, 0x0ff0f00f]
"""
LIST = {
    *(f"{name}.{suffix}" for name in ("index", "availability", "history") for suffix in ("html", "md")),
    "catalog.data.js", "search.data.js", "hover.json", "llms.txt", "llms-full.txt", "objects.inv",
}  # fmt: skip
# Every page has one of these, which leads to the opcode's.
NAVIGATION = f'<li><a href="{OPCODE}.html">{OPCODE}</a>'


def lines(folder: Path) -> dict[str, Counter[str]]:
    """Those of each file but for the opcode's own."""
    found = {p.name: p for p in folder.iterdir() if p.name.partition(".")[0] != OPCODE}
    return {name: Counter(p.read_text("utf-8", "replace").split("\n")) for name, p in found.items()}


@pytest.mark.exhaustive
def test_one_more_opcode_changes_few_lines_of_what_lists_opcodes(project: Project) -> None:
    manual = project.root / "generated/manual"
    assert project.run("generate").code == 0
    before = lines(manual)
    project.write(f"spec/instructions/{OPCODE}.yaml", INSTRUCTION)
    assert project.run("generate").code == 0
    after = lines(manual)
    assert before.keys() == after.keys()
    changed = {name: (before[name] - after[name]) + (after[name] - before[name]) for name in after}
    told = {name: found for name, found in changed.items() if sum(found.values()) > found[NAVIGATION]}
    assert set(told) == LIST
    many = {name for name, found in told.items() if sum(found.values()) > 12}
    assert many == {"llms-full.txt"}, {name: [*told[name]] for name in many}
    # The assembler was asked about the others, and that stays true.
    asked = "has not checked these variants yet"
    assert [p.name for p in sorted(manual.glob("*.md")) if asked in p.read_text("utf-8")] == [f"{OPCODE}.md"]
