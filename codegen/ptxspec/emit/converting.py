"""Programs whose conversions come as late as they can, where NumPy has the rest in a table, or does it in fewer steps.

Three rewritings, none of which changes a bit:

- What is widened for an operation is left to an operation on several formats.
- What random bits round is moved by them first, bounded then, and converted at last.
- What is bounded and converted to 16 bits is bounded there.

C takes the first of them, and another: a quotient by a power of two is a product.
"""

from __future__ import annotations

from dataclasses import replace

from ..model import ROUNDINGS, Format, bits_of
from ..semantics.exact.evaluate import evaluate
from ..semantics.expressions import holds_all
from ..semantics.program import Apply, Const, Let, Term, Var

Lets = tuple[Let, ...]
# (x, random): a number of binary32 that `format` has too, or one beyond its largest.
MOVE = "movedBy"
# What may have operands of several formats, and the precision of those whose products binary64 has.
SEVERAL = ("addition", "subtraction", "multiplication", "fusedMultiplyAdd")
_FACTOR = 24


def converting_late(lets: Lets) -> Lets:
    return _bounding_late(_moving(without_widening(lets)))


def is_usual(f: Format) -> bool:
    """Declared like IEEE 754's, in as many bits as a processor's integers have: ptxemu has code of its own for it."""
    return f.is_ieee and f.width in (8, 16, 32, 64) and f.exponent_bits > 1 and f.fraction_bits > 0


def _moving(lets: Lets) -> Lets:
    """`convertStochastic(minimum(maximum(x, low), high), random)` as a conversion of what `MOVE` makes of x. Random
    bits keep the order of numbers, and leave alone those that the format has."""

    found: list[Let] = []

    def changed(term: Term, let: Let) -> Term:
        if not isinstance(term, Apply):
            return term
        if term.function != "convertStochastic" or not _moves(term):
            return term.of(changed(a, let) for a in term.arguments)
        x, bounds = _unbounded(term.arguments[0], term.format)
        random = term.arguments[1]
        moved = Var(x.kind, f"_moved_{let.name}")
        found.append(replace(let, name=moved.name, value=Apply(x.kind, MOVE, (x, random), term.format)))
        value: Term = moved
        for bound in reversed(bounds):
            value = bound.of((value, bound.arguments[1]))
        return Apply(term.kind, "convert", (value,), term.format, ROUNDINGS[0])

    for let in lets:
        value = changed(let.value, let)
        found.append(let.of(value))
    return tuple(found)


def _bounding_late(lets: Lets) -> Lets:
    """What is converted to 16 bits is bounded there, by numbers that are there too: no rounding changes the order. The
    results are read in a table then."""
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


def without_widening(lets: Lets) -> Lets:
    """What is widened for an operation is computed by one on several formats, where that has tables, or does it at
    once: in binary64, which has all products, and in 8 bits."""

    def changed(term: Term) -> Term:
        if not isinstance(term, Apply):
            return term
        f, operands = term.kind.format, []
        if (
            term.function in SEVERAL
            and f is not None
            and (f.width <= 8 or (f.width == 64 and term.mode == ROUNDINGS[0]))
        ):
            operands = [_bare(a, f) for a in term.arguments]
        if operands and all(a.kind.format and a.kind.format.precision <= _FACTOR for a in operands):
            return term.of(operands)
        return term.of(map(changed, term.arguments))

    return tuple(let.of(changed(let.value)) for let in lets)


def _bare(term: Term, f: Format) -> Term:
    """What is converted to a format that has all of its numbers."""
    match term:
        case Apply(function="convert", arguments=(x,)) if x.kind.format and holds_all(f, x.kind.format):
            return x
    return term


def without_quotients(lets: Lets) -> Lets:
    """A quotient by a number of a format without fractions is a product with a power of two."""

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
    """Are all numbers powers of two, with the reciprocal of each among them, and the NaN behind them?"""
    powers = f.fraction_bits == 0 and not (f.signed or f.has_zero or f.has_infinity)
    return powers and f.nans == 1 and f.largest == 2 * f.bias and f.width in (8, 16)


def _unbounded(x: Term, f: Format | None) -> tuple[Term, list[Apply]]:
    """A number of binary32 without the bounds around it that a format has too, and these from outside inwards."""
    bounds: list[Apply] = []
    while isinstance(x, Apply) and x.function in ("minimum", "maximum") and x.kind.width == 32:
        if not _has(f, x.arguments[1]):
            break
        bounds.append(x)
        x = x.arguments[0]
    return x, bounds


def _moves(t: Apply) -> bool:
    """Are the places of random bits those of binary32, of which the operand is a number?"""
    (x, random), f = t.arguments, t.format
    single = x.kind.format is not None and x.kind.width == 32 and is_usual(x.kind.format)
    return single and f is not None and f.fraction_bits + random.kind.width <= 23 and f.emin >= -126 and f.emax <= 127


def _has(f: Format | None, number: Term) -> bool:
    """Is this a constant, a finite number of binary32 that a format has too, as one of its normal numbers?"""
    if f is None or not isinstance(number, Const):
        return False
    size = number.value & 0x7FFFFFFF
    exponent, cut = (size >> 23) - 127, 23 - f.fraction_bits
    return f.emin <= exponent <= f.emax and not size & ((1 << cut) - 1)
