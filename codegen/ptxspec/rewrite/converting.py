"""Programs with conversions as late as possible, so that NumPy reads the rest from a table or needs fewer steps.

Three rewritings, none of which changes a bit:

- An operand that is widened for an operation is left to an operation on several formats.
- A number that is clamped and rounded with random bits is clamped afterwards.
- A number that is clamped and converted to 16 bits is clamped in 16 bits.

C uses the first of them, and another: a quotient by a power of two becomes a product.
"""

from __future__ import annotations

from dataclasses import replace

from ..model import ROUNDINGS, Format, bits_of
from ..semantics.exact.evaluate import evaluate
from ..semantics.expressions import holds_all
from ..semantics.program import Apply, Const, Let, Term, Var
from .formats import is_usual
from .terms import Lets

# Operations that may have operands of several formats, and the largest precision whose products binary64 contains.
SEVERAL = ("addition", "subtraction", "multiplication", "fusedMultiplyAdd")
_FACTOR = 24


def converting_late(lets: Lets) -> Lets:
    """Return lets that convert as late as possible."""
    return _bounding_late(_bounded_at_random(without_widening(lets, single=True)))


def _bounded_at_random(lets: Lets) -> Lets:
    """Return lets in which `convertStochastic(minimum(maximum(x, -most), most), random)` clamps its result instead:
    random bits keep the order of numbers and do not change numbers of the format."""

    def changed(term: Term) -> Term:
        if not isinstance(term, Apply):
            return term
        if term.function == "convertStochastic" and _shares_places(term):
            x, bounds = _unbounded(term.arguments[0], term.format)
            most = _most(term, bounds)
            if most is not None:
                return replace(term, function="convertBounded", arguments=(x, term.arguments[1], most))
        return term.of(map(changed, term.arguments))

    return tuple(let.of(changed(let.value)) for let in lets)


def _most(t: Apply, bounds: list[Apply]) -> Const | None:
    """Return the largest magnitude of a result with these bounds; None if there is none."""
    f = t.format
    assert f is not None
    if not bounds:
        return Const(t.kind, f.largest + 1) if f.has_infinity and f.overflow == "infinity" else None
    by = {b.function: b.arguments[1] for b in bounds}
    low, high = by.get("maximum"), by.get("minimum")
    if len(bounds) != 2 or not isinstance(low, Const) or not isinstance(high, Const):
        return None
    if low.value != high.value ^ 1 << 31 or high.value >> 31:
        return None
    most = evaluate(Apply(t.kind, "convert", (high,), f, ROUNDINGS[0]), {})
    # The bound must be above all numbers that are rounded by an addition to 2**emin.
    return Const(t.kind, most) if most >= 2 << f.fraction_bits else None


def _bounding_late(lets: Lets) -> Lets:
    """Return lets that clamp a number after its conversion to 16 bits, with the bounds converted: rounding keeps the
    order. The results are then read from a table."""
    found: list[Let] = []
    for let in lets:
        match let.value:
            case Apply(function="convert", arguments=(x,), format=f) as made if f and f.width == 16 and is_usual(f):
                inner, bounds = _unbounded(x, f)
                if bounds:
                    value: Term = Var(made.kind, f"_unbounded_{let.name}")
                    found.append(replace(let, name=f"_unbounded_{let.name}", value=replace(made, arguments=(inner,))))
                    for bound in reversed(bounds):
                        number = Apply(made.kind, "convert", (bound.arguments[1],), f, ROUNDINGS[0])
                        here = Const(made.kind, evaluate(number, {}))
                        value = Apply(made.kind, bound.function, (value, here), f)
                    let = replace(let, value=value)
        found.append(let)
    return tuple(found)


def without_widening(lets: Lets, single: bool = False, short: bool = False) -> Lets:
    """Return lets in which operations read narrow operands without widening. Such operations have tables for 8 bits,
    and are computed at once in binary64, which contains all products. `single` adds fused operations in binary32,
    `short` those in 16 bits for which `is_in_single` is true."""

    def changed(term: Term) -> Term:
        if not isinstance(term, Apply):
            return term
        f, operands = term.kind.format, []
        if (
            term.function in SEVERAL
            and f is not None
            and (f.width <= 8 or (f.width == 64 and term.mode == ROUNDINGS[0]) or (single and _is_fused_single(term)))
        ):
            operands = [_bare(a, f) for a in term.arguments]
        elif (
            short
            and f is not None
            and f.width == 16
            and is_in_single(of := term.of(_bare(a, f) for a in term.arguments))
        ):
            operands = list(of.arguments)
        if operands and all(a.kind.format and a.kind.format.precision <= _FACTOR for a in operands):
            return term.of(operands)
        return term.of(map(changed, term.arguments))

    return tuple(let.of(changed(let.value)) for let in lets)


