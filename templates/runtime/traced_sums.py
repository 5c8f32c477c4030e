"""The derivation of an element of D: each step of its sum, and the truncated terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from . import formats
from .matrices.forms import Form, form_named
from .operands import OperandError
from .rows import target_named
from .sums import Numbers, Step, steps
from .tensor import bits_of, converted, element_of, halved, mma, numbers_of, row_for, scales_of, sum_of
from .tensor_cores import ELEMENTS, FORMS


class Term(NamedTuple):
    """A term of a sum and what is kept of it. It is a product, with its place k, or a sum of products of which k is the
    first, multiplied by their scales; or the sum so far, whose k is None."""

    k: int | None
    value: Fraction
    kept: Fraction


class Summed(NamedTuple):
    """A step of a sum: its nonzero terms, the last bit that is kept, the exact sum of the kept parts, and the bits of
    the result. Where a NaN or an infinity decides, there are no terms."""

    terms: tuple[Term, ...]
    unit: Fraction
    total: Fraction
    result: int


class Why(NamedTuple):
    """The bits of the result and the steps to it. `last` is C where it is added in a last addition. A term is a sum of
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
    """Return how a target computes one element of D from a row of A, a column of B and an element of C, which are as
    for ptxemu.mma, and from the scales of the row and of the column. A row shorter than K is filled with zeros. Sparse
    forms have no steps here.

    Raises what ptxemu.mma raises."""
    f, t = form_named(form, FORMS, ELEMENTS), target_named(target)
    m, n, k = f.size
    given = ((row, "A", f.types[1]), (column, "B", f.types[2]))
    a, b = (_filled(bits_of(x, name, of), name, k) for x, name, of in given)
    if f.is_sparse:
        raise OperandError(
            f"{f} is sparse, and its steps are not available; ptxemu.mma computes it where that is known"
        )
    one = np.asarray(bits_of(c, "C", f.types[3])).reshape(1)
    wide_a, wide_b = np.zeros((m, k), a.dtype), np.zeros((k, n), b.dtype)
    wide_a[0], wide_b[:, 0] = a, b
    wide_c = np.zeros((m, n), one.dtype)
    wide_c[0, 0] = one[0]
    scales = None
    if f.is_scaled:
        of_row, of_column = (_scales(f, x, name) for x, name in ((scale_a, "scale_a"), (scale_b, "scale_b")))
        blocks = np.arange(k) // (k // f.scales)
        x, y = (scales_of(of[blocks], f.scale_type) for of in (of_row, of_column))
        scales = x.placed(lambda z: z[None, :, None]), y.placed(lambda z: z[:, None, None])
        scale_a, scale_b = np.tile(of_row, (m, 1)), np.tile(of_column, (n, 1)).T
    result = int(mma(f.spelling, wide_a, wide_b, wide_c, target=t, scale_a=scale_a, scale_b=scale_b)[0, 0])
    with np.errstate(all="ignore"):
        return _why(f, t, a, b, one, scales, result)


def _scales(f: Form, x: Any, name: str) -> Any:
    """Return the scales of a row or of a column. Raises OperandError."""
    if np.shape(x) != (f.scales,):
        given = "nothing" if x is None else np.shape(x)
        raise OperandError(f"{name} of {f} must have the shape ({f.scales},) in one sum, not {given}")
    return bits_of(x, name, f.scale_type)


def _why(f: Form, target: str, a: Any, b: Any, one: Any, scales: tuple[Numbers, Numbers] | None, result: int) -> Why:
    """Return the steps to a known result."""
    rule = row_for(f, target)
    if rule.exact or rule.chain:
        return Why(f, target, result, (), None)
    of_d, of_c = getattr(formats, f.types[0]), getattr(formats, f.types[3])
    row, column, c = a[None, :, None], b[:, None, None], one[None, None]
    if not rule.halves:
        x, y = numbers_of(row, f.types[1]), numbers_of(column, f.types[2])
        if rule.group > 1:
            x, y = x.grouped(), y.grouped()
        if scales:
            x, y = x.times(scales[0]), y.times(scales[1])
        found = steps(x, y, c, of_c, of_d, sum_of(rule, element_of(f, f.types[1]).bits))
        return Why(f, target, result, tuple(_told(found, x, y, range(f.size[2]), rule.group)), None, rule.group)
    s, halves = halved(f, target, rule.halves)
    total, every = np.zeros_like(c), list[Summed]()
    for places in halves:
        x = converted(row[:, places], f.types[1], rule.halves)
        y = converted(column[places], f.types[2], rule.halves)
        some = list(steps(x, y, total, of_d, of_d, s))
        every += _told(some, x, y, places.tolist())
        total = some[-1].result
    last = float(numbers_of(one, f.types[3]).value[0])
    return Why(f, target, result, tuple(every), Fraction(last) if math.isfinite(last) else None)


def _filled(x: Any, name: str, k: int) -> Any:
    if x.ndim != 1 or len(x) > k:
        raise OperandError(f"{name} must have {k} elements in a sum, but it has the shape {x.shape}")
    return np.concatenate([x, np.zeros(k - len(x), x.dtype)])


def _told(found: Iterable[Step], x: Numbers, y: Numbers, places: Sequence[int], group: int = 1) -> Iterator[Summed]:
    """Yield the steps of the sum of products of a row and a column with these places. Each `group` of products is one
    term, at the place of the first."""
    products = (x.value.ravel() * y.value.ravel()).tolist()
    for step in found:
        yield _summed(step, {places[k]: math.fsum(products[k : k + group]) for k in step.places[::group]})


def _summed(step: Step, products: Mapping[int, float]) -> Summed:
    before, bits = step.before.item(), int(step.result.item())
    if not all(map(math.isfinite, (before, *products.values()))):
        return Summed((), Fraction(0), Fraction(0), bits)
    unit = Fraction(step.unit.item())
    terms = [_term(None, before, unit), *(_term(k, value, unit) for k, value in products.items())]
    total = sum((t.kept for t in terms), Fraction(0))
    return Summed(tuple(t for t in terms if t.value), unit, total, bits)


def _term(k: int | None, value: float, unit: Fraction) -> Term:
    exact = Fraction(value)
    return Term(k, exact, int(exact / unit) * unit)
