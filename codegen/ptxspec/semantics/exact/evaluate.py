"""The exact back end: runs a program on single operands with unlimited precision and one `round_to`.

It is slow and obvious. Corner cases are checked with it, `eval --trace` shows its steps, and the tests hold the
emulator against it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ...model import ROUNDINGS, Format, Kind, float_in
from ..program import CONDITION, Apply, Const, Let, Program, Term, Var
from . import elementary, unit
from .rounding import decode, overflow, round_to, round_to_integer, round_to_integral, truncated_with


@dataclass(frozen=True)
class Step:
    """One assignment that was reached: `before` is the value that the name had, None for a new name."""

    let: Let
    before: int | None
    after: int


def run(program: Program, operands: Sequence[int]) -> tuple[int, ...]:
    """The results' encodings (0 or 1 of a predicate) for operands given as encodings of a lane."""
    values = dict(zip((i.name for i in program.inputs), operands, strict=True))
    for let in program.lets:
        values[let.name] = evaluate(let.value, values)
    return tuple(evaluate(r, values) for r in program.results)


def trace(program: Program, operands: Sequence[int]) -> tuple[tuple[int, ...], list[Step]]:
    """As `run`, with the assignments on the path that these operands take."""
    values = dict(zip((i.name for i in program.inputs), operands, strict=True))
    named = dict(values)
    steps = []
    for let in program.lets:
        values[let.name] = after = evaluate(let.value, values)
        if let.label and all(bool(evaluate(test, values)) == outcome for test, outcome in let.guard):
            steps.append(Step(let, named.get(let.label), after))
            if let.label != CONDITION:
                named[let.label] = after
    return tuple(evaluate(r, values) for r in program.results), steps


def evaluate(term: Term, values: dict[str, int]) -> int:
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Var):
        return values[term.name]
    arguments = [evaluate(a, values) for a in term.arguments]
    return int(FUNCTIONS[term.function](term, *arguments))


def _sign(x: int, f: Format) -> int:
    return x & f.sign_bit


def _format(t: Apply) -> Format:
    assert t.format is not None
    return t.format


def _order(x: int, f: Format) -> int:
    """An integer that orders numbers as their values, -0 just below +0."""
    magnitude = 0 if f.is_zero(x) else f.magnitude(x)
    return -1 - magnitude if _sign(x, f) else magnitude


@dataclass(frozen=True)
class Number:
    """What an operand stands for, which is no NaN. The value is None of an infinity, and has no sign of a zero."""

    value: Fraction | None
    negative: bool

    @property
    def is_zero(self) -> bool:
        return self.value == 0


def _numbers(t: Apply, *operands: int) -> list[Number] | None:
    """What the operands stand for, each in its own format; None where one is a NaN."""
    formats = [a.kind.format or _format(t) for a in t.arguments] or [_format(t)] * len(operands)
    if any(f.is_nan(x) for x, f in zip(operands, formats, strict=True)):
        return None
    return [
        Number(None if f.is_infinite(x) else decode(x, f), _sign(x, f) != 0)
        for x, f in zip(operands, formats, strict=True)
    ]


def _nan(t: Apply) -> int:
    return _format(t).canonical_nan


def _infinite(t: Apply, negative: bool) -> int:
    """An exact infinity: what overflow is where the format has none."""
    f = _format(t)
    sign = f.sign_bit if negative else 0
    return sign | f.infinity if f.has_infinity else overflow(f, sign)


def _finite(t: Apply, value: Fraction, negative: bool) -> int:
    """An exact number, with the sign of a zero."""
    return round_to(value, _format(t), t.mode, t.ftz, negative)


def _sum(t: Apply, x: Number, y: Number) -> int:
    if x.value is not None and y.value is not None:
        negative = x.negative if x.negative == y.negative else t.mode == "roundTowardNegative"
        return _finite(t, x.value + y.value, negative)
    if x.value is None and y.value is None and x.negative != y.negative:
        return _nan(t)
    return _infinite(t, x.negative if x.value is None else y.negative)


def _product(x: Number, y: Number) -> Number | None:
    """None of zero times infinity."""
    negative = x.negative != y.negative
    if x.value is not None and y.value is not None:
        return Number(x.value * y.value, negative)
    return None if x.is_zero or y.is_zero else Number(None, negative)


def _addition(t: Apply, *operands: int) -> int:
    numbers = _numbers(t, *operands)
    return _sum(t, *numbers) if numbers else _nan(t)


def _subtraction(t: Apply, *operands: int) -> int:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return _nan(t)
    x, y = numbers
    return _sum(t, x, Number(None if y.value is None else -y.value, not y.negative))


