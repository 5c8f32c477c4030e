"""What a variant more costs in files: far more of them will come."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from helpers import enlarged
from ptxspec.emit import generate
from ptxspec.read.link import read

# Bytes for each variant, with its share of what an opcode's files say once. The tests/benchmarks count the whole.
AT_MOST = {"cuda": 460, "data": 290, "manual": 1050, "python": 400}


def sizes(root: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, text in generate.build(root).items():
        found[name.partition("/")[0]] += len(text.encode())
    return found


def test_a_second_name_of_each_opcode_costs_few_bytes_for_each_variant(tmp_path: Path) -> None:
    once, twice = (enlarged.copies(tmp_path / str(n), n) for n in (1, 2))
    added = sum(len(i.variants) for i in read(once).instructions.values())
    more = sizes(twice) - sizes(once)
    assert more.keys() == AT_MOST.keys()
    assert [f"{folder}: {size // added}" for folder, size in more.items() if size > AT_MOST[folder] * added] == []
