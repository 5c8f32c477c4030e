"""Random operands as functions of their place: `i` is a lane's place in its stream. All are encodings in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import FixedPoint, Format, Kind

Array = NDArray[Any]

_U = np.uint64
_GOLDEN = 0x9E3779B97F4A7C15


def uniform(kind: Kind, place: int, i: Array) -> Array:
    """Return random bits; `place` is the operand's index among the sources."""
    return words(i, 1 + place) >> _U(64 - kind.width)


def words(i: Array, salt: int) -> Array:
    """Return SplitMix64 (Steele, Lea, Flood, 2014) as a function of its counter."""
    x = (i + _U(1)) * _U(_GOLDEN) + _U(salt * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U(27))) * _U(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> _U(31)))


def meeting(formats: Sequence[Format], i: Array) -> list[Array]:
    """Return two or three numbers whose fractions end in runs of zeros or ones. Their exponents differ by at most the
    precision and a few more; a quarter of the rows cancels to a few units."""
    choice = words(i, 16)
    f, *_, g = formats
    precision = max(h.precision for h in formats)
    x, *others = (_ragged(h, i, 17 + 2 * k) for k, h in enumerate(formats))
    small = _U(1) + (choice >> _U(2) & _U(7))
    opposite = (_moved(x, f, g) ^ _U(g.sign_bit)) + small - _U(4)
    opposite &= _U((1 << g.width) - 1)
    cancels = (choice & _U(3)) == 0
    apart = _below(choice, 16, 2 * precision + 5) - precision - 2
    if len(formats) == 2:
        y = _with_exponent(g, others[0], _exponent(f, x) - f.bias + g.bias + apart)
        return [x, np.where(cancels, opposite, y)]
    # The product's exponent is anywhere in range, the addend's near it; in rows that cancel, one factor is near one.
    h, (y, z) = formats[1], others
    total = _below(choice, 32, 2 * f.bias + precision) - f.bias - precision
    y = _with_exponent(h, y, total - _exponent(f, x) + f.bias + h.bias)
    near_one = (h.bias << h.fraction_bits) + _below(choice, 48, 8).astype(_U) - _U(2)
    y = np.where(cancels, near_one & _U((1 << h.width) - 1), y)
    z = _with_exponent(g, z, _exponent(f, x) - f.bias + _exponent(h, y) - h.bias + g.bias + 2 * apart)
    return [x, y, np.where(cancels, opposite, z)]


def within(f: Format, to: Kind, i: Array) -> Array:
    """Return numbers, most of them in the range of another kind, with fractions that end in runs of zeros or ones."""
    if to.format is not None:
        low, high = to.format.emin - to.format.precision - 2, to.format.emax + 2
    else:
        assert to.fixed is not None
        low, high = -to.fixed.point - 2, to.fixed.width - to.fixed.point + 1
    low, high = max(low, f.emin - 1), min(high, f.emax + 1)
    exponent = _below(words(i, 16), 16, high - low + 1) + low
    return _with_exponent(f, _ragged(f, i, 17), exponent + f.bias)


def of_every_length(f: FixedPoint, place: int, i: Array) -> Array:
    """Return integers of all lengths, many of which end in runs of zeros or ones."""
    bits, run = words(i, 32 + 2 * place), words(i, 33 + 2 * place)
    shift = _U(64 - f.width) + _below(run, 16, f.width).astype(_U)
    shifted = (bits.view(np.int64) >> shift.astype(np.int64)).view(_U) if f.signed else bits >> shift
    return np.asarray(_ending_in_runs(shifted, run, f.width) & _U((1 << f.width) - 1))


def _below(words: Array, shift: int, limit: int) -> Array:
    """Return integers from 0 up to a limit of a few thousand, from sixteen bits of random words."""
    return np.asarray((words >> _U(shift) & _U(0xFFFF)).astype(np.int64) * limit >> 16)


def _ragged(f: Format, i: Array, salt: int) -> Array:
    return _ending_in_runs(words(i, salt) >> _U(64 - f.width), words(i, salt + 1), f.precision)


def _ending_in_runs(bits: Array, run: Array, limit: int) -> Array:
    """Return the bits with fewer than `limit` of the last ones all set or all cleared."""
    tail = (_U(1) << _below(run, 0, limit).astype(_U)) - _U(1)
    return np.asarray(np.where(run >> _U(63) != 0, bits | tail, bits & ~tail))


def _moved(x: Array, f: Format, g: Format) -> Array:
    """Return numbers of one format in another one, as near as its range permits and truncated to its fraction."""
    if f is g:
        return x
    magnitude = (x & _U(f.magnitudes - 1)).astype(np.int64)
    longer = g.fraction_bits - f.fraction_bits
    magnitude = magnitude << longer if longer > 0 else magnitude >> -longer
    moved = np.clip(magnitude + ((g.bias - f.bias) << g.fraction_bits), 0, g.largest).astype(_U)
    return np.where(x & _U(f.sign_bit) != 0, moved | _U(g.sign_bit), moved)


def _exponent(f: Format, x: Array) -> Array:
    return np.asarray((x >> _U(f.fraction_bits) & _U((1 << f.exponent_bits) - 1)).astype(np.int64))


def _with_exponent(f: Format, x: Array, exponent: Array) -> Array:
    """Return the sign and fraction of `x` with another biased exponent, at most that of the largest numbers."""
    field = np.clip(exponent, 0, f.largest >> f.fraction_bits).astype(_U) << _U(f.fraction_bits)
    return np.asarray((x & _U(f.sign_bit | (1 << f.fraction_bits) - 1)) | field)
