"""Back ends implement the function table, all of it and nothing else, and agree on every program."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from grids import special
from ptxemu import elementary, operations, unit
from ptxspec.check.checking import Checked, check
from ptxspec.check.corner_cases import agrees, cases
from ptxspec.emit.products import native
from ptxspec.emit.products.emulator import INFIX
from ptxspec.model import Spec, Variant
from ptxspec.read.link import read
from ptxspec.semantics.exact import evaluate as exact
from ptxspec.semantics.functions import TABLE

ROOT = Path(__file__).parents[1]
# Words of Python and steps of the emitter, which need no function.
WRITTEN_OUT = {"shiftLeft", "shiftRight", "highWord"}


def test_the_exact_back_end_implements_the_table() -> None:
    assert set(exact.FUNCTIONS) == set(TABLE)


def test_the_emulator_implements_the_table() -> None:
    for name in set(TABLE) - set(INFIX) - WRITTEN_OUT:
        assert any(callable(getattr(module, name, None)) for module in (operations, elementary, unit)), name


def test_the_accelerator_implements_the_table() -> None:
    header = (ROOT / "templates/runtime/native/operations.h").read_text("utf-8")
    defined = set(re.findall(r"(?:OF|ELEMENTARY)\((\w+)\)", header)) | {"bitNot", "select"}
    assert set(TABLE) - set(native.INFIX) - WRITTEN_OUT - native.WITHOUT_C <= defined
    assert not native.WITHOUT_C & defined


def test_every_function_is_described() -> None:
    for f in TABLE.values():
        assert f.doc.endswith(".") and len(f.names) == len(f.parameters), f.name


@pytest.fixture(scope="module")
def checked() -> list[tuple[Variant, Checked]]:
    spec: Spec = read(ROOT)
    found, errors = check(spec)
    assert not errors
    return [(v, c) for c in found for v in c.instruction.variants if v.type.lanes == 1]


def test_the_emulator_agrees_with_the_exact_back_end_on_every_variant(checked: list[tuple[Variant, Checked]]) -> None:
    rng = random.Random(2026)
    for v, c in checked:
        f = v.type.format
        grid = special(f.exponent_bits, f.fraction_bits).tolist()
        rows = [tuple(rng.choice(grid) for _ in range(v.operands)) for _ in range(24)]
        rows += [tuple(rng.getrandbits(f.width) for _ in range(v.operands)) for _ in range(8)]
        columns = [np.array(column, f"u{f.width // 8}") for column in zip(*rows, strict=True)]
        for target, program in c.programs[v].items():
            got = ptxemu.compile(v.spelling, v.operands, target)(*columns)
            want = [exact.run(program, row) for row in rows]
            assert got.tolist() == want, (v, target)


def test_the_emulator_satisfies_every_row_of_every_corner_case_table(checked: list[tuple[Variant, Checked]]) -> None:
    rows = 0
    for v, c in checked:
        for table in c.instruction.corner_tables:
            if not table.selector.matches(v):
                continue
            for row in table.rows:
                found = list(cases(row, c.programs[v][None]))
                columns = [np.array(x, f"u{v.type.width // 8}") for x in zip(*(f.operands for f in found), strict=True)]
                got = ptxemu.execute(v.spelling, *columns).tolist()
                for case, result in zip(found, got, strict=True):
                    named = dict(zip("abc", case.operands, strict=False))
                    assert agrees(row.result, int(result), named, v.type.format), (v, table.title, case)
                rows += 1
    assert rows > 1000
