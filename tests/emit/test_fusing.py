"""Programs that are rewritten for NumPy, against the exact back end: shapes that no instruction here has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.grids import special
from helpers.project import Project
from numpy.typing import NDArray
from ptxspec.check.checking import check
from ptxspec.evaluate import emulator
from ptxspec.roots import find
from ptxspec.semantics.exact.evaluate import run
from ptxspec.specification import read

FILE = """\
opcode: {name}
summary: A program.
syntax:
  - {name}{{.ftz}}.f32  d, a, b, c
requires:
  - {{ptx: 9.5, target: sm_120}}
semantics: |
{code}
"""
# What the rewriting has to leave alone, or to get right. A NaN result would be made canonical: clearing a bit of the
# exponent shows its payload.
PROGRAMS = {
    "a choice that is no NaN is not amended in place": """
        m = maximum(a, b)
        d = (magnitude(c) if isNaN(a) else negate(c) if isNaN(b) else quietNaN) if isNaN(m) else m
    """,
    "a test is not asked again": """
        s = a + b
        bad = isNaN(s)
        t = a * b
        u = (magnitude(c) if isNaN(a) else quietNaN) if bad else s
        w = (negate(c) if bad else quietNaN) if isNaN(t) else t
        d = fusedMultiplyAdd(u, w, c)
    """,
    "payloads": """
        s = fusedMultiplyAdd(a, b, c)
        d_1 = c * c
        e = (quieten(a) if isNaN(a) else quieten(c) if isNaN(c) else quietNaN) if isNaN(s) else s
        e = e if isSignMinus(e) else d_1
        d = float_of(bits(e) & 0xbfffffff)
    """,
    "payloads of a choice between numbers": """
        m = minimumNumber(a, b)
        e = (quieten(b) if isNaN(b) else quieten(a) if isNaN(a) else quietNaN) if isNaN(m) else m
        d = float_of(bits(e) & 0xbfffffff)
    """,
    "payloads of what is made of constants": """
        k = negate(quietNaN)
        m = float_of(0xffc00123)
        s = a + b
        t = (quieten(a) if isNaN(a) else quieten(k) if isNaN(k) else quietNaN) if isNaN(s) else s
        u = a * b
        v = (quieten(m) if isNaN(m) else quietNaN) if isNaN(u) else u
        d = float_of(bits(t) & bits(v) & 0xbfffffff)
    """,
    "payloads put into a constant": """
        k = infinity
        s = k - k
        e = (quieten(a) if isNaN(a) else quietNaN) if isNaN(s) else s
        t = quietNaN + 1
        n = (quieten(k) if isNaN(k) else quietNaN) if isNaN(t) else t
        d = float_of(bits(e) & bits(n) & 0xbfffffff)
    """,
    "names that look invented": """
        m_unflushed = b + 1
        m = magnitude(a)
        d = fusedMultiplyAdd(m, m, m_unflushed)
    """,
    "names of helpers": """
        flushed = copySign(0, a) if isSubnormal(a) else a
        replace = a * b
        amend = infinity if isNaN(replace) else replace
        d = flushed if a < b else amend
    """,
    "a value that is needed before its NaN is replaced": """
        s = a + b
        t = 1 if isNaN(s) else s
        d = s if a < c else t
    """,
    "another constant than zero is no flush": """
        x = copySign(1, a) if isSubnormal(a) else a
        d = x * b
    """,
    "another operand's sign is no flush": """
        x = copySign(0, b) if isSubnormal(a) else a
        d = x + c
    """,
    "flushed for one use and not for the other": """
        x = copySign(0, a) if isSubnormal(a) else a
        y = x * b
        d = y if a < 0x1p-127 else x
    """,
    "a sign that is also a number": """
        s = float_of(bits(a) ^ bits(b))
        t = copySign(c, s)
        d = fusedMultiplyAdd(t, b, s)
    """,
    "another NaN than the canonical one": """
        s = a * b
        d = float_of(0x7fc00001) if isNaN(s) else s
    """,
    "choices, some of which may be another NaN than the canonical one": """
        s = a * b
        t = s if a < b else float_of(0x7fc00001)
        t = quietNaN if isNaN(t) else t
        u = s if a < c else copySign(float_of(0x7fc00001), b)
        u = quietNaN if isNaN(u) else u
        v = s if b < c else copySign(2, a)
        v = quietNaN if isNaN(v) else v
        w = s if a < b else c
        w = quietNaN if isNaN(w) else w
        d = float_of((bits(t) ^ bits(u) ^ bits(v) ^ bits(w)) & 0xbfffffff)
    """,
    "a conversion to the same format": """
        t = convert(a, f32)
        d = infinity if isNaN(t) else t
    """,
    "what constants make": """
        k = magnitude(quietNaN)
        k = 3 if isNaN(k) else k
        d = k * a
    """,
    "bounds that a narrower format has": """
        h = convert(minimum(maximum(a, -0x1p3), 0x1.8p3), f16)
        d = convert(h, f32)
    """,
    "a bound that a narrower format lacks": """
        h = convert(minimum(maximum(a, -0x1p3), 0x1.000002p0), f16)
        d = convert(h, f32)
    """,
    "a sum of narrow numbers that rounds in binary64": """
        x = convert(a, bf16)
        y = convert(b, bf16)
        z = convert(c, bf16)
        s = fusedMultiplyAdd(convert(x, f64), convert(y, f64), convert(z, f64))
        d = convert(s, f32)
    """,
    "a NaN as an integer": """
        n = convert(a, s64)
        n = float_of(2**62, s64) if isNaN(a) else n
        d = convert(n, f32)
    """,
    "another number's NaN": """
        n = convert(a, s64)
        n = float_of(2**62, s64) if isNaN(b) else n
        d = convert(n, f32)
    """,
    "an integer is no NaN": """
        n = convert(a, s32)
        x = convert(n, f32)
        bad = isNaN(x)
        d = b if bad else c if isNaN(x) else x
    """,
    "a quotient by a power of two": """
        s = convert(b, ue8m0)
        d = a / convert(s, f32)
    """,
    "a result under conditions": """
        if a < b:
            d = maximum(a, 0)
        elif isNaN(c):
            d = minimumNumber(b, 1)
        else:
            d = negate(magnitude(c))
    """,
}


def operands(size: int) -> list[NDArray[Any]]:
    rng = np.random.default_rng(size)
    grid = special(8, 23)
    nan = np.uint32(0x7FC12345)
    mixed = [rng.choice(grid, size) for _ in range(3)]
    random = [rng.integers(0, 1 << 32, size, np.uint32) for _ in range(3)]
    nans = [np.full(size, nan), np.full(size, nan | np.uint32(1 << 31)), random[2]]
    return [np.concatenate(x) for x in zip(mixed, random, nans, strict=True)]


@pytest.mark.exhaustive
@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", [5, 1, 90])
def test_rewriting_changes_no_bit(project: Project, size: int) -> None:
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    for i, code in enumerate(PROGRAMS.values()):
        text = FILE.format(
            name=f"p{i}", code=code.strip("\n").replace("\n        ", "\n  ").replace("        ", "  ", 1)
        )
        project.write(f"spec/instructions/p{i}.yaml", text)
    assert project.run("generate").code == 0
    emu = emulator(find(project.root))
    found, errors = check(read(project.root))
    assert not errors
    columns = operands(size)
    for c, name in zip(sorted(found, key=lambda c: int(c.instruction.opcode[1:])), PROGRAMS, strict=True):
        for v, programs in c.programs.items():
            want = [run(programs[None], row)[0] for row in zip(*(x.tolist() for x in columns), strict=True)]
            # All lanes at once, and each alone.
            for part in (slice(None), slice(0, 1), slice(2 * size, None)):
                got = emu.execute(v.spelling, *(x[part] for x in columns))
                assert got.tolist() == want[part], (name, v.spelling)
