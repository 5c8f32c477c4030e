"""Sums of products as tensor cores compute them: aligned to the largest term, cut, added exactly, rounded once.

Arrays of numbers have the products of a sum along their last axis. What each figure is stands in
spec/tensor/arithmetic.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arithmetic import fusedMultiplyAdd
from .binary import Array, Format, roundTiesToEven
from .declared import Declared

Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Sum(NamedTuple):
    """The figures of a sum: the products that are added in one step, the bits that are kept behind the point of the
    largest term, the exponents that zero has beside results of f32 and f16, and, where a result of f32 is cut to fewer,
    the bits of its fraction. `group` products are added exactly before they are scaled."""

    terms: int
    bits: int
    zero: Mapping[str, int]
    kept: int | None = None
    group: int = 1


class Numbers(NamedTuple):
    """The values of encodings: `significand` times 2 to the power of `exponent`, with the sign in the significand; NaNs
    and infinities by themselves."""

    significand: Integers
    exponent: Integers
    point: int
    nan: Truths
    infinite: Truths

    def chosen(self, places: Any) -> Numbers:
        """Return the numbers at some places of the last axis."""
        return self.placed(lambda x: x[..., places])

    def placed(self, change: Callable[[Any], Any]) -> Numbers:
        """Return the numbers with another arrangement of their arrays."""
        return Numbers(
            change(self.significand), change(self.exponent), self.point, change(self.nan), change(self.infinite)
        )


class Scales(NamedTuple):
    """The scales of rows of A and of columns of B, along the last axis those of parts of K."""

    a: Numbers
    b: Numbers


class Terms(NamedTuple):
    """The terms of a sum. Those that are `zero` have an exponent of their own."""

    significand: Integers
    exponent: Integers
    point: int
    zero: Truths


def scales_of(bits: Array, of: str) -> Numbers:
    """Return the values of scales: powers of two, ue8m0, or e4m3 without a sign, ue4m3."""
    x = bits.astype(np.int64)
    finite: Truths = np.zeros(x.shape, np.bool_)
    if of == "ue8m0":
        return Numbers(np.ones_like(x), x - 127, 0, x == 0xFF, finite)
    x &= 0x7F
    return Numbers(x & 7 | np.where(x >> 3 > 0, 8, 0), np.maximum(x >> 3, 1) - 7, 3, x == 0x7F, finite)


def numbers(bits: Array, f: Format | Declared) -> Numbers:
    """Return the values of encodings. The least exponent is that of subnormal numbers, whose leading bit is none."""
    x = bits.astype(np.int64)
    field = (x >> f.fraction_bits) & ((1 << f.exponent_bits) - 1)
    fraction = x & ((1 << f.fraction_bits) - 1)
    significand = fraction | ((field > 0).astype(np.int64) << f.fraction_bits)
    negative = (x >> (f.exponent_bits + f.fraction_bits)) & 1
    magnitude = x & ((1 << (f.exponent_bits + f.fraction_bits)) - 1)
    largest = (1 << (f.exponent_bits + f.fraction_bits)) - 1
    nans = f.nans if isinstance(f, Declared) else (1 << f.fraction_bits) - 1
    has_infinity = f.has_infinity if isinstance(f, Declared) else True
    nan = magnitude > largest - nans
    infinite = magnitude == largest - nans if has_infinity else np.zeros(magnitude.shape, np.bool_)
    return Numbers(
        np.where(negative == 1, -significand, significand),
        np.maximum(field, 1) - f.bias,
        f.fraction_bits,
        nan,
        infinite,
    )


class Step(NamedTuple):
    """A step of a sum: the place of its first product, its terms, what was summed before, the exponent of the largest
    term and the bits kept behind its point, products and what was before as integers of the last of these bits, the
    result's bits, and whether a product is of a NaN or an infinity."""

    first: int
    terms: Terms
    before: Numbers
    top: Integers
    bits: int
    products: Integers
    added: Integers
    result: Array
    special: bool


def summed(
    a: Numbers, b: Numbers, c: Array, of_c: Format, result: Format, s: Sum, scales: Scales | None = None
) -> Array:
    """Return the sums of the products of two arrays along their last axis and of what was summed before, in its own
    format, step by step: the result of one is a term of the next one. What has scales is summed in one step."""
    *_, last = steps(a, b, c, of_c, result, s, scales)
    if scales:
        nan = scales.a.nan.any(-1) | scales.b.nan.any(-1)
        return np.where(nan, last.result.dtype.type(result.canonical_nan), last.result)
    return last.result


def steps(
    a: Numbers, b: Numbers, c: Array, of_c: Format, result: Format, s: Sum, scales: Scales | None = None
) -> Iterator[Step]:
    """Yield the steps of a sum."""
    before = numbers(c, of_c)
    for first in range(0, a.significand.shape[-1], s.terms):
        x, y = (z.chosen(slice(first, first + s.terms)) for z in (a, b))
        terms = _products(x, y)
        found = _step(first, x, y, _scaled(terms, scales, s.group) if scales else terms, before, result, s)
        yield found
        before = numbers(found.result, result)


