"""The C that all kernels share: formats that PTX does not have, elementary functions, and names of any kind."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from helpers import extension
from helpers.grids import pairs, small, special, triples
from helpers.project import copied
from ptxemu import arithmetic, comparison, encoding
from ptxemu.binary import DIRECTIONS, Array, Format
from ptxspec.emit.generate import generate

pytestmark = pytest.mark.inputs("emulator", "native")

# Formats that a specification may add: each takes another way through the C.
OTHERS = [Format("e3m4", 3, 4, 0x7F), Format("e4m11", 4, 11, 0x7FFF), Format("e7m8", 7, 8, 0x7FFF)]
ROUNDED = {
    "addition": 2, "subtraction": 2, "multiplication": 2, "division": 2, "squareRoot": 1, "fusedMultiplyAdd": 3,
}  # fmt: skip
OPERATIONS = {**vars(arithmetic), **vars(comparison), **vars(encoding)}
OF_BITS = {"maximum": 2, "minimumNumber": 2, "isSubnormal": 1, "isSignaling": 1}


def grid(f: Format, operands: int) -> list[Array]:
    fields = f.exponent_bits, f.fraction_bits
    if operands == 1:
        return [special(*fields)]
    return pairs(special(*fields)) if operands == 2 else triples(small(*fields))


@pytest.mark.exhaustive
@pytest.mark.parametrize("f", [*OTHERS, Format("e10m21", 10, 21, 0x7FFFFFFF)], ids=lambda f: f.name)
def test_formats_that_ptx_does_not_have(f: Format, tmp_path: Path) -> None:
    text = '#include <stddef.h>\n#include "formats.h"\n'
    text += f"#define FORMAT {f.name}\n#define EXPONENT_BITS {f.exponent_bits}\n"
    text += f"#define FRACTION_BITS {f.fraction_bits}\n#define CANONICAL_NAN {f.canonical_nan}\n"
    text += '#include "operations.h"\n'
    cases: list[tuple[str, str, int, tuple[Any, ...]]] = [(name, name, n, (f,)) for name, n in OF_BITS.items()]
    cases += [(f"compare_{relation}", "compare", 2, (relation, f)) for relation in range(1, 15)]
    if f.carrier is not None:
        for name, n in ROUNDED.items():
            for mode in DIRECTIONS:
                cases += [(f"{name}_{mode}_{int(ftz)}", name, n, (f, mode, ftz)) for ftz in (False, True)]
    for case, name, n, how in cases:
        unsigned = f"uint{f.width}_t"
        given = [str(int(h)) if isinstance(h, int) else str(h) for h in how if h is not f]
        arguments = ", ".join([f"{x}[i]" for x in "abc"[:n]] + given)
        result = "uint8_t" if name.startswith(("is", "compare")) else unsigned
        arrays = ", ".join(f"const {unsigned} *{x}" for x in "abc"[:n])
        loop = f"for (size_t i = 0; i < n; i++) d[i] = {name}_{f.name}({arguments});"
        text += f"void {case}_run(size_t n, {arrays}, {result} *d) {{ {loop} }}\n"
    library = extension.library(tmp_path, text)
    for case, name, n, how in cases:
        columns = grid(f, n)
        with np.errstate(all="ignore"):
            want = OPERATIONS[name](*columns, *how)
        got = np.empty_like(want)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in [*columns, got]]
        getattr(library, f"{case}_run")(ctypes.c_size_t(got.size), *pointers)
        np.testing.assert_array_equal(got, want, err_msg=case)


EXACTLY: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "rSqrt": lambda x: 1 / mpmath.sqrt(x),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXACTLY)
def test_intervals_of_elementary_functions_hold_eight_times_the_error(name: str, tmp_path: Path) -> None:
    """float32 operands of every size, near the functions' zeros, and where the reduced argument is largest."""
    loop = f"for (size_t i = 0; i < n; i++) {{ interval e = between_{name}(a[i]); low[i] = e.low; high[i] = e.high; }}"
    text = '#include <stddef.h>\n#include "formats.h"\n'
    text += f"void ends(size_t n, const double *a, double *low, double *high) {{ {loop} }}\n"
    rng = np.random.default_rng(11)
    with np.errstate(all="ignore"):
        some = rng.integers(0, 1 << 32, 1000, np.uint64).astype(np.uint32).view(np.float32)
        k = np.arange(1, 500)
        parts = [k * np.pi / 2, k / 32, 1 + k * 2.0**-23, 1 - k * 2.0**-24, k * np.log(2) / 4, k - 0.5, np.sqrt(2) * k]
        x = np.concatenate([some, *parts]).astype(np.float32).astype(np.float64)
    x = np.concatenate([x, -x])
    limits = {"exp2": 255, "tanh": 19}
    x = x[np.isfinite(x) & (x != 0) & (np.abs(x) < limits.get(name, np.inf))]
    x = np.abs(x) if name in ("log2", "rSqrt") else x
    low, high = np.empty_like(x), np.empty_like(x)
    run = extension.library(tmp_path, text).ends
    run(ctypes.c_size_t(x.size), *(ctypes.c_void_p(v.ctypes.data) for v in (x, low, high)))
    with mpmath.workprec(300):
        for operand, one, other in zip(x.tolist(), low.tolist(), high.tolist(), strict=True):
            margin = abs(mpmath.mpf(other) - one) / 2
            error = abs((mpmath.mpf(other) + one) / 2 - EXACTLY[name](mpmath.mpf(operand)))
            assert 8 * error <= margin, operand.hex()


@pytest.mark.exhaustive
def test_variables_may_be_called_anything(tmp_path: Path) -> None:
    root = copied(tmp_path / "project", ("add",))
    path = root / "spec/instructions/add.yaml"
    strange = ["double = addition(a, b, type)", "double_ = -double", "PI = -double_", "undecided = -PI"]
    strange += ["addition_f32 = -undecided", "d = addition_f32"]
    plain = re.compile(r"^( +)d = addition\(a, b, type\)\n", re.MULTILINE)
    text, count = plain.subn(lambda m: "".join(f"{m[1]}{line}\n" for line in strange), path.read_text("utf-8"))
    assert count
    path.write_text(text, "utf-8")
    generate(root)
    source = root / "generated/native"
    assert "v_double = addition" in (source / "src/add.c").read_text("utf-8")
    extension.build(tmp_path / "built", source=source)
