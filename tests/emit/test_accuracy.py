"""Approximations keep the manual's bounds with room to spare: what the emulator returns is correctly rounded."""

from __future__ import annotations

import math
from collections.abc import Callable

import gmpy2
import numpy as np
import ptxemu
import pytest
from helpers.grids import special
from helpers.repository import specification
from helpers.rounding import thinned
from helpers.sizes import each_size
from oracles import judge
from oracles.mpfr import decode
from ptxspec.model import Accuracy, Variant

pytestmark = pytest.mark.inputs("emulator", "specification")

SPEC = specification()
BOUNDS = [
    pytest.param(v, a, id=f"{v.spelling} {a.kind} {a.bound} {a.range}".strip())
    for i in SPEC.instructions.values()
    for a in i.accuracy
    for v in i.variants
    if a.selector.matches(v) and v.lanes == 1
]

EXACT: dict[str, Callable[..., gmpy2.mpfr]] = {
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
    "sqrt": gmpy2.sqrt,
    "rsqrt": gmpy2.rec_sqrt,
    "sin": gmpy2.sin,
    "cos": gmpy2.cos,
    "lg2": gmpy2.log2,
    "ex2": gmpy2.exp2,
    "tanh": gmpy2.tanh,
}
# The last operand's range, as the specification words it.
RANGES: dict[str, Callable[[float], bool]] = {
    "": lambda x: True,
    "positive and finite": lambda x: x > 0,
    "(0.5, 2)": lambda x: 0.5 < x < 2,
    "positive and finite outside (0.5, 2)": lambda x: x > 0 and not 0.5 < x < 2,
    "[-2pi, 2pi]": lambda x: abs(x) <= 2 * math.pi,
    "[-100pi, 100pi]": lambda x: abs(x) <= 100 * math.pi,
    "2^-126 <= |b| <= 2^126": lambda x: 2.0**-126 <= abs(x) <= 2.0**126,
}


def bound_of(a: Accuracy) -> float:
    return 2.0 ** float(a.bound.removeprefix("2^")) if a.bound.startswith("2^") else float(a.bound)


def operands_for(v: Variant, a: Accuracy) -> list[np.ndarray]:
    format_ = v.home.format.name
    fields = judge.FIELDS[format_]
    if v.home.width == 16:
        return [np.arange(1 << 16, dtype=np.uint16)]
    columns = [np.concatenate([x, special(*fields)]) for x in judge.random_operands(format_, v.operands, 1 << 15)]
    if a.range.startswith(("[", "(")):
        # Few of all floats are in a narrow range: half of the operands are drawn from it.
        limit = {"[-2pi, 2pi]": 2 * math.pi, "[-100pi, 100pi]": 100 * math.pi, "(0.5, 2)": 2.0}[a.range]
        inside = np.random.default_rng(5).uniform(-limit, limit, columns[0].size).astype(np.float32)
        columns[-1] = np.concatenate(
            [columns[-1], np.abs(inside).view(np.uint32) if a.range[0] == "(" else inside.view(np.uint32)]
        )
    return columns


@pytest.mark.sampled(24)
@each_size
@pytest.mark.parametrize(("v", "a"), BOUNDS)
def test_the_bound_is_kept_with_room_to_spare(v: Variant, a: Accuracy, whole: bool) -> None:
    f = v.home.format
    fields = (f.exponent_bits, f.fraction_bits)
    operands = thinned(operands_for(v, a), whole, v.spelling, a.range)
    results = decode(ptxemu.execute(v.spelling, *operands), *fields)
    columns = [decode(o, *fields) for o in operands]
    ftz = "ftz" in {*v.modifiers, *v.means}
    least, largest = 2.0**f.emin, (2 - 2.0**-f.fraction_bits) * 2.0**f.emax
    worst, judged = 0.0, 0
    with gmpy2.context(precision=160, emax=1 << 20, emin=-(1 << 20)):
        for *xs, got in zip(*columns, results.tolist(), strict=True):
            given = [math.copysign(0.0, x) if ftz and abs(x) < least else float(x) for x in xs]
            if not (all(map(math.isfinite, given)) and math.isfinite(got) and RANGES[a.range](given[-1])):
                continue
            exact = EXACT[v.opcode](*map(gmpy2.mpfr, given))
            # Subnormal results are flushed, or coarser than any relative bound. Of overflow nothing is said.
            if (
                not gmpy2.is_finite(exact)
                or abs(exact) > largest
                or (abs(exact) < least and (ftz or a.kind == "relative"))
            ):
                continue
            error = abs(got - exact)
            if a.kind == "relative" and exact != 0:
                error /= abs(exact)
            elif a.kind.startswith("ulp") and exact != 0:
                error /= gmpy2.mpfr(2) ** (max(gmpy2.get_exp(exact) - 1, f.emin) - f.fraction_bits)
            worst, judged = max(worst, float(error)), judged + 1
    assert judged > (1000 if whole else 60)
    assert 0 < worst <= 0.55 * bound_of(a), f"{worst / bound_of(a):.3f} of the bound"


def test_every_bounded_variant_has_a_bound_here() -> None:
    here = {p.values[0].spelling for p in BOUNDS}  # type: ignore[union-attr]
    bounded = {v.spelling for i in SPEC.instructions.values() for v in i.variants if v.claim == "bounded"}
    assert {s for s in bounded if not s.endswith("x2")} == here