def _multiplication(t: Apply, *operands: int) -> int:
    numbers = _numbers(t, *operands)
    product = _product(*numbers) if numbers else None
    if product is None:
        return _nan(t)
    return _infinite(t, product.negative) if product.value is None else _finite(t, product.value, product.negative)


def _division(t: Apply, *operands: int) -> int:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return _nan(t)
    x, y = numbers
    negative = x.negative != y.negative
    if x.value is None or y.is_zero:
        invalid = y.value is None if x.value is None else x.is_zero
        return _nan(t) if invalid else _infinite(t, negative)
    return _finite(t, Fraction(0) if y.value is None else x.value / y.value, negative)


def _fused(t: Apply, *operands: int) -> int:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return _nan(t)
    x, y, z = numbers
    product = _product(x, y)
    return _nan(t) if product is None else _sum(t, product, z)


def _square_root(t: Apply, x: int) -> int:
    f = _format(t)
    if f.is_zero(x):
        return _sign(x, f)
    if f.is_nan(x) or _sign(x, f):
        return f.canonical_nan
    if f.is_infinite(x):
        return x
    value = decode(x, f)
    # Far more bits than any format has, and a last one for what is cut off: rounding sees the same as with all of them.
    shift = 4 * f.width + 2 * abs(f.bias)
    root = isqrt((value.numerator << 2 * shift) // value.denominator)
    exact = root * root * value.denominator == value.numerator << 2 * shift
    return round_to(Fraction(2 * root + (not exact), 2 << shift), f, t.mode, t.ftz)


def _round_to_integral(t: Apply, x: int) -> int:
    f = _format(t)
    if f.is_nan(x):
        return f.canonical_nan
    if f.is_infinite(x):
        return x
    return round_to(Fraction(round_to_integral(decode(x, f), t.mode)), f, t.mode, False, _sign(x, f) != 0)


def _congruent(t: Apply, x: int) -> int:
    source, to = t.arguments[0].kind.fixed, t.kind
    assert source is not None
    return source.value(x) & ((1 << to.width) - 1)


def _convert_nan(t: Apply, x: int) -> int:
    source, f = t.arguments[0].kind.format, _format(t)
    assert source is not None
    fraction = x & ((1 << source.fraction_bits) - 1)
    shift = f.fraction_bits - source.fraction_bits
    sign = f.sign_bit if _sign(x, source) else 0
    return sign | f.infinity | (fraction << shift if shift >= 0 else fraction >> -shift)


def _convert(t: Apply, x: int) -> int:
    source, to = t.arguments[0].kind, t.kind
    if source.format is not None and source.format.is_nan(x):
        return to.format.canonical_nan if to.format else 0
    negative = _is_negative(x, source)
    if source.format is not None and source.format.is_infinite(x):
        if to.fixed:
            return (to.fixed.least if negative else to.fixed.largest) & ((1 << to.width) - 1)
        return _infinite(t, negative)
    value = decode(x, source.format) if source.format else _integer(x, source)
    if to.fixed:
        return round_to_integer(value, to.fixed, t.mode)
    return round_to(value, _format(t), t.mode, t.ftz, negative and source.format is not None)


def _convert_stochastic(t: Apply, x: int, random: int) -> int:
    source, f = t.arguments[0].kind.format, _format(t)
    assert source is not None
    if source.is_nan(x):
        return f.canonical_nan
    if source.is_infinite(x):
        return _infinite(t, _sign(x, source) != 0)
    kept = truncated_with(decode(x, source), f, Fraction(random, 1 << t.arguments[1].kind.width))
    return round_to(kept, f, ROUNDINGS[0], False, _sign(x, source) != 0)


def _is_negative(x: int, kind: Kind) -> bool:
    return bool(x & kind.format.sign_bit) if kind.format else _integer(x, kind) < 0


def _integer(x: int, kind: Kind) -> Fraction:
    """The number that an integer's encoding stands for."""
    assert kind.fixed is not None
    return Fraction(kind.fixed.value(x), 1 << kind.fixed.point)


def _extreme(number: bool, largest: bool) -> Callable[[Apply, int, int], int]:
    def choose(t: Apply, x: int, y: int) -> int:
        f = _format(t)
        if f.is_nan(x) or f.is_nan(y):
            if not number or (f.is_nan(x) and f.is_nan(y)):
                return f.canonical_nan
            return y if f.is_nan(x) else x
        return x if (_order(x, f) > _order(y, f)) == largest else y

    return choose


def _comparison(
    compare: Callable[[Fraction | int, Fraction | int], bool], unordered: bool = False
) -> Callable[..., bool]:
    def holds(t: Apply, x: int, y: int) -> bool:
        f = t.arguments[0].kind.format
        assert f is not None
        if f.is_nan(x) or f.is_nan(y):
            return unordered
        # The integers that order encodings serve, once both zeros are one.
        return compare(0 if f.is_zero(x) else _order(x, f), 0 if f.is_zero(y) else _order(y, f))

    return holds


def _predicate(holds: Callable[[int, Format], bool]) -> Callable[[Apply, int], bool]:
    def test(t: Apply, x: int) -> bool:
        f = t.arguments[0].kind.format
        assert f is not None
        return holds(x, f)

    return test


def _elementary(function: Callable[[int, Format, str, bool], int]) -> Callable[[Apply, int], int]:
    return lambda t, x: function(x, _format(t), t.mode, t.ftz)


def _unit(t: Apply, x: int) -> int:
    assert t.model is not None
    return unit.evaluate(t.model, x, _rounded)


def _rounded(function: str, x: int, f: Format) -> int:
    """A function's result, rounded to nearest; "reciprocal" is a division of 1."""
    t = Apply(float_in(f), function, (), f, ROUNDINGS[0])
    if function == "reciprocal":
        return _division(t, f.bias << f.fraction_bits, x)
    return int(FUNCTIONS[function](t, x))


def _high_word(t: Apply, x: int) -> int:
    half = _format(t).width // 2
    return x >> half << half


def _ones(width: int) -> int:
    return (1 << width) - 1


FUNCTIONS: dict[str, Callable[..., int | bool]] = {
    "addition": _addition,
    "subtraction": _subtraction,
    "multiplication": _multiplication,
    "division": _division,
    "fusedMultiplyAdd": _fused,
    "squareRoot": _square_root,
    "roundToIntegral": _round_to_integral,
    "convert": _convert,
    "convertStochastic": _convert_stochastic,
    "congruent": _congruent,
    "convertNaN": _convert_nan,
    **{name: _elementary(function) for name, function in elementary.FUNCTIONS.items()},
    "unit": _unit,
    "magnitude": lambda t, x: _format(t).magnitude(x),
    "negate": lambda t, x: x ^ _format(t).sign_bit,
    "copySign": lambda t, x, y: _format(t).magnitude(x) | _sign(y, _format(t)),
    "quieten": lambda t, x: x | _format(t).quiet_bit,
    "maximum": _extreme(number=False, largest=True),
    "minimum": _extreme(number=False, largest=False),
    "maximumNumber": _extreme(number=True, largest=True),
    "minimumNumber": _extreme(number=True, largest=False),
    "select": lambda t, condition, x, y: x if condition else y,
    "isSignMinus": _predicate(lambda x, f: _sign(x, f) != 0),
    "isNormal": _predicate(lambda x, f: f.is_normal(x)),
    "isFinite": _predicate(lambda x, f: f.magnitude(x) <= f.largest),
    "isZero": _predicate(lambda x, f: f.is_zero(x)),
    "isSubnormal": _predicate(lambda x, f: f.is_subnormal(x)),
    "isInfinite": _predicate(lambda x, f: f.is_infinite(x)),
    "isNaN": _predicate(lambda x, f: f.is_nan(x)),
    "isSignaling": _predicate(lambda x, f: f.is_nan(x) and not x & f.quiet_bit),
    "compareEqual": _comparison(operator.eq),
    "compareNotEqual": _comparison(operator.ne, unordered=True),
    "compareLess": _comparison(operator.lt),
    "compareLessEqual": _comparison(operator.le),
    "compareGreater": _comparison(operator.gt),
    "compareGreaterEqual": _comparison(operator.ge),
    "addIntegers": lambda t, x, y: (x + y) & _ones(t.kind.width),
    "subtractIntegers": lambda t, x, y: (x - y) & _ones(t.kind.width),
    "shiftLeftBy": lambda t, x, n: x << min(n, t.kind.width) & _ones(t.kind.width),
    "shiftRightBy": lambda t, x, n: x >> min(n, t.kind.width),
    "sameInteger": lambda t, x, y: x == y,
    "lessInteger": lambda t, x, y: _integer(x, t.arguments[0].kind) < _integer(y, t.arguments[1].kind),
    "bits": lambda t, x: x,
    "float_of": lambda t, x: x,
    "highWord": _high_word,
    "bitAnd": lambda t, x, y: x & y,
    "bitOr": lambda t, x, y: x | y,
    "bitXor": lambda t, x, y: x ^ y,
    "bitNot": lambda t, x: x ^ ((1 << t.kind.width) - 1),
    "shiftLeft": lambda t, x: (x << t.count) & ((1 << t.kind.width) - 1),
    "shiftRight": lambda t, x: x >> t.count,
    "sameBits": lambda t, x, y: x == y,
    "lessBits": lambda t, x, y: x < y,
    "logicalAnd": lambda t, x, y: x and y,
    "logicalOr": lambda t, x, y: x or y,
    "logicalXor": lambda t, x, y: x != y,
    "logicalNot": lambda t, x: not x,
}
