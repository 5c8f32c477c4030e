"""Variants whose operands and results have types of their own."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from helpers.typed import Exact, operands, project
from ptxspec.evaluate import emulator
from ptxspec.roots import Root

COUNT = 300


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("signatures"))


@pytest.fixture(scope="module")
def exact(root: Path) -> Exact:
    return Exact(root)


@pytest.fixture(scope="module")
def emu(root: Path) -> ModuleType:
    return emulator(Root(root))


@pytest.mark.parametrize("opcode", ["setp", "cvt", "fma", "selp", "slct", "add", "scale", "flip"])
def test_every_variant_does_what_the_exact_back_end_does(emu: ModuleType, exact: Exact, opcode: str) -> None:
    for key, v in exact.variants.items():
        if v.opcode != opcode:
            continue
        columns = operands(v, COUNT)
        want = exact.run(v, columns)
        found = emu.execute(v.spelling, *columns, results=len(v.results))
        found = found if isinstance(found, tuple) else (found,)
        for f, w in zip(found, want, strict=True):
            got = f if f.dtype == bool else f.view(f"u{f.itemsize}")
            wrong = [
                (tuple(hex(c[i]) for c in columns), hex(int(g)), hex(x))
                for i, (g, x) in enumerate(zip(got, w, strict=True))
                if int(g) != x
            ]
            assert not wrong, (key, len(wrong), wrong[:3])
