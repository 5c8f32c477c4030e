"""MPFR as a side: a variant's program whose rounding operations MPFR performs.

All other operations, such as flushes, the NaN rule and saturation, are as in the specification."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import starmap
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...model import BOOL, FixedPoint, Format, Kind
from ...semantics.compile import Compiler
from ...semantics.exact import elementary
from ...semantics.exact.evaluate import FUNCTIONS
from ...semantics.exact.rounding import overflow
from ...semantics.exact.unrounded import UNROUNDED, format_of
from ...semantics.program import Apply, Const, Program, Term, Var
from ..gpu.bounds import values
from .bounded import within_bound
from .sides import Misfit, Side, of_lanes

Array = NDArray[Any]
_U = np.uint64

NAME = "mpfr"
_MODES = {
    "roundTiesToEven": "RoundToNearest",
    "roundTowardZero": "RoundToZero",
    "roundTowardNegative": "RoundDown",
    "roundTowardPositive": "RoundUp",
}
# Wider than the exponents of any format and of any product of two.
_WIDE = 1 << 20


def side(other: Side | None) -> Side:
    """Return a side that runs the other side's variant with MPFR's roundings. Raises Misfit if MPFR cannot, or the
    other side is not a variant."""
    if other is None or other.origin is None:
        raise Misfit(f"{NAME} requires a variant such as add.rn.f16 on the other side, in whose place it rounds")
    gmpy2, (spec, v, target) = _library(), other.origin
    program = Compiler(spec).program(spec.instructions[v.opcode], v, target)
    rounding = [t for t in _applied(program) if t.function in UNROUNDED]
    if not rounding:
        raise Misfit(f"{v.spelling} does not round, so it cannot be compared with {NAME}")
    arithmetic = _Arithmetic(gmpy2)
    for t in rounding:
        if why := _not_rounded(t, arithmetic.functions):
            raise Misfit(f"{v.spelling}: {why}")

    def run(*lanes: Array) -> Sequence[Array]:
        found = dict(zip((i.name for i in program.inputs), map(_given, lanes, program.inputs), strict=True))
        for let in program.lets:
            found[let.name] = _value(let.value, found, arithmetic)
        results = [_value(r, found, arithmetic) for r in program.results[: len(other.face.results)]]
        return [np.broadcast_to(x, lanes[0].shape) for x in results]

    about = (f"{gmpy2.mpfr_version()} (gmpy2 {gmpy2.version()}) rounds", "flushes and NaNs as in spec/")
    opened = within_bound(other.origin, target, own_is_judged=False)
    return Side(NAME, about, other.face, other.rank, of_lanes(run), opened)


def _library() -> ModuleType:
    try:
        return importlib.import_module("gmpy2")
    except ImportError:
        raise PtxspecError(f"{NAME} requires gmpy2; install it with `pip install 'ptxspec[mpfr]'`") from None


def _applied(program: Program) -> list[Apply]:
    """Return all calls in a program."""
    left: list[Term] = [*(let.value for let in program.lets), *program.results]
    found = []
    while left:
        term = left.pop()
        if isinstance(term, Apply):
            found.append(term)
            left += term.arguments
    return found


def _functions(gmpy2: Any) -> dict[str, Callable[..., Any]]:
    """Return MPFR's functions, by their names in the semantics language."""
    same = {name: getattr(gmpy2, name) for name in elementary.FUNCTIONS if hasattr(gmpy2, name)}
    return {
        **same,
        "addition": gmpy2.add,
        "subtraction": gmpy2.sub,
        "multiplication": gmpy2.mul,
        "division": gmpy2.div,
        "fusedMultiplyAdd": gmpy2.fma,
        "squareRoot": gmpy2.sqrt,
        "roundToIntegral": gmpy2.rint,
        "convert": gmpy2.mpfr,
        # MPFR returns an infinity of the other sign for -0.
        "rSqrt": lambda x: gmpy2.rec_sqrt(x) if x else 1 / x,
    }


def _not_rounded(t: Apply, functions: Container[str]) -> str:
    """Return why MPFR cannot perform an operation; empty where it can."""
    if t.function not in functions:
        return f"MPFR has no {t.function}"
    if t.mode not in _MODES:
        return f"MPFR has no {t.mode}"
    formats = [kind.format for kind in (t.kind, *(a.kind for a in t.arguments)) if kind.format]
    odd = next((f for f in formats if not (f.has_zero and f.has_subnormals and f.signed)), None)
    return f"MPFR has no numbers like those of .{odd.name}" if odd else ""


def _given(x: Array, i: Var) -> Array:
    return x.astype(np.bool_ if i.kind == BOOL else _U)


