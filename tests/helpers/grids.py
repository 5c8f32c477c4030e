"""Operands where rounding goes wrong: special values, ties, edges, cancellation. All as bits, for any format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles.mpfr import decode, encode, unsigned_type


def _signed(patterns: set[int], width: int) -> list[int]:
    return sorted(patterns) + sorted(pattern | 1 << (width - 1) for pattern in patterns)


def special(exponent_bits: int, fraction_bits: int) -> NDArray[Any]:
    """Zeros, subnormals at both ends, neighbours of powers of two, ties, the overflow edge, infinities, NaNs."""
    one = 1 << fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    patterns = {0, 1, 2, 3, one // 2 - 1, one // 2, one // 2 + 1, one - 2, one - 1}
    far = fraction_bits + 1
    exponents = {1, 2, 3, far, far + 1, far + 2, bias // 2, bias // 2 + 1, bias - far - 1, bias - far, bias - far + 1}
    exponents |= {bias - 1, bias, bias + 1, bias + far - 1, bias + far, bias + far + 1, bias + bias // 2}
    exponents |= {2 * bias - far - 1, 2 * bias - far, 2 * bias - 1, 2 * bias}
    for exponent in exponents:
        if 1 <= exponent <= 2 * bias:
            power = exponent << fraction_bits
            patterns |= {power - 1, power, power + 1}
    patterns |= {
        bias * one + one // 2,
        one + one // 2,
        bias * one + 3,
        bias * one + one // 3,
        bias * one + one - 1,
        bias * one + one - 2,
    }
    patterns |= {infinity - 2, infinity - 1, infinity, infinity + 1, infinity + one // 2 - 1, infinity + one // 2}
    patterns |= {infinity + one - 1}
    return np.array(_signed(patterns, 1 + exponent_bits + fraction_bits), unsigned_type(exponent_bits, fraction_bits))


def small(exponent_bits: int, fraction_bits: int) -> NDArray[Any]:
    """Some 40 patterns whose triples hold the traps of fusedMultiplyAdd.

    1.5 * (1 + ulp) ties, and a far addend breaks the tie; (1 + ulp)(1 - ulp) - 1 cancels to the last bit; powers of
    two cancel exactly; halves of the least subnormal and of the largest number's last place sit on the edges.
    """
    one = 1 << fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    unit = bias * one
    last = max((bias - fraction_bits) * one, 1)
    patterns = {0, 1, 2, 3, one // 2, one - 1, one, one + 1, last, max(last - one, 1), max(last - 2 * one, 1)}
    patterns |= {unit - one, unit - 1, unit, unit + 1, unit + one // 2, unit + one, unit + one - 1}
    patterns |= {(2 * bias - fraction_bits - 1) * one, (2 * bias - fraction_bits - 1) * one - 1, 2 * bias * one}
    patterns |= {infinity - 1, infinity, infinity + 1, infinity + one // 2}
    return np.array(
        _signed({p for p in patterns if p >= 0}, 1 + exponent_bits + fraction_bits),
        unsigned_type(exponent_bits, fraction_bits),
    )


def pairs(grid: NDArray[Any]) -> list[NDArray[Any]]:
    return [np.repeat(grid, grid.size), np.tile(grid, grid.size)]


def triples(grid: NDArray[Any]) -> list[NDArray[Any]]:
    return [np.ascontiguousarray(x.ravel()) for x in np.meshgrid(grid, grid, grid, indexing="ij")]


def uniform(rng: np.random.Generator, count: int, exponent_bits: int, fraction_bits: int) -> NDArray[Any]:
    """Random patterns, every one as likely as any other."""
    dtype = unsigned_type(exponent_bits, fraction_bits)
    return rng.integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True)


def ragged(rng: np.random.Generator, count: int, exponent_bits: int, fraction_bits: int) -> NDArray[Any]:
    """Random patterns whose fractions end in runs of zeros or ones, so that ties and exact results occur."""
    bits = uniform(rng, count, exponent_bits, fraction_bits)
    mask = (np.uint64(1) << rng.integers(0, fraction_bits + 1, count).astype(np.uint64)) - np.uint64(1)
    mask = mask.astype(bits.dtype)
    return np.asarray(np.where(rng.random(count) < 0.5, bits & ~mask, bits | mask))


def moderate(rng: np.random.Generator, count: int, exponent_bits: int, fraction_bits: int) -> NDArray[Any]:
    """Numbers with exponents half as far from zero as they may have: products and quotients of two are normal."""
    bits = ragged(rng, count, exponent_bits, fraction_bits)
    bias = (1 << (exponent_bits - 1)) - 1
    exponents = rng.integers(bias - bias // 2, bias + bias // 2, count).astype(bits.dtype)
    kept = bits.dtype.type(1 << (exponent_bits + fraction_bits) | (1 << fraction_bits) - 1)
    return np.asarray(bits & kept | exponents << bits.dtype.type(fraction_bits))


def near(rng: np.random.Generator, count: int, exponent_bits: int, fraction_bits: int) -> list[NDArray[Any]]:
    """Pairs with exponents at most a few more than the precision apart; a quarter cancels but for a few units."""
    width = 1 + exponent_bits + fraction_bits
    x = ragged(rng, count, exponent_bits, fraction_bits)
    y = ragged(rng, count, exponent_bits, fraction_bits)
    top = (1 << exponent_bits) - 1
    apart = rng.integers(-fraction_bits - 3, fraction_bits + 4, count)
    field = np.clip(
        ((x.astype(np.uint64) >> np.uint64(fraction_bits)) & np.uint64(top)).astype(np.int64) + apart, 0, top
    )
    keep = np.uint64(1 << (width - 1) | (1 << fraction_bits) - 1)
    y = ((y.astype(np.uint64) & keep) | (field.astype(np.uint64) << np.uint64(fraction_bits))).astype(x.dtype)
    opposite = (x ^ x.dtype.type(1 << (width - 1))) + rng.integers(-3, 4, count).astype(x.dtype)
    return [x, np.where(rng.random(count) < 0.25, opposite, y)]


def near_triples(rng: np.random.Generator, count: int, exponent_bits: int, fraction_bits: int) -> list[NDArray[Any]]:
    """Factors whose product is in range, and addends near it: cancelling, tying, or a precision or two away."""
    bias = (1 << (exponent_bits - 1)) - 1
    dtype = unsigned_type(exponent_bits, fraction_bits)
    x, y, z = (ragged(rng, count, exponent_bits, fraction_bits) for _ in range(3))
    keep = np.uint64(1 << (exponent_bits + fraction_bits) | (1 << fraction_bits) - 1)
    first = rng.integers(0, 2 * bias + 1, count)
    total = rng.integers(-bias - fraction_bits - 2, bias + 2, count)
    second = np.clip(total - first + 2 * bias, 0, 2 * bias)
    addend = np.clip(
        first + second - bias + rng.integers(-2 * fraction_bits - 10, 2 * fraction_bits + 11, count), 0, 2 * bias
    )
    x, y, z = (
        ((bits.astype(np.uint64) & keep) | (field.astype(np.uint64) << np.uint64(fraction_bits))).astype(dtype)
        for bits, field in ((x, first), (y, second), (z, addend))
    )
    with np.errstate(all="ignore"):
        exact = -(decode(x, exponent_bits, fraction_bits) * decode(y, exponent_bits, fraction_bits))
    largest = decode(np.array(2 * bias * (1 << fraction_bits), dtype), exponent_bits, fraction_bits)
    # Cut to the format's last places, which is near enough to the negated product to cancel all but a few bits.
    unit = np.maximum(np.frexp(exact)[1] - 1, 1 - bias) - fraction_bits
    cut = np.ldexp(np.rint(np.ldexp(exact, -unit)), unit)
    cut = np.where(np.isfinite(exact) & (np.abs(cut) < largest), cut, 0.0)
    cancelling = encode(cut, exponent_bits, fraction_bits) + rng.integers(-1, 2, count).astype(dtype)
    return [x, y, np.where(rng.random(count) < 0.35, cancelling, z)]
