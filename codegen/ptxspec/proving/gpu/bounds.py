"""The errors of a bounded variant's results, in the terms of its bound, and whether they are within the bound.

float64 decides almost all of them: its own error is far below the usual distance from a result to the bound. The others
are evaluated exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import Accuracy, Format, Instruction, Kind, Spec, Variant, ieee
from ...model.bounds import Range, parse_bound, parse_range
from ...semantics.compile import Compiler
from ...semantics.exact import evaluate as exact
from ...semantics.exact.rounding import decode, round_to
from ...semantics.program import Apply, Const, Program, Term, Var, variables

Array = NDArray[Any]

# Wide enough that its rounding errors are far below any bound.
_WIDE = ieee("wide", 13, 114, canonical_nan=(1 << 127) - 1)
# Functions of the semantics language in float64; none errs by more than a few units in its last place.
_FLOAT64: Mapping[str, Callable[..., Any]] = {
    "division": np.divide,
    "squareRoot": np.sqrt,
    "rSqrt": lambda x: 1 / np.sqrt(x),
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
_SLACK = 2.0**-44
_NOISE = 2.0**-20
_OUTWARD = ("Negative", "Positive")


@dataclass(frozen=True)
class Bound:
    """A bound. `kind` is the specification's: the unit of the error, and whether it is counted from the exact value or,
    if `rounded`, from the rounded one. `known` is the largest known error of the target's hardware as a multiple of the
    bound; 1 where it is not known to exceed it."""

    kind: str
    bound: Fraction
    range: Range
    known: float = 1.0

    @property
    def in_ulps(self) -> bool:
        return self.kind.startswith("ulp")

    @property
    def rounded(self) -> bool:
        return self.kind == "ulp from the rounded result"

    def tolerance(self, exact: Fraction, f: Format) -> Fraction:
        """Return the error allowed at an exact value. A relative one is at least the spacing of subnormal numbers."""
        if self.kind == "absolute":
            return self.bound
        if self.in_ulps:
            return self.bound * _spacing(exact, f)
        return max(self.bound * abs(exact), Fraction(2) ** (f.emin - f.fraction_bits))

    def tolerances(self, exact: Array, f: Format) -> Array:
        """Return the errors allowed at exact values, as `tolerance` does, in float64."""
        bound = float(self.bound)
        if self.kind == "absolute":
            return np.full(exact.shape, bound)
        if self.in_ulps:
            return bound * _spacings(exact, f)
        return np.maximum(bound * np.abs(exact), 2.0 ** (f.emin - f.fraction_bits))


def _bound(a: Accuracy) -> Bound:
    return Bound(a.kind, parse_bound(a.bound), parse_range(a.range))


@dataclass(frozen=True)
class Judged:
    """The verdict on lanes that differ from the emulator: which are outside of the bound, which of these are no farther
    out than the target's hardware is known to be, which no bound covers, and the error as a multiple of the allowed one
    (inf where no error is allowed, 0 where none is known)."""

    outside: Array
    excused: Array
    open: Array
    error: Array


class Judge:
    """A judge of one lane of a bounded variant on a target."""

    def __init__(self, spec: Spec, instruction: Instruction, variant: Variant, target: str | None) -> None:
        # The function itself, even where the emulator follows the machine code.
        self.program: Program = Compiler(spec).program(instruction, variant, target)
        assert variant.result.kind.format is not None
        self.format: Format = variant.result.kind.format
        self.sources = [s.kind for s in variant.sources]
        self.ftz = any(spec.modifiers[n].ftz for n in spec.effective_modifiers(variant, target))
        self.bounds = [_bound(a) for a in instruction.accuracy if a.selector.matches(variant)]
        broken = spec.exceeded(variant, target)
        if broken and (worst := broken.exceeded):
            bound = _bound(broken)
            known = self.error(worst.operands, worst.result, bound)
            self.bounds = [replace(b, known=known) if b == bound else b for b in self.bounds]

    def judge(self, operands: Sequence[Array], got: Array, want: Array) -> Judged:
        """Return the verdict on lanes in which GPU and emulator differ: `operands`, `got` and `want` are their
        encodings."""
        f = self.format
        xs = [self._operand(x, kind) for x, kind in zip(operands, self.sources, strict=True)]
        floats = [x for x, kind in zip(xs, self.sources, strict=True) if kind.format is not None]
        g, w = values(got, f), values(want, f)
        outside = np.isnan(g) != np.isnan(w)
        same = (np.isnan(g) & np.isnan(w)) | outside
        special = ~np.logical_and.reduce([np.isfinite(x) & (x != 0) for x in floats])
        # Tables of corner cases determine results for zeros and infinities, with or without a bound.
        outside |= special & ~same
        rest = ~special & ~same
        covered = np.zeros(got.shape, np.bool_)
        error = np.where(outside, np.inf, 0.0)
        inexcusable = outside.copy()
        with np.errstate(all="ignore"):
            nearly, known = self._nearly_exact(xs, w)
        for b in self.bounds:
            here = rest & b.range.holds(floats[-1])
            covered |= here
            sure = known & np.isfinite(g)
            reference = nearly
            with np.errstate(all="ignore"):
                if b.rounded:
                    # It must be certain to which neighbour the exact value rounds.
                    sure &= _nearest(nearly * (1 - _SLACK), f) == _nearest(nearly * (1 + _SLACK), f)
                    reference = _nearest(nearly, f)
                elif b.in_ulps:
                    # Spacings double at a power of two, so it must be certain on which side of it the value is.
                    sure &= _spacings(nearly * (1 - _SLACK), f) == _spacings(nearly * (1 + _SLACK), f)
                allowed = b.tolerances(reference, f)
                part = np.abs(g - reference) / allowed
                sure &= b.rounded | (np.abs(part - 1) > _SLACK * (1 + np.abs(nearly) / allowed))
            if self.ftz:
                least = 2.0**f.emin
                sure &= (g != 0) | (np.abs(nearly) < least)
                part = np.where(np.abs(g) < least, np.where(g == 0, 0.0, np.inf), part)
            part = np.where(sure, part, 0.0)
            for i in np.flatnonzero(here & ~sure).tolist():
                part[i] = self.error([int(x[i]) for x in operands], int(got[i]), b)
            error = np.maximum(error, np.where(here, part, 0.0))
            outside |= here & (part > 1)
            # b.known is exact; the errors are as accurate as float64.
            inexcusable |= here & (part > b.known * (1 + _NOISE))
        return Judged(outside, outside & ~inexcusable, rest & ~covered, error)

    def _operand(self, bits: Array, kind: Kind) -> Array:
        """Return a source in float64, flushed if the variant flushes; NaN for anything but floats."""
        if kind.format is None:
            return np.full(bits.shape, np.nan)
        x = values(bits, kind.format)
        return np.where(np.abs(x) < 2.0**kind.format.emin, 0.0, x) if self.ftz else x

    def error(self, operands: Sequence[int], got: int, bound: Bound) -> float:
        """Return the error of a numeric result as a multiple of the allowed one; inf where it is infinite."""
        f, value = self.format, exact_value(self.program, operands)
        if value is None:
            # The emulator's result is an infinity, and this result is not: the error is infinite.
            return math.inf
        if bound.rounded:
            spacing = _spacing(value, f)
            value = round(value / spacing) * spacing
        allowed = bound.tolerance(value, f)
        if f.is_infinite(got):
            # An overflow counts as the first number beyond the range of the format.
            number = Fraction(-2 if got & f.sign_bit else 2) * Fraction(2) ** f.emax
            past = abs(value) >= abs(number) and (value < 0) == (number < 0)
            return 0.0 if past else _quotient(abs(number - value), allowed)
        if self.ftz and f.is_zero(got) and abs(value) - allowed < Fraction(2) ** f.emin:
            return 0.0
        if self.ftz and f.is_subnormal(got):
            return math.inf
        return _quotient(abs(decode(got, f) - value), allowed)

    def _nearly_exact(self, xs: Sequence[Array], w: Array) -> tuple[Array, Array]:
        """Return exact values in float64, and where they are reliable: where they round to the emulator's result, or
        are flushed to it."""
        f = self.format
        if self._core is None or f.fraction_bits > 23:
            return np.zeros(w.shape), np.zeros(w.shape, np.bool_)
        function, places = self._core
        nearly = np.asarray(_FLOAT64[function](*(xs[i] if i is not None else 1.0 for i in places)))
        known = np.isfinite(w) & (np.abs(nearly - w) <= 0.51 * _spacings(w, f))
        if self.ftz:
            known |= (w == 0) & (np.abs(nearly) < 2.0**f.emin)
        return nearly, known

    @cached_property
    def _core(self) -> tuple[str, list[int | None]] | None:
        """The one approximated function, and the index of the operand from which each of its arguments comes (None: the
        number one). None where there is no such function: then everything is evaluated exactly."""
        lets = {let.name: let.value for let in self.program.lets}
        for let in self.program.lets:
            t = let.value
            if isinstance(t, Apply) and t.function in _FLOAT64:
                places = [self._origin(a, lets) for a in t.arguments]
                if -1 not in places:
                    return t.function, places
        return None

    def _origin(self, term: Term, lets: Mapping[str, Term]) -> int | None:
        """Return the index of the one operand that a term comes from; None for the constant one, else -1."""
        if isinstance(term, Const):
            return None if term.kind.format and decode(term.value, term.kind.format) == 1 else -1
        inputs = [i.name for i in self.program.inputs]
        names = variables(term)
        while not names <= {*inputs}:
            names = set().union(*({n} if n in inputs else variables(lets[n]) for n in names))
        return inputs.index(names.pop()) if len(names) == 1 else -1


def values(bits: Array, f: Format) -> Array:
    """Return encodings as float64, which has every value of every format."""
    if f.is_ieee and f.width == 64:
        return bits.view(np.float64)
    magnitude = (bits & bits.dtype.type(f.magnitudes - 1)).astype(np.int64)
    exponent, fraction = magnitude >> f.fraction_bits, magnitude & ((1 << f.fraction_bits) - 1)
    normal = magnitude >= f.least_normal
    significand = np.where(normal, fraction | 1 << f.fraction_bits, fraction * f.has_subnormals)
    found: Array = np.ldexp(significand.astype(np.float64), np.where(normal, exponent, 1) - f.bias - f.fraction_bits)
    if f.has_infinity:
        found[magnitude == f.infinity] = np.inf
    found[magnitude >= f.first_nan] = np.nan
    return np.asarray(np.where(bits & bits.dtype.type(f.sign_bit) != 0, -found, found))


def exact_value(program: Program, operands: Sequence[int]) -> Fraction | None:
    """Return the result of a program without its last rounding, with a relative error below 2^-114; None for a NaN and
    an infinity. An inexact value is represented by another one between the same neighbours of the wide format:
    comparisons with numbers of any format, and the binade, are then right."""
    bits = dict(zip((i.name for i in program.inputs), operands, strict=True))
    lets: dict[str, Term] = {}
    for let in program.lets:
        bits[let.name] = exact.evaluate(let.value, bits)
        lets[let.name] = let.value

    def value(term: Term) -> Fraction | None:
        if isinstance(term, Var) and term.name in lets:
            return value(lets[term.name])
        if isinstance(term, Apply) and term.function == "select":
            return value(term.arguments[1] if exact.evaluate(term.arguments[0], bits) else term.arguments[2])
        if isinstance(term, Apply) and term.function == "convert":
            (converted,) = term.arguments
            return _finite(exact.evaluate(converted, bits), _format(converted)) if converted.kind.format else None
        if isinstance(term, Apply) and term.mode and term.format is not None:
            arguments = [_widened(exact.evaluate(a, bits), _format(a)) for a in term.arguments]
            # The arguments' formats become the wide one too, since functions read each argument in its own format.
            in_wide = tuple(replace(a, kind=a.kind._replace(width=_WIDE.width, format=_WIDE)) for a in term.arguments)
            wide = replace(term, arguments=in_wide, format=_WIDE, ftz=False)
            low, high = (
                _finite(int(exact.FUNCTIONS[term.function](replace(wide, mode=f"roundToward{to}"), *arguments)), _WIDE)
                for to in _OUTWARD
            )
            return None if low is None or high is None else (low + high) / 2
        return _finite(exact.evaluate(term, bits), _format(term))

    return value(program.results[0])


def _format(term: Term) -> Format:
    assert term.kind.format is not None
    return term.kind.format


def _finite(bits: int, f: Format) -> Fraction | None:
    return None if f.is_nan(bits) or f.is_infinite(bits) else decode(bits, f)


def _widened(bits: int, f: Format) -> int:
    """Return a number in the wide format."""
    sign = _WIDE.sign_bit if bits & f.sign_bit else 0
    if f.is_nan(bits) or f.is_infinite(bits):
        return sign | _WIDE.infinity | f.is_nan(bits)
    return round_to(decode(bits, f), _WIDE, "roundTiesToEven", False, bool(sign))


def _quotient(difference: Fraction, allowed: Fraction) -> float:
    if difference > allowed * 2**60:
        return math.inf
    # Rounded, but not across the bound.
    quotient = float(difference / allowed)
    return max(quotient, math.nextafter(1, 2)) if difference > allowed else min(quotient, 1.0)


def _spacing(value: Fraction, f: Format) -> Fraction:
    """Return the distance between neighbours of a format at a value's magnitude, as if it had no largest number."""
    exponent = f.emin
    if value:
        magnitude = abs(value)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > magnitude
    return Fraction(2) ** (max(exponent, f.emin) - f.fraction_bits)


def _nearest(x: Array, f: Format) -> Array:
    """Return each float64 number rounded to nearest in a format, as if that had no largest number."""
    spacing = _spacings(x, f)
    return np.asarray(np.rint(x / spacing) * spacing)


def _spacings(x: Array, f: Format) -> Array:
    """Return the spacings of values, as `_spacing` does, in float64."""
    exponent = np.where(x == 0, f.emin, np.maximum(np.frexp(x)[1] - 1, f.emin))
    return np.asarray(np.ldexp(1.0, exponent - f.fraction_bits))
