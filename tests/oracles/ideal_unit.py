"""An ideal special function unit, which rounds correctly, in place of the real ones: what the machine code around a
unit makes of it must stay inside of the manual's bound, and must be right where the result is exact.

What a unit is called is NVIDIA's (MUFU.RCP, ...); what it computes stands here, apart from spec/. It takes subnormal
numbers of f32 and f64 for zeros and returns none, as MUFU is published to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from ptxspec.model import Argument, Differences, Fitted, HardwarePath, Instruction, Spec, UnitModel, Variant
from ptxspec.proving.gpu import bounds
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact import evaluate
from ptxspec.semantics.program import Apply, Program

from oracles.judge import FIELDS, random_operands
from oracles.rationals import rounded, value_of

_TURN = 2 * gmpy2.const_pi(200)
# What each computes, in the precision around it; those of angles get turns, or radians.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "RCP": lambda x: 1 / x,
    "RSQ": lambda x: 1 / gmpy2.sqrt(x),
    "SQRT": gmpy2.sqrt,
    "LG2": gmpy2.log2,
    "EX2": gmpy2.exp2,
    "SIN": lambda x: gmpy2.sin(x * _TURN),
    "COS": lambda x: gmpy2.cos(x * _TURN),
    "RRO_SIN": gmpy2.sin,
    "RRO_COS": gmpy2.cos,
    "TANH": gmpy2.tanh,
    "RCP64H": lambda x: 1 / x,
    "RSQ64H": lambda x: 1 / gmpy2.sqrt(x),
    "EX2_F16": gmpy2.exp2,
    "EX2_BF16": gmpy2.exp2,
    "TANH_F16": gmpy2.tanh,
    "TANH_BF16": gmpy2.tanh,
}
# Of those that speak of half of a double the result has 21 significant bits.
_UPPER = ("RCP64H", "RSQ64H")
_SUBNORMAL = ("EX2_F16", "EX2_BF16", "TANH_F16", "TANH_BF16", "TANH")


def result(unit: str, x: int, format_: str) -> int:
    """The encoding that an ideal unit returns."""
    e, f = FIELDS[format_]
    sign, infinity = 1 << (e + f), ((1 << e) - 1) << f
    magnitude = x & (sign - 1)
    nan = infinity | ((1 << f) - 1)
    if magnitude > infinity:
        return nan
    if magnitude >> f == 0 and unit not in _SUBNORMAL:
        x &= sign
        magnitude = 0
    with gmpy2.context(precision=200, emax=10**8, emin=-(10**8)):
        number = gmpy2.mpfr("-0" if x & sign else "0")
        if magnitude == infinity:
            number = gmpy2.mpfr("-inf" if x & sign else "inf")
        elif magnitude:
            value = value_of(x, format_)
            assert value is not None
            number = gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))
        found = FUNCTIONS[unit](number)
    if gmpy2.is_nan(found):
        return nan
    negative = sign if gmpy2.is_signed(found) else 0
    if gmpy2.is_infinite(found):
        return negative | infinity
    if found == 0:
        return negative
    exact = Fraction(*map(int, found.as_integer_ratio()))
    if unit in _UPPER:
        with gmpy2.context(precision=21):
            short = gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))
        exact = Fraction(*map(int, short.as_integer_ratio()))
    near = rounded(exact, format_, "roundTiesToEven", unit not in _SUBNORMAL)
    return negative | (infinity if near is None else bits_of(abs(near), format_))


def bits_of(x: Fraction, format_: str) -> int:
    """The encoding of a number that a format has, and that is not below zero."""
    e, f = FIELDS[format_]
    if not x:
        return 0
    exponent = max(x.numerator.bit_length() - x.denominator.bit_length(), 3 - (1 << (e - 1)) - 1)
    exponent -= Fraction(2) ** exponent > x
    exponent = max(exponent, 2 - (1 << (e - 1)))
    scaled = x / Fraction(2) ** (exponent - f)
    assert scaled.denominator == 1
    biased = exponent + (1 << (e - 1)) - 1
    return (biased << f) + int(scaled) - (1 << f)


@contextmanager
def ideal() -> Iterator[None]:
    """The exact back end runs ideal units."""

    def unit(t: Apply, x: int) -> int:
        assert t.model is not None
        return result(t.model.unit, x, t.model.format.name)

    before = evaluate.FUNCTIONS["unit"]
    evaluate.FUNCTIONS["unit"] = unit
    try:
        yield
    finally:
        evaluate.FUNCTIONS["unit"] = before


def with_ideal_units(spec: Spec) -> Spec:
    """The specification with something known of each unit on every target: its name."""
    ends = next(iter(spec.targets)), list(spec.targets)[-1]
    nothing = Differences("", "", 1, "")

    def known(name: str) -> UnitModel:
        argument, fitted = Argument("pattern", 0), Fitted("", "", 0)
        format_ = spec.units[name].format
        return UnitModel(name, name, ends, format_, argument, 0, 0, 0, {}, nothing, fitted)

    return replace(spec, units={n: replace(u, models=(known(n),)) for n, u in spec.units.items()})


def operands(v: Variant) -> list[Any]:
    """Numbers of every size, those around the ends, and what bounds are about."""
    f = v.result.kind.format
    assert f is not None
    count, dtype = len(v.sources), np.dtype(f"u{f.width // 8}")
    columns = [c[:: max(1, c.size // 60)] for c in random_operands(f.name, count, 300)]
    rng = np.random.default_rng(f.width)
    for low, high in ((0, 3 << f.fraction_bits), ((2 * f.bias - 3) << f.fraction_bits, f.infinity + 1)):
        ends = [rng.integers(low, high, 40).astype(dtype) for _ in range(count)]
        for e in ends:
            e[::4] |= dtype.type(f.sign_bit)
        # An end of one operand meets the middle of the other.
        middle = [rng.integers((f.bias - 2) << f.fraction_bits, (f.bias + 2) << f.fraction_bits, 40).astype(dtype)]
        columns = [np.concatenate(c) for c in zip(columns, ends, strict=True)]
        if count == 2:
            for pair in ([ends[0], *middle], [*middle, ends[1]]):
                columns = [np.concatenate(c) for c in zip(columns, pair, strict=True)]
    turn = np.linspace(-6.28, 6.28, 81).astype(np.float32).view(np.uint32)
    wide = np.linspace(-126.9, 314, 60).astype(np.float32).view(np.uint32)
    if f.width == 32:
        more = np.concatenate([turn, wide])
        columns = [np.concatenate([c, np.roll(more, 7 * i)]) for i, c in enumerate(columns)]
    special = np.array([0, f.sign_bit, f.infinity, f.sign_bit | f.infinity, f.infinity + 1], dtype)
    if count == 1:
        return [np.concatenate([columns[0], special])]
    pairs = np.meshgrid(special, np.append(special, dtype.type(f.bias << f.fraction_bits)))
    return [np.concatenate([c, p.ravel()]) for c, p in zip(columns, pairs, strict=True)]


def outside(spec: Spec, instruction: Instruction, v: Variant, path: HardwarePath) -> list[str]:
    """Return where a path with ideal units leaves the bound of its variant, or returns another special value than it
    should. Variants without a bound must return the semantics' results, where half of a double is all that is told."""
    compiler = Compiler(spec)
    target = path.within[0] if path.within else None
    program = compiler.program(instruction, v, target, path)
    if target is None:
        program = compiler.program(instruction, v, list(spec.targets)[-1], path)
    own = compiler.program(instruction, v, None)
    columns = operands(v)
    with ideal():
        got = _run(program, columns)
    want = _run(own, columns)
    if not any(a.selector.matches(v) for a in instruction.accuracy):
        wrong = np.flatnonzero(got != want)
    else:
        judged = bounds.Judge(spec, instruction, v, None).judge(columns, got, want)
        outside = judged.outside & ~judged.excused
        if not any("SIN" in u or "COS" in u for u in path.units):
            # Where nothing is promised it is the function nevertheless; angles lose all digits.
            f = v.result.kind.format
            assert f is not None
            x, y = (np.nan_to_num(bounds.values(z, f), posinf=2.0**128, neginf=-(2.0**128)) for z in (got, want))
            outside |= judged.open & (np.abs(x - y) > 2.0**-10 * np.abs(y) + 2.0**f.emin)
        wrong = np.flatnonzero(outside & (got != want))
    return [f"{v} of {[hex(int(c[i])) for c in columns]}: 0x{got[i]:x}, not near 0x{want[i]:x}" for i in wrong.tolist()]


def _run(program: Program, columns: Sequence[Any]) -> Any:
    rows = zip(*(c.tolist() for c in columns), strict=True)
    return np.array([evaluate.run(program, row)[0] for row in rows], columns[0].dtype)
