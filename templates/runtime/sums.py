"""Sums of products as tensor cores compute them: aligned to the largest term, truncated, added exactly, rounded once.

All is computed in float64. It can represent every product and every sum of truncated terms, as a whole number of the
last bit that is kept. Matrices are the last two axes of arrays. spec/tensor/arithmetic.yaml describes each parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import matrices_in_c
from .arithmetic import fusedMultiplyAdd
from .binary import BINARY64, Array, Format, roundTiesToEven
from .declared import Declared
from .plain import check_processor
from .tables import every_pattern

Doubles = NDArray[np.float64]
Integers = NDArray[Any]

# The exponent of zero among numbers, far below all others.
_NOTHING = -(1 << 20)
# Elements of results that NumPy computes together.
_AT_ONCE = 1 << 14


class Sum(NamedTuple):
    """The parameters of a sum: `terms` products are added in one step, with `bits` bits kept behind the point of the
    largest term. `zero` are the exponents of zero for results of f32 and f16; `kept` are the fraction bits of an f32
    result that is truncated to fewer. `group` products are added exactly before they are scaled."""

    terms: int
    bits: int
    zero: Mapping[str, int]
    kept: int | None = None
    group: int = 1


class Numbers(NamedTuple):
    """The values of encodings, and their exponents; a subnormal number has the least exponent of its format."""

    value: Doubles
    exponent: Integers

    def placed(self, change: Callable[[Any], Any]) -> Numbers:
        """Return the numbers with their arrays rearranged."""
        return Numbers(change(self.value), change(self.exponent))

    def along_rows(self, places: Any) -> Numbers:
        """Return the numbers at some places along rows."""
        return self.placed(lambda x: x[..., places])

    def along_columns(self, places: Any) -> Numbers:
        """Return the numbers at some places along columns."""
        return self.placed(lambda x: x[..., places, :])

    def times(self, scales: Numbers) -> Numbers:
        """Return the numbers multiplied by scales, with the exponents added."""
        return Numbers(self.value * scales.value, self.exponent + scales.exponent)

    def grouped(self) -> Numbers:
        """Return the numbers with one exponent for all but zeros: where products are added exactly before they are
        scaled, only the exponents of their scales align the sum."""
        return self._replace(exponent=np.where(self.exponent == _NOTHING, np.int32(_NOTHING), np.int32(0)))


class Step(NamedTuple):
    """A step of a sum: the places of its products, the sum before, the last bit that is kept, and the bits of the
    result."""

    places: range
    before: Doubles
    unit: Doubles
    result: Array


def numbers(bits: Array, f: Format | Declared) -> Numbers:
    """Return the values of encodings."""
    if f.width > 16:
        return _numbers(bits, f)
    return _every_number(f).placed(lambda x: x.take(bits, mode="wrap"))


@cache
def _every_number(f: Format | Declared) -> Numbers:
    return _numbers(every_pattern(f.width), f)


def _numbers(bits: Array, f: Format | Declared) -> Numbers:
    x = bits.astype(np.int64)
    if isinstance(f, Declared):
        nans, has_infinity, has_zero = f.nans, f.has_infinity, f.has_zero
    else:
        nans, has_infinity, has_zero = (1 << f.fraction_bits) - 1, True, True
    magnitudes = 1 << (f.exponent_bits + f.fraction_bits)
    magnitude = x & (magnitudes - 1)
    field = magnitude >> f.fraction_bits
    is_normal = (field > 0) | (not has_zero)
    significand = magnitude & ((1 << f.fraction_bits) - 1) | is_normal.astype(np.int64) << f.fraction_bits
    exponent = np.maximum(field, int(has_zero)) - f.bias
    value = significand * _power(exponent - f.fraction_bits)
    if has_infinity:
        value[magnitude == magnitudes - nans - 1] = np.inf
    value[magnitude >= magnitudes - nans] = np.nan
    value[(x & magnitudes) != 0] *= -1
    return Numbers(value, np.where(significand == 0, _NOTHING, exponent).astype(np.int32))


def _power(exponents: Integers) -> Doubles:
    """Return powers of two, which must be normal numbers."""
    found: Doubles = (exponents.astype(np.int64) + BINARY64.bias << BINARY64.fraction_bits).view(np.float64)
    return found


def summed(a: Numbers, b: Numbers, c: Array, of_c: Format, result: Format, s: Sum) -> Array:
    """Return the sums of C and the products of rows of A and columns of B, in the format of the result."""
    in_c = matrices_in_c.ufunc("sums")
    if in_c is not None:
        found: Array = in_c(*a, *b, c.astype(np.uint32, copy=False), _figures(of_c, result, s))
        return found.astype(result.unsigned, copy=False)

    def last(*x: Array) -> Array:
        *_, step = steps(Numbers(*x[:2]), Numbers(*x[2:4]), x[4], of_c, result, s)
        return step.result

    return _in_blocks(last, (*a, *b, c), result)


def _figures(of_c: Format, result: Format, s: Sum) -> Integers:
    """Return the parameters of a sum as a row of numbers, for the extension."""
    of_sum = s.terms, s.bits, s.zero[result.name], s.group, _is_nearest(result), _lost(result, s.kept)
    formats = of_c.exponent_bits, of_c.fraction_bits, result.exponent_bits, result.fraction_bits
    return np.array([[*of_sum, *formats, result.canonical_nan]], np.int64)


def _is_nearest(result: Format) -> bool:
    """Return whether sums are rounded to nearest; else they are truncated."""
    return result.width == 16


def _lost(result: Format, kept: int | None) -> int:
    """Return how many fraction bits of a truncated result are cut off."""
    return 0 if kept is None or _is_nearest(result) else result.fraction_bits - kept


def steps(a: Numbers, b: Numbers, c: Array, of_c: Format, result: Format, s: Sum) -> Iterator[Step]:
    """Yield the steps of sums; the result of each step is a term of the next one. A stack of matrices has its axis
    behind those of the matrices."""
    before = numbers(c, of_c)
    for first in range(0, len(b.value), s.terms):
        places = range(first, min(first + s.terms, len(b.value)))
        top = np.maximum(before.exponent, np.int32(s.zero[result.name]))
        for k in places:
            np.maximum(top, a.exponent[:, k, None] + b.exponent[k], out=top)
        scale = _power(s.bits - top)
        total = np.trunc(before.value * scale)
        for k in places[:: s.group]:
            term = a.value[:, k, None] * b.value[k]
            for i in range(k + 1, k + s.group):
                term += a.value[:, i, None] * b.value[i]
            term *= scale
            total += np.trunc(term, out=term)
        unit = _power(top - s.bits)
        found = _rounded(total * unit, result, _lost(result, s.kept))
        yield Step(places, before.value, unit, found)
        before = numbers(found, result)


def _rounded(exact: Doubles, result: Format, lost: int) -> Array:
    """Return sums in the format of the result: rounded to nearest, or rounded toward zero and `lost` bits shorter."""
    bits: Array
    if _is_nearest(result):
        bits = exact.astype(np.float16).view(np.uint16)
    else:
        nearest = exact.astype(np.float32)
        beyond = (np.abs(nearest.astype(np.float64)) > np.abs(exact)) & (np.abs(exact) < 2.0**128)
        bits = nearest.view(np.uint32) - beyond.astype(np.uint32)
    # A zero result is positive.
    bits[(bits & result.magnitude_mask) == 0] = 0
    bits = bits >> result.unsigned.type(lost) << result.unsigned.type(lost)
    bits[np.isnan(exact)] = result.nan
    return bits


def chained(a: Array, b: Array, c: Array, f: Format) -> Array:
    """Return the results of a chain of fused multiply-adds, one for each product in the order of K, for bits of
    binary64."""
    in_c = matrices_in_c.ufunc("chain")
    if in_c is not None:
        found: Array = in_c(*(x.view(np.float64) for x in (a, b, c)))
        return np.where(np.isnan(found), f.nan, found.view(f.unsigned))

    def chain(a: Array, b: Array, c: Array) -> Array:
        for k in range(len(b)):
            x, y, z = map(np.ascontiguousarray, np.broadcast_arrays(a[:, k, None], b[k], c))
            c = fusedMultiplyAdd(x, y, z, f, roundTiesToEven, False)
        return c

    return _in_blocks(chain, (a, b, c), f)


def _in_blocks(function: Callable[..., Array], matrices: Sequence[Array], result: Format) -> Array:
    """Return the results of a function of stacks of matrices, which broadcast; the last ones are of the result's size.
    Each call gets so few that its intermediate results stay in the cache. The stack is the last axis, where NumPy is
    quickest, because it is longer than rows are."""
    check_processor()
    size = matrices[-1].shape[-2:]
    shapes = [x.shape[:-2] for x in matrices]
    shape = np.broadcast_shapes(*shapes)
    places = [np.broadcast_to(np.arange(math.prod(own)).reshape(own), shape).ravel() for own in shapes]
    stacks = [np.ascontiguousarray(np.moveaxis(x.reshape(-1, *x.shape[-2:]), 0, -1)) for x in matrices]
    found = np.empty((math.prod(shape), *size), result.unsigned)
    at_once = max(1, _AT_ONCE // math.prod(size))
    for first in range(0, len(found), at_once):
        some = slice(first, first + at_once)
        made = function(*(x.take(p[some], -1) for x, p in zip(stacks, places, strict=True)))
        found[some] = np.moveaxis(made, -1, 0)
    return found.reshape(*shape, *size)