def is_in_single(t: Apply) -> bool:
    """Return whether binary32 contains the products of these formats, and its range the sums, which are rounded to odd
    in it. A result beyond that range is infinite in a usual format too."""
    formats = [a.kind.format for a in t.arguments]
    if t.function not in SEVERAL or t.kind.format is None or t.kind.width > 16 or t.mode != ROUNDINGS[0]:
        return False
    if any(f is None or f.precision > 12 for f in formats):
        return False
    is_product = t.function == "multiplication"
    ends = [(f.emin - f.fraction_bits, f.emax + 1) for f in formats if f is not None]
    factors = ends if is_product else ends[:-1]
    low = min(sum(least for least, _ in factors), ends[-1][0])
    high = max(sum(most for _, most in factors), ends[-1][1])
    return low >= -149 and (high < 127 or (is_product and is_usual(t.kind.format)))


def _is_fused_single(t: Apply) -> bool:
    f = t.kind.format
    return t.function == "fusedMultiplyAdd" and f is not None and is_usual(f) and f.width == 32 and not t.ftz


def _bare(term: Term, f: Format) -> Term:
    """Return the operand of a conversion to a format that contains all of its numbers, else the term."""
    match term:
        case Apply(function="convert", arguments=(x,)) if x.kind.format and holds_all(f, x.kind.format):
            return x
    return term


def without_quotients(lets: Lets) -> Lets:
    """Return lets in which a quotient by a number of a format without fraction bits is a product with a power of
    two."""

    def changed(term: Term) -> Term:
        match term:
            case Apply(function="division", arguments=(x, Apply(function="convert", arguments=(y,)) as power)):
                if y.kind.format is not None and _has_reciprocals(y.kind.format):
                    most = Const(bits_of(y.kind.width), 2 * y.kind.format.bias)
                    bits = Apply(most.kind, "subtractIntegers", (most, Apply(most.kind, "bits", (y,))))
                    reciprocal = power.of((Apply(y.kind, "float_of", (bits,)),))
                    return replace(term, function="multiplication", arguments=(changed(x), reciprocal))
        return term.of(map(changed, term.arguments)) if isinstance(term, Apply) else term

    return tuple(let.of(changed(let.value)) for let in lets)


def _has_reciprocals(f: Format) -> bool:
    """Return whether all numbers are powers of two, each with its reciprocal, and the next encoding is the NaN."""
    powers = f.fraction_bits == 0 and not (f.signed or f.has_zero or f.has_infinity)
    return powers and f.nans == 1 and f.largest == 2 * f.bias and f.width in (8, 16)


def _unbounded(x: Term, f: Format | None) -> tuple[Term, list[Apply]]:
    """Return a number of binary32 without those bounds around it that are also numbers of a format, and these bounds,
    the outermost first."""
    bounds: list[Apply] = []
    while isinstance(x, Apply) and x.function in ("minimum", "maximum") and x.kind.width == 32:
        if not _has(f, x.arguments[1]):
            break
        bounds.append(x)
        x = x.arguments[0]
    return x, bounds


def _shares_places(t: Apply) -> bool:
    """Return whether the operand is a number of binary32, and that has a place for each random bit."""
    (x, random), f = t.arguments, t.format
    single = x.kind.format is not None and x.kind.width == 32 and is_usual(x.kind.format)
    if not single or f is None or not (f.signed and f.has_subnormals):
        return False
    return f.fraction_bits + random.kind.width <= 23 and f.emin >= -126 and f.emax <= 127


def _has(f: Format | None, number: Term) -> bool:
    """Return whether this is a constant and a finite number of binary32 that is also a normal number of a format."""
    if f is None or not isinstance(number, Const):
        return False
    size = number.value & 0x7FFFFFFF
    exponent, cut = (size >> 23) - 127, 23 - f.fraction_bits
    return f.emin <= exponent <= f.emax and not size & ((1 << cut) - 1)