def _products(a: Numbers, b: Numbers) -> Terms:
    significand = a.significand * b.significand
    return Terms(significand, a.exponent + b.exponent, a.point + b.point, significand == 0)


def _scaled(terms: Terms, scales: Scales, group: int) -> Terms:
    """Return products with the exponents of their scales, or sums of each `group` of them times their scales."""
    significand, exponent, point, zero = terms
    if group > 1:
        apart = (*significand.shape[:-1], -1, group)
        least = exponent.min()
        significand = (significand << (exponent - least)).reshape(apart).sum(-1)
        exponent, zero = np.full(significand.shape, least), np.asarray(zero.reshape(apart).all(-1))
    a, b = scales
    each = significand.shape[-1] // a.significand.shape[-1]
    factor, more = a.significand * b.significand, a.exponent + b.exponent
    return Terms(
        significand * np.repeat(factor, each, -1),
        exponent + np.repeat(more, each, -1),
        point + a.point + b.point,
        np.asarray(zero | np.repeat(factor == 0, each, -1)),
    )


def chained(a: Array, b: Array, c: Array, f: Format) -> Array:
    """Return the results of a fused multiply-add for each product, in their order along the last axis."""
    for k in range(a.shape[-1]):
        x, y, z = (np.ascontiguousarray(x) for x in np.broadcast_arrays(a[..., k], b[..., k], c))
        c = fusedMultiplyAdd(x, y, z, f, roundTiesToEven, False)
    return c


def _step(first: int, a: Numbers, b: Numbers, terms: Terms, before: Numbers, result: Format, s: Sum) -> Step:
    zero = s.zero[result.name]
    exponents = np.where(terms.zero, zero, terms.exponent)
    exponent = np.where(before.significand == 0, zero, before.exponent)
    top = np.maximum(exponents.max(-1, initial=zero), exponent)
    products = _aligned(terms.significand, top[..., None] - exponents, s.bits - terms.point)
    added = _aligned(before.significand, top - exponent, s.bits - before.point)
    total = products.sum(-1) + added
    exact = np.ldexp(total.astype(np.float64), (top - s.bits).astype(np.int32))
    found = _rounded(exact, result, s.kept)
    special = bool((a.nan | b.nan | a.infinite | b.infinite).any())
    if special or before.nan.any() or before.infinite.any():
        found = _of_specials(a, b, before, found, result)
    return Step(first, terms, before, top, s.bits, products, added, found, special)


def _aligned(significands: Integers, below: Integers, bits: int) -> Integers:
    """Return terms as integers, so many bits longer, and cut toward zero by how far they are below the largest."""
    magnitudes: Integers = np.abs(significands)
    if bits >= 0:
        magnitudes = magnitudes << bits
    else:
        below = below - bits
    cut: Integers = magnitudes >> np.minimum(below, 62)
    return np.where(significands < 0, -cut, cut)


def _rounded(exact: NDArray[np.float64], result: Format, kept: int | None) -> Array:
    """Return sums in the format of the result: of f32 cut toward zero, of f16 rounded to the nearest."""
    if result.width == 16:
        half = exact.astype(np.float16)
        # A result that is rounded to nothing is positive.
        return np.where(half == 0, np.float16(0), half).view(np.uint16)
    nearest = exact.astype(np.float32)
    beyond = (np.abs(nearest.astype(np.float64)) > np.abs(exact)) & (np.abs(exact) < 2.0**128)
    bits = nearest.view(np.uint32) - beyond.astype(np.uint32)
    # A result that is cut to nothing is positive.
    bits = np.where(bits << np.uint32(1) == 0, np.uint32(0), bits)
    if kept is not None:
        bits &= np.uint32(0xFFFFFFFF & -(1 << (result.fraction_bits - kept)))
    return bits


def _of_specials(a: Numbers, b: Numbers, c: Numbers, found: Array, result: Format) -> Array:
    """Return results with those of NaNs and infinities in their places."""
    zero = ((a.significand == 0) & b.infinite) | ((b.significand == 0) & a.infinite)
    infinite = a.infinite | b.infinite
    negative = (a.significand < 0) != (b.significand < 0)
    sign = _signs(c)
    upper = (infinite & ~negative).any(-1) | (c.infinite & ~sign)
    lower = (infinite & negative).any(-1) | (c.infinite & sign)
    nan = (a.nan | b.nan | zero).any(-1) | c.nan | (upper & lower)
    unsigned = found.dtype.type
    infinity = unsigned(((1 << result.exponent_bits) - 1) << result.fraction_bits)
    found = np.where(upper, infinity, found)
    found = np.where(lower, infinity | unsigned(1 << (result.width - 1)), found)
    return np.where(nan, unsigned(result.canonical_nan), found)


def _signs(x: Numbers) -> Any:
    return x.significand < 0
