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

from ...model import ROUNDINGS, Format
from ..program import CONDITION, Apply, Const, Let, Program, Term, Var, float_in
from . import elementary, unit
from .rounding import decode, round_to


@dataclass(frozen=True)
class Step:
    """One assignment that was reached: `before` is the value that the name had, None for a new name."""

    let: Let
    before: int | None
    after: int


def run(program: Program, operands: Sequence[int]) -> int:
    """The result's encoding (0 or 1 of a predicate) for operands given as encodings of the lane's format."""
    values = dict(zip(program.inputs, operands, strict=True))
    for let in program.lets:
        values[let.name] = evaluate(let.value, values)
    return evaluate(program.result, values)


def trace(program: Program, operands: Sequence[int]) -> tuple[int, list[Step]]:
    """As `run`, with the assignments on the path that these operands take."""
    values = dict(zip(program.inputs, operands, strict=True))
    named = dict(values)
    steps = []
    for let in program.lets:
        values[let.name] = after = evaluate(let.value, values)
        if let.label and all(bool(evaluate(test, values)) == outcome for test, outcome in let.guard):
            steps.append(Step(let, named.get(let.label), after))
            if let.label != CONDITION:
                named[let.label] = after
    return evaluate(program.result, values), steps


def evaluate(term: Term, values: dict[str, int]) -> int:
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Var):
        return values[term.name]
    arguments = [evaluate(a, values) for a in term.arguments]
    return int(FUNCTIONS[term.function](term, *arguments))


def _magnitude(x: int, f: Format) -> int:
    return x & ~f.sign_bit


def _is_nan(x: int, f: Format) -> bool:
    return _magnitude(x, f) > f.infinity


def _is_infinite(x: int, f: Format) -> bool:
    return _magnitude(x, f) == f.infinity


def _is_zero(x: int, f: Format) -> bool:
    return _magnitude(x, f) == 0


def _sign(x: int, f: Format) -> int:
    return x & f.sign_bit


def _format(t: Apply) -> Format:
    assert t.format is not None
    return t.format


def _order(x: int, f: Format) -> int:
    """An integer that orders numbers as their values, -0 just below +0."""
    return -1 - _magnitude(x, f) if _sign(x, f) else x


def _addition(t: Apply, x: int, y: int) -> int:
    f = _format(t)
    if _is_nan(x, f) or _is_nan(y, f):
        return f.canonical_nan
    if _is_infinite(x, f) or _is_infinite(y, f):
        if _is_infinite(x, f) and _is_infinite(y, f):
            return x if x == y else f.canonical_nan
        return x if _is_infinite(x, f) else y
    return _sum(t, decode(x, f), _sign(x, f) != 0, y)


def _sum(t: Apply, x: Fraction, x_negative: bool, y: int) -> int:
    """An exact number (its sign given for a zero) plus a finite operand."""
    f = _format(t)
    y_negative = _sign(y, f) != 0
    negative = x_negative if x_negative == y_negative else t.mode == "roundTowardNegative"
    return round_to(x + decode(y, f), f, t.mode, t.ftz, negative)


def _subtraction(t: Apply, x: int, y: int) -> int:
    return _addition(t, x, y ^ _format(t).sign_bit)


def _multiplication(t: Apply, x: int, y: int) -> int:
    f = _format(t)
    sign = _sign(x ^ y, f)
    if _is_nan(x, f) or _is_nan(y, f):
        return f.canonical_nan
    if _is_infinite(x, f) or _is_infinite(y, f):
        return f.canonical_nan if _is_zero(x, f) or _is_zero(y, f) else sign | f.infinity
    return round_to(decode(x, f) * decode(y, f), f, t.mode, t.ftz, sign != 0)


def _division(t: Apply, x: int, y: int) -> int:
    f = _format(t)
    sign = _sign(x ^ y, f)
    if _is_nan(x, f) or _is_nan(y, f):
        return f.canonical_nan
    if _is_infinite(x, f) or _is_zero(y, f):
        both = _is_infinite(y, f) if _is_infinite(x, f) else _is_zero(x, f)
        return f.canonical_nan if both else sign | f.infinity
    if _is_infinite(y, f):
        return sign
    return round_to(decode(x, f) / decode(y, f), f, t.mode, t.ftz, sign != 0)