def _value(term: Term, found: Mapping[str, Array], arithmetic: _Arithmetic) -> Array:
    """Return the value of a term: encodings in 64 bits, or truth values."""
    if isinstance(term, Const):
        return np.asarray(term.value, np.bool_ if term.kind == BOOL else _U)
    if isinstance(term, Var):
        return found[term.name]
    arguments = [_value(a, found, arithmetic) for a in term.arguments]
    if term.mode:
        return arithmetic.apply(term, np.broadcast_arrays(*arguments))
    if term.function in _OF_ARRAYS:
        return np.asarray(_OF_ARRAYS[term.function](term, *arguments))
    # Element by element, as the exact back end does it.
    scalar = np.frompyfunc(lambda *x: FUNCTIONS[term.function](term, *map(int, x)), len(arguments), 1)
    return np.asarray(scalar(*arguments)).astype(np.bool_ if term.kind == BOOL else _U)


class _Arithmetic:
    """Operations that round, by MPFR."""

    def __init__(self, gmpy2: Any) -> None:
        self._gmpy2 = gmpy2
        self.functions = _functions(gmpy2)

    def apply(self, t: Apply, arguments: Sequence[Array]) -> Array:
        shape = arguments[0].shape
        operands = [self._numbers(x.ravel(), a.kind) for x, a in zip(arguments, t.arguments, strict=True)]
        made = self._integers(t, operands[0], t.kind.fixed) if t.kind.fixed else self._floats(t, operands)
        return made.reshape(shape)

    def _context(self, t: Apply, precision: int, emin: int = -_WIDE) -> Any:
        mode = getattr(self._gmpy2, _MODES[t.mode])
        return self._gmpy2.context(precision=precision, emax=_WIDE, emin=emin, round=mode, subnormalize=emin != -_WIDE)

    def _numbers(self, x: Array, kind: Kind) -> list[Any]:
        """Return the numbers of encodings; float64 has every number of every format."""
        with self._gmpy2.context(precision=64, emax=_WIDE, emin=-_WIDE):
            if kind.format:
                # A product with one is exact here, and takes an eighth of the time of mpfr().
                one = self._gmpy2.mpfr(1)
                return [one * number for number in values(x, kind.format).tolist()]
            assert kind.fixed is not None
            return [self._gmpy2.mpfr(kind.fixed.value(n)) / (1 << kind.fixed.point) for n in x.tolist()]

    def _integers(self, t: Apply, operand: Sequence[Any], fixed: FixedPoint) -> Array:
        rint, ones = self._gmpy2.rint, (1 << fixed.width) - 1

        def rounded(x: Any) -> int:
            if self._gmpy2.is_nan(x):
                return 0
            if self._gmpy2.is_infinite(x):
                return (fixed.least if x < 0 else fixed.largest) & ones
            return min(max(int(rint(x * (1 << fixed.point))), fixed.least), fixed.largest) & ones

        with self._context(t, 128):
            return np.array(list(map(rounded, operand)), _U)

    def _floats(self, t: Apply, operands: Sequence[Sequence[Any]]) -> Array:
        f, function = format_of(t), self.functions[t.function]
        with self._context(t, f.precision):
            made = list(starmap(function, zip(*operands, strict=True)))
        found = np.array(list(map(float, made)), np.float64)
        least = 2.0**f.emin
        tiny = np.flatnonzero(np.abs(found) <= least)
        if t.ftz:
            # Tininess is detected after rounding with an unbounded exponent; for doubles only MPFR's numbers have that.
            flushed = [i for i in tiny.tolist() if -least < made[i] < least]
            found[flushed] = np.copysign(0.0, found[flushed])
        elif tiny.size:
            # MPFR's significands are in [1/2, 1), those of IEEE 754 in [1, 2).
            with self._context(t, f.precision, f.emin - f.precision + 2):
                rows = zip(*([o[i] for i in tiny.tolist()] for o in operands), strict=True)
                found[tiny] = list(map(float, starmap(function, rows)))
        bits = _encoded(found, f)
        largest = float(values(np.array([f.largest], _U), f)[0])
        for i in np.flatnonzero(np.abs(found) > largest).tolist():
            bits[i] = self._beyond(t, f, made[i])
        bits[np.isnan(found)] = f.canonical_nan
        return bits

    def _beyond(self, t: Apply, f: Format, x: Any) -> int:
        """Return the encoding of an infinity, or of a number above the largest of a format."""
        sign = f.sign_bit if x < 0 else 0
        if self._gmpy2.is_infinite(x):
            return sign | f.infinity if f.has_infinity else overflow(f, sign)
        away = t.mode == ("roundTowardNegative" if sign else "roundTowardPositive")
        return overflow(f, sign) if away or t.mode == "roundTiesToEven" else sign | f.largest


