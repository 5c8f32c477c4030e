"""Why an element of D is what it is: each step of its sum, with what was cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from . import formats
from .lookup import target_named
from .matrices.forms import Form, form_named
from .operands import OperandError
from .sums import Numbers, Scales, Step, scales_of, steps
from .tensor import bits_of, element_of, halved, mma, numbers_of, row_for, sum_of
from .tensor_cores import ELEMENTS, FORMS


class Term(NamedTuple):
    """A product, with its place k, or a sum of products of which k is the first, times their scales; or what was summed
    before, whose place is None; and what is kept of it."""

    k: int | None
    value: Fraction
    kept: Fraction


class Summed(NamedTuple):
    """A step of a sum: its terms but for zeros, the last bit that is kept, the exact sum of what was kept, and the bits
    of the result. Where a NaN or an infinity decides, there are no terms."""

    terms: tuple[Term, ...]
    unit: Fraction
    total: Fraction
    result: int


class Why(NamedTuple):
    """The result's bits and the steps to it. `last` is C where it is added in a last addition. A term is a sum of
    `group` products."""

    form: Form
    target: str
    result: int
    steps: tuple[Summed, ...]
    last: Fraction | None
    group: int = 1


def mma_steps(
    form: str, row: Any, column: Any, c: Any, *, target: str, scale_a: Any = None, scale_b: Any = None
) -> Why:
    """Return how a target computes one element of D: of a row of A, a column of B and an element of C, as ptxemu.mma
    takes them, and of the scales of the row and of the column. Of a row that is shorter than K, the rest is zero.
    Sparse forms have no steps here.

    Raises what ptxemu.mma raises."""
    f, t = form_named(form, FORMS, ELEMENTS), target_named(target)
    m, n, k = f.size
    given = ((row, "A", f.types[1]), (column, "B", f.types[2]))
    a, b = (_filled(bits_of(x, name, of), name, k) for x, name, of in given)
    if f.is_sparse:
        raise OperandError(f"{f} is sparse, and its steps are not told; ptxemu.mma computes it where that is known")
    one = np.asarray(bits_of(c, "C", f.types[3])).reshape(1)
    wide_a, wide_b = np.zeros((m, k), a.dtype), np.zeros((k, n), b.dtype)
    wide_a[0], wide_b[:, 0] = a, b
    wide_c = np.zeros((m, n), one.dtype)
    wide_c[0, 0] = one[0]
    scales = None
    if f.is_scaled:
        of_row, of_column = (_scales(f, x, name) for x, name in ((scale_a, "scale_a"), (scale_b, "scale_b")))
        scales = Scales(scales_of(of_row[None], f.scale_type), scales_of(of_column[None], f.scale_type))
        scale_a, scale_b = np.tile(of_row, (m, 1)), np.tile(of_column, (n, 1)).T
    result = int(mma(f.spelling, wide_a, wide_b, wide_c, target=t, scale_a=scale_a, scale_b=scale_b)[0, 0])
    with np.errstate(all="ignore"):
        return _why(f, t, a, b, one, scales, result)


def _scales(f: Form, x: Any, name: str) -> Any:
    """Return the scales of a row or of a column. Raises OperandError."""
    if np.shape(x) != (f.scales,):
        given = "nothing" if x is None else np.shape(x)
        raise OperandError(f"{name} of {f} has the shape ({f.scales},) in one sum, and this has {given}")
    return bits_of(x, name, f.scale_type)


def _why(f: Form, target: str, a: Any, b: Any, one: Any, scales: Scales | None, result: int) -> Why:
    """Return the steps to a result that is known."""
    rule = row_for(f, target)
    if rule.exact or rule.chain:
        return Why(f, target, result, (), None)
    of_d, of_c = getattr(formats, f.types[0]), getattr(formats, f.types[3])
    x, y = (numbers_of(z[None], of) for z, of in zip((a, b), f.types[1:3], strict=True))
    if scales and (scales.a.nan.any() or scales.b.nan.any()):
        return Why(f, target, result, (Summed((), Fraction(0), Fraction(0), result),), None, rule.group)
    if not rule.halves:
        found = steps(x, y, one, of_c, of_d, sum_of(rule, element_of(f, f.types[1]).bits), scales)
        return Why(f, target, result, tuple(_told(found, range(0, f.size[2], rule.group))), None, rule.group)
    s, halves = halved(f, target, rule.halves)
    total, every = np.zeros_like(one), list[Summed]()
    for places in halves:
        some = list(steps(x.chosen(places), y.chosen(places), total, of_d, of_d, s))
        every += _told(some, places.tolist())
        total = some[-1].result
    last = numbers_of(one, f.types[3])
    return Why(f, target, result, tuple(every), _value(last, 0) if _is_number(last) else None)


def _filled(x: Any, name: str, k: int) -> Any:
    if x.ndim != 1 or len(x) > k:
        raise OperandError(f"{name} has {k} elements in a sum, and this has the shape {x.shape}")
    return np.concatenate([x, np.zeros(k - len(x), x.dtype)])


def _told(found: Any, places: Sequence[int]) -> Iterator[Summed]:
    for step in found:
        yield _summed(step, places)


def _summed(step: Step, places: Sequence[int]) -> Summed:
    bits = int(step.result[0])
    if not _is_number(step.before) or step.special:
        return Summed((), Fraction(0), Fraction(0), bits)
    unit = Fraction(2) ** int(step.top[0] - step.bits)
    terms = [Term(None, _value(step.before, 0), int(step.added[0]) * unit)]
    for i, (significand, exponent, kept) in enumerate(
        zip(step.terms.significand[0], step.terms.exponent[0], step.products[0], strict=True)
    ):
        value = int(significand) * Fraction(2) ** int(exponent - step.terms.point)
        terms.append(Term(int(places[step.first + i]), value, int(kept) * unit))
    total = sum((t.kept for t in terms), Fraction(0))
    return Summed(tuple(t for t in terms if t.value), unit, total, bits)


def _is_number(x: Numbers) -> bool:
    return not (x.nan.any() or x.infinite.any())


def _value(x: Numbers, i: int) -> Fraction:
    return int(x.significand[i]) * Fraction(2) ** int(x.exponent[i] - x.point)
