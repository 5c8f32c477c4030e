"""Specifications of many variants: every opcode under several names, or one opcode with all of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from pathlib import Path
from string import ascii_lowercase

from helpers import ROOT
from helpers.project import without_recipes
from helpers.repository import database

# So many variants as the whole of PTX's floating point has, and some more.
MANY = 6000

# Each spelling converts from one type to another; every group of modifiers multiplies the variants.
WIDE = """\
opcode: widen
summary: Made up, to have many variants.
syntax:
  - widen{.rnd}{.ftz}{.sat}{.relu}{.NaN}{.abs}.{f16,bf16,f32,f64}.{f16,bf16,f32,f64}    d, a
  - widen{.rnd}{.ftz}{.sat}{.relu}{.NaN}{.abs}.{f16x2,bf16x2}.{f16x2,bf16x2}    d, a
requires:
  - {ptx: 2.0, target: sm_20, section: 9.7.3}
  - {for: .rnd, ptx: 7.0, target: sm_80, section: 9.7.3}
semantics: |
  if abs:
      a = magnitude(a)
  d = convert(a, type, rounding)
  if NaN:
      d = d if isNaN(a) else maximum(d, 1)
nan:
  - {for: {result: .f64}, rule: canonical, section: 9.7.3}
judged:
  - {by: definition}
corner_cases:
  - title: Numbers that every format has
    section: 9.7.3
    for: {lacks: .NaN.abs.sat.relu}
    rows:
      - [1.0, 1.0]
      - [-0.0, -0.0]
      - [-inf, -inf]
"""


def copies(to: Path, count: int = 0, only: Collection[str] = ()) -> Path:
    """The repository's specification with each opcode under `count` names: add, addb, addc, ... Without a number, so
    many that there are about 6,000 variants; `only` these opcodes, where they are given."""
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, to / folder)
    count = count or max(1, round(MANY / len(database().variants)))
    for path in sorted((to / "spec/instructions").glob("*.yaml")):
        text, opcode = path.read_text("utf-8"), path.stem
        if only and opcode not in only:
            path.unlink()
            continue
        if only:
            # Recipes are made of other opcodes.
            text = without_recipes(text)
            path.write_text(text, "utf-8")
        for letter in ascii_lowercase[1:count]:
            name = opcode + letter
            copy = re.sub(rf"(?<![\w.]){opcode}(?=[.{{])|(?<=^opcode: ){opcode}$", name, text, flags=re.MULTILINE)
            path.with_stem(name).write_text(copy, "utf-8")
    return to


def wide(to: Path) -> Path:
    """A specification whose only opcode has 3,200 variants."""
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, to / folder)
    for path in (to / "spec/instructions").iterdir():
        path.unlink()
    (to / "spec/instructions/widen.yaml").write_text(WIDE, "utf-8")
    return to