def _encoded(x: Array, f: Format) -> Array:
    """Return the encodings of numbers that a format has; those of other numbers are meaningless."""
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(x), np.abs(x), 0.0)
        exponent = np.where(finite == 0, f.emin, np.maximum(np.frexp(finite)[1] - 1, f.emin))
        units = np.ldexp(finite, f.fraction_bits - exponent).astype(_U)
        bits = units + ((exponent - f.emin).astype(_U) << _U(f.fraction_bits))
    return np.asarray(bits | np.where(np.signbit(x), _U(f.sign_bit), _U(0)))


def _order(x: Array, f: Format) -> Array:
    """Return integers in the order of the values, with -0 just below +0."""
    magnitude = (x & _U(f.magnitudes - 1)).astype(np.int64)
    return np.asarray(np.where(_negative(x, f), -1 - magnitude, magnitude))


def _negative(x: Array, f: Format) -> Array:
    return np.asarray((x & _U(f.sign_bit)) != 0)


def _is_nan(x: Array, f: Format) -> Array:
    return np.asarray((x & _U(f.magnitudes - 1)) >= _U(f.first_nan))


def _is_zero(x: Array, f: Format) -> Array:
    return np.asarray((x & _U(f.magnitudes - 1)) == 0)


def _extreme(number: bool, largest: bool) -> Callable[[Apply, Array, Array], Array]:
    def choose(t: Apply, x: Array, y: Array) -> Array:
        f = format_of(t)
        found = np.where((_order(x, f) > _order(y, f)) == largest, x, y)
        no_x, no_y, nan = _is_nan(x, f), _is_nan(y, f), _U(f.canonical_nan)
        if not number:
            return np.where(no_x | no_y, nan, found)
        return np.where(no_x & no_y, nan, np.where(no_x, y, np.where(no_y, x, found)))

    return choose


def _comparison(compare: Callable[[Array, Array], Any], unordered: bool = False) -> Callable[..., Array]:
    def holds(t: Apply, x: Array, y: Array) -> Array:
        f = t.arguments[0].kind.format
        assert f is not None
        found = compare(*(np.where(_is_zero(z, f), 0, _order(z, f)) for z in (x, y)))
        return np.where(_is_nan(x, f) | _is_nan(y, f), unordered, found)

    return holds


def _predicate(holds: Callable[[Array, Format], Array]) -> Callable[[Apply, Array], Array]:
    def test(t: Apply, x: Array) -> Array:
        f = t.arguments[0].kind.format
        assert f is not None
        return holds(x, f)

    return test


def _magnitude(t: Apply, x: Array) -> Array:
    return x & _U(format_of(t).magnitudes - 1)


# Vectorised functions of the exact back end that programs use most. The emulator's own functions are what is checked
# here.
_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "magnitude": _magnitude,
    "negate": lambda t, x: x ^ _U(format_of(t).sign_bit),
    "copySign": lambda t, x, y: _magnitude(t, x) | (y & _U(format_of(t).sign_bit)),
    "quieten": lambda t, x: x | _U(format_of(t).quiet_bit),
    "maximum": _extreme(number=False, largest=True),
    "minimum": _extreme(number=False, largest=False),
    "maximumNumber": _extreme(number=True, largest=True),
    "minimumNumber": _extreme(number=True, largest=False),
    "select": lambda t, condition, x, y: np.where(condition, x, y),
    "isSignMinus": _predicate(_negative),
    "isNaN": _predicate(_is_nan),
    "isZero": _predicate(_is_zero),
    "isSubnormal": _predicate(lambda x, f: ((x & _U(f.magnitudes - 1)) - _U(1)) < _U(f.least_normal - 1)),
    "isInfinite": _predicate(lambda x, f: (x & _U(f.magnitudes - 1)) == _U(f.infinity) if f.has_infinity else x != x),
    "isFinite": _predicate(lambda x, f: (x & _U(f.magnitudes - 1)) <= _U(f.largest)),
    "compareEqual": _comparison(np.equal),
    "compareNotEqual": _comparison(np.not_equal, unordered=True),
    "compareLess": _comparison(np.less),
    "compareLessEqual": _comparison(np.less_equal),
    "compareGreater": _comparison(np.greater),
    "compareGreaterEqual": _comparison(np.greater_equal),
    "bits": lambda t, x: x,
    "float_of": lambda t, x: x,
    "bitAnd": lambda t, x, y: x & y,
    "bitOr": lambda t, x, y: x | y,
    "bitXor": lambda t, x, y: x ^ y,
    "sameBits": lambda t, x, y: x == y,
    "lessBits": lambda t, x, y: x < y,
    "logicalAnd": lambda t, x, y: x & y,
    "logicalOr": lambda t, x, y: x | y,
    "logicalXor": lambda t, x, y: x ^ y,
    "logicalNot": lambda t, x: ~x,
}
