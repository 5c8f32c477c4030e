"""The exact back end: it runs a program on single operands with unlimited precision and one `round_to`.

It is slow and obvious. Corner cases are checked with it, `eval --trace` shows its steps, and the tests compare the
emulator with it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...model import ROUNDINGS, Format, float_in
from ..program import CONDITION, Apply, Const, Let, Program, Term, Var
from . import unit
from .results import Number, Unrounded
from .rounding import overflow, round_to, round_to_integer, round_to_integral, truncated_with
from .unrounded import UNROUNDED, format_of, integer


@dataclass(frozen=True)
class Step:
    """One assignment that was reached. `before` is the previous value of the name, None for a new name. `values` are
    those of all names of the program."""

    let: Let
    before: int | None
    after: int
    values: Mapping[str, int]


def run(program: Program, operands: Sequence[int]) -> tuple[int, ...]:
    """Return the results' encodings (0 or 1 for a predicate) for the encodings of one lane's operands."""
    values = dict(zip((i.name for i in program.inputs), operands, strict=True))
    for let in program.lets:
        values[let.name] = evaluate(let.value, values)
    return tuple(evaluate(r, values) for r in program.results)


def trace(program: Program, operands: Sequence[int]) -> tuple[tuple[int, ...], list[Step]]:
    """Return the results as `run` does, and the assignments on the path that these operands take."""
    values = dict(zip((i.name for i in program.inputs), operands, strict=True))
    named = dict(values)
    steps = []
    for let in program.lets:
        values[let.name] = after = evaluate(let.value, values)
        if let.label and all(bool(evaluate(test, values)) == outcome for test, outcome in let.guard):
            steps.append(Step(let, named.get(let.label), after, values))
            if let.label != CONDITION:
                named[let.label] = after
    return tuple(evaluate(r, values) for r in program.results), steps


def evaluate(term: Term, values: Mapping[str, int]) -> int:
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Var):
        return values[term.name]
    if term.function == "select":
        # Only the chosen side is computed.
        condition, chosen, other = term.arguments
        return evaluate(chosen if evaluate(condition, values) else other, values)
    # Most arguments are variables, whose values need no call.
    arguments = [values[a.name] if isinstance(a, Var) else evaluate(a, values) for a in term.arguments]
    if term.daz:
        arguments = [
            _flushed(x, f) if (f := a.kind.format) else x for a, x in zip(term.arguments, arguments, strict=True)
        ]
    result = int(FUNCTIONS[term.function](term, *arguments))
    return _propagate(term, result, *arguments) if term.passes_nans else result


def _flushed(x: int, f: Format) -> int:
    return _sign(x, f) if f.is_subnormal(x) else x


def _propagate(t: Apply, value: int, *operands: int) -> int:
    f = format_of(t)
    nans = (x | f.quiet_bit for x in operands if f.is_nan(x))
    return next(nans, value) if f.is_nan(value) else value


def _sign(x: int, f: Format) -> int:
    return x & f.sign_bit


def _order(x: int, f: Format) -> int:
    """Return an integer that orders numbers by value, -0 just below +0."""
    magnitude = 0 if f.is_zero(x) else f.magnitude(x)
    return -1 - magnitude if _sign(x, f) else magnitude


def _delivered(function: Callable[..., Unrounded]) -> Callable[..., int]:
    return lambda t, *operands: deliver(t, function(t, *operands))


def deliver(t: Apply, found: Unrounded) -> int:
    """Return the encoding that an operation's result is rounded to."""
    fixed, f = t.kind.fixed, t.format
    if not isinstance(found, Number):
        return 0 if fixed else format_of(t).canonical_nan
    if found.value is None:
        if fixed:
            return (fixed.least if found.negative else fixed.largest) & _ones(t.kind.width)
        return _infinite(format_of(t), found.negative)
    if fixed:
        return round_to_integer(found.value, fixed, t.mode)
    assert f is not None
    if found.random is not None:
        kept = truncated_with(found.value, f, found.random)
        return round_to(kept, f, ROUNDINGS[0], False, found.negative)
    if t.function == "roundToIntegral":
        return round_to(Fraction(round_to_integral(found.value, t.mode)), f, t.mode, False, found.negative)
    return round_to(found.value, f, t.mode, t.ftz, found.negative)


def _infinite(f: Format, negative: bool) -> int:
    """Return an exact infinity, or what an overflow becomes if the format has no infinity."""
    sign = f.sign_bit if negative else 0
    return sign | f.infinity if f.has_infinity else overflow(f, sign)


def _congruent(t: Apply, x: int) -> int:
    source, to = t.arguments[0].kind.fixed, t.kind
    assert source is not None
    return source.value(x) & ((1 << to.width) - 1)


