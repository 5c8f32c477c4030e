"""The size that one more variant adds to files, as far more of them will come."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers import ROOT, enlarged
from ptxspec.emit import generate
from ptxspec.emit.text import encoded
from ptxspec.specification import read

# Bytes for each variant of these opcodes, with its share of what an opcode's files say once. The manual says it to
# browsers, in Markdown, to the evaluator, to Sphinx and to editors.
OPCODES = ("max", "rcp", "setp")
AT_MOST = {"cuda": 160, "data": 80, "manual": 700, "native": 300, "python": 160}
# Megabytes for all that there is, and for each folder: the whole of PTX's floating point must fit.
WHOLE = {"": 15.4, "cuda": 1.5, "data": 2.3, "native": 2.5, "python": 3.3}


def sizes(root: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, text in generate.build(root).items():
        found[name.partition("/")[0]] += len(encoded(text))
    return found


@pytest.mark.exhaustive
def test_a_second_name_of_an_opcode_costs_few_bytes_for_each_variant(tmp_path: Path) -> None:
    once, twice = (enlarged.under_names(tmp_path / str(n), n, OPCODES) for n in (1, 2))
    added = sum(len(i.variants) for i in read(once).instructions.values())
    more = sizes(twice) - sizes(once)
    assert more.keys() == AT_MOST.keys()
    assert [f"{folder}: {size // added}" for folder, size in more.items() if size > AT_MOST[folder] * added] == []


@pytest.mark.parametrize("folder", WHOLE)
def test_what_is_generated_stays_small(folder: str) -> None:
    files = [p for p in (ROOT / "generated" / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert sum(p.stat().st_size for p in files) <= WHOLE[folder] * 1e6