def _fused(t: Apply, x: int, y: int, z: int) -> int:
    f = _format(t)
    if any(_is_nan(v, f) for v in (x, y, z)):
        return f.canonical_nan
    negative = _sign(x ^ y, f) != 0
    if _is_infinite(x, f) or _is_infinite(y, f):
        if _is_zero(x, f) or _is_zero(y, f) or (_is_infinite(z, f) and (_sign(z, f) != 0) != negative):
            return f.canonical_nan
        return f.infinity | (f.sign_bit if negative else 0)
    if _is_infinite(z, f):
        return z
    return _sum(t, decode(x, f) * decode(y, f), negative, z)


def _square_root(t: Apply, x: int) -> int:
    f = _format(t)
    if _is_zero(x, f):
        return x
    if _is_nan(x, f) or _sign(x, f):
        return f.canonical_nan
    if _is_infinite(x, f):
        return x
    value = decode(x, f)
    # Far more bits than any format has, and a last one for what is cut off: rounding sees the same as with all of them.
    shift = 4 * f.width + 2 * f.bias
    root = isqrt((value.numerator << 2 * shift) // value.denominator)
    exact = root * root * value.denominator == value.numerator << 2 * shift
    return round_to(Fraction(2 * root + (not exact), 2 << shift), f, t.mode, t.ftz)


def _convert(t: Apply, x: int) -> int:
    f, source = _format(t), t.arguments[0].kind.format
    assert source is not None
    if _is_nan(x, source):
        return f.canonical_nan
    sign = f.sign_bit if _sign(x, source) else 0
    if _is_infinite(x, source):
        return sign | f.infinity
    return round_to(decode(x, source), f, t.mode, t.ftz, sign != 0)


def _extreme(number: bool, largest: bool) -> Callable[[Apply, int, int], int]:
    def choose(t: Apply, x: int, y: int) -> int:
        f = _format(t)
        if _is_nan(x, f) or _is_nan(y, f):
            if not number or (_is_nan(x, f) and _is_nan(y, f)):
                return f.canonical_nan
            return y if _is_nan(x, f) else x
        return x if (_order(x, f) > _order(y, f)) == largest else y

    return choose


def _comparison(
    compare: Callable[[Fraction | int, Fraction | int], bool], unordered: bool = False
) -> Callable[..., bool]:
    def holds(t: Apply, x: int, y: int) -> bool:
        f = t.arguments[0].kind.format
        assert f is not None
        if _is_nan(x, f) or _is_nan(y, f):
            return unordered
        # The integers that order encodings serve, once both zeros are one.
        return compare(0 if _is_zero(x, f) else _order(x, f), 0 if _is_zero(y, f) else _order(y, f))

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


FUNCTIONS: dict[str, Callable[..., int | bool]] = {
    "addition": _addition,
    "subtraction": _subtraction,
    "multiplication": _multiplication,
    "division": _division,
    "fusedMultiplyAdd": _fused,
    "squareRoot": _square_root,
    "convert": _convert,
    **{name: _elementary(function) for name, function in elementary.FUNCTIONS.items()},
    "unit": _unit,
    "magnitude": lambda t, x: _magnitude(x, _format(t)),
    "negate": lambda t, x: x ^ _format(t).sign_bit,
    "copySign": lambda t, x, y: _magnitude(x, _format(t)) | _sign(y, _format(t)),
    "quieten": lambda t, x: x | _format(t).quiet_bit,
    "maximum": _extreme(number=False, largest=True),
    "minimum": _extreme(number=False, largest=False),
    "maximumNumber": _extreme(number=True, largest=True),
    "minimumNumber": _extreme(number=True, largest=False),
    "select": lambda t, condition, x, y: x if condition else y,
    "isSignMinus": _predicate(lambda x, f: _sign(x, f) != 0),
    "isNormal": _predicate(lambda x, f: 1 << f.fraction_bits <= _magnitude(x, f) < f.infinity),
    "isFinite": _predicate(lambda x, f: _magnitude(x, f) < f.infinity),
    "isZero": _predicate(_is_zero),
    "isSubnormal": _predicate(lambda x, f: 0 < _magnitude(x, f) < 1 << f.fraction_bits),
    "isInfinite": _predicate(_is_infinite),
    "isNaN": _predicate(_is_nan),
    "isSignaling": _predicate(lambda x, f: _is_nan(x, f) and not x & f.quiet_bit),
    "compareEqual": _comparison(operator.eq),
    "compareNotEqual": _comparison(operator.ne, unordered=True),
    "compareLess": _comparison(operator.lt),
    "compareLessEqual": _comparison(operator.le),
    "compareGreater": _comparison(operator.gt),
    "compareGreaterEqual": _comparison(operator.ge),
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