def _convert_nan(t: Apply, x: int) -> int:
    source, f = t.arguments[0].kind.format, format_of(t)
    assert source is not None
    fraction = x & ((1 << source.fraction_bits) - 1)
    shift = f.fraction_bits - source.fraction_bits
    sign = f.sign_bit if _sign(x, source) else 0
    return sign | f.infinity | (fraction << shift if shift >= 0 else fraction >> -shift)


def _extreme(number: bool, largest: bool) -> Callable[[Apply, int, int], int]:
    def choose(t: Apply, x: int, y: int) -> int:
        f = format_of(t)
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
        # The ordering integers can be compared once both zeros are equal.
        return compare(0 if f.is_zero(x) else _order(x, f), 0 if f.is_zero(y) else _order(y, f))

    return holds


def _relation(t: Apply, x: int, y: int, relation: int) -> bool:
    """Return whether a bit of the relation is set: less, equal, greater, or unordered."""
    less, equal = ("compareLess", "compareEqual") if t.arguments[0].kind.format else ("lessInteger", "sameInteger")
    tried = (FUNCTIONS[less](t, x, y), FUNCTIONS[equal](t, x, y), FUNCTIONS[less](t, y, x))
    place = tried.index(True) if True in tried else 3
    return bool(relation >> place & 1)


def _clamped(t: Apply, x: int, most: int) -> int:
    f = format_of(t)
    if f.is_nan(x):
        return most if most == f.canonical_nan else 0
    return 0 if _sign(x, f) else min(x, most)


def _bounded(t: Apply, x: int, random: int, most: int) -> int:
    f, source = format_of(t), t.arguments[0].kind.format
    assert source is not None
    result = int(FUNCTIONS["convertStochastic"](t, x, random))
    if source.is_nan(x) or f.magnitude(result) <= most:
        return result
    return most | (f.sign_bit if _sign(x, source) else 0)


def _predicate(holds: Callable[[int, Format], bool]) -> Callable[[Apply, int], bool]:
    def test(t: Apply, x: int) -> bool:
        f = t.arguments[0].kind.format
        assert f is not None
        return holds(x, f)

    return test


def _unit(t: Apply, x: int) -> int:
    assert t.model is not None
    return unit.evaluate(t.model, x, _rounded)


def _rounded(function: str, x: int, f: Format) -> int:
    """Return a function's result, rounded to nearest; "reciprocal" is the division of 1 by the operand."""
    t = Apply(float_in(f), function, (), f, ROUNDINGS[0])
    if function == "reciprocal":
        return int(FUNCTIONS["division"](t, f.bias << f.fraction_bits, x))
    return int(FUNCTIONS[function](t, x))


def _high_word(t: Apply, x: int) -> int:
    half = format_of(t).width // 2
    return x >> half << half


def _quotient(x: int, y: int) -> int:
    """Return x / y rounded toward zero, unlike Python's operator."""
    size = abs(x) // abs(y) if y else 0
    return size if (x < 0) == (y < 0) else -size


def _ones(width: int) -> int:
    return (1 << width) - 1


FUNCTIONS: dict[str, Callable[..., int | bool]] = {
    **{name: _delivered(function) for name, function in UNROUNDED.items()},
    "congruent": _congruent,
    "convertNaN": _convert_nan,
    "unit": _unit,
    "magnitude": lambda t, x: format_of(t).magnitude(x),
    "negate": lambda t, x: x ^ format_of(t).sign_bit,
    "copySign": lambda t, x, y: format_of(t).magnitude(x) | _sign(y, format_of(t)),
    "quieten": lambda t, x: x | format_of(t).quiet_bit,
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
    "multiplyIntegers": lambda t, x, y: (x * y) & _ones(t.kind.width),
    "divideIntegers": lambda t, x, y: _quotient(*(int(integer(v, t.kind)) for v in (x, y))) & _ones(t.kind.width),
    "shiftLeftBy": lambda t, x, n: x << min(n, t.kind.width) & _ones(t.kind.width),
    "shiftRightBy": lambda t, x, n: x >> min(n, t.kind.width),
    "sameInteger": lambda t, x, y: x == y,
    "lessInteger": lambda t, x, y: integer(x, t.arguments[0].kind) < integer(y, t.arguments[1].kind),
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
    "flushed": lambda t, x: _flushed(x, format_of(t)),
    "propagate": _propagate,
    "replace": lambda t, x, condition, pattern: pattern if condition else x,
    "compare": _relation,
    "combine": lambda t, p, c, operator: (p & c, p | c, p ^ c)[operator],
    "clamped": _clamped,
    "withoutSign": lambda t, x: 0 if _sign(x, format_of(t)) else x,
    "within": lambda t, x, low, high: FUNCTIONS["minimum"](t, int(FUNCTIONS["maximum"](t, x, low)), high),
    "convertBounded": _bounded,
}
