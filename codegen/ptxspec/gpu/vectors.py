"""Which operands a variant is run on. Each is a function of its type and its place alone, so that any block of any
sweep can be made again on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Core, Format, Type, Variant

Array = NDArray[Any]

# A change here makes other operands: recordings name the version that they were made with.
VERSION = 2
# Inputs to one digest, to one part of all inputs, and to all of its parts.
BLOCK = 1 << 20
SLICE = 1 << 26
INPUTS = 1 << 32
STREAMS = ("grid", "every", "uniform", "near")
_U = np.uint64
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Sizes:
    """How many random operands each stream has, how many of their results a recording keeps, and whether all 2^32
    inputs of variants with one f32 operand are run."""

    random: int = 1 << 24
    sample: int = 1 << 10
    exhaustive: bool = False


@dataclass(frozen=True)
class Part:
    """`count` operands of a stream from `start` on, of which the results of the first `kept` are recorded.

    grid: special values in all combinations; uniform: any bits; near: exponents that meet, results that tie and cancel;
    every: all encodings in their order; every<<N: the same with N zero bits after each."""

    stream: str
    start: int
    count: int
    kept: int

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Start and size of each block that has a digest."""
        for start in range(self.start, self.start + self.count, BLOCK):
            yield start, min(BLOCK, self.start + self.count - start)

    @property
    def turn(self) -> tuple[bool, bool, int]:
        """Its place in a run: what is quick and telling first, behind the random streams whole domains, then sweeps."""
        stream = self.stream.partition("<<")[0]
        return stream == "every" and self.count > 1 << 16, not self.kept, STREAMS.index(stream)


def core_parts(core: Core) -> list[Part]:
    """The parts that hold a core's results."""
    stream, end = f"every<<{core.shift}" if core.shift else "every", core.first + core.count
    sizes = ((start, min(BLOCK, end - start)) for start in range(core.first, end, BLOCK))
    return [Part(stream, start, size, size) for start, size in sizes]


def parts(v: Variant, sizes: Sizes, cores: Iterable[Core] = ()) -> list[Part]:
    """What a variant is run on; `cores` are those of its units."""
    size = grid_size(v.sources[0].type, v.operands)
    found = [Part("grid", 0, size, size)]
    if v.sources[0].type.width == 16 and v.operands == 1:
        found.append(Part("every", 0, 1 << 16, 1 << 16))
    found += [part for core in cores for part in core_parts(core)]
    for stream in ("uniform", "near") if v.operands > 1 else ("uniform",):
        found.append(Part(stream, 0, sizes.random, min(sizes.sample, sizes.random)))
    if sizes.exhaustive and v.sources[0].type.width == 32 and v.sources[0].type.lanes == v.operands == 1:
        found += [Part("every", start, SLICE, 0) for start in range(0, INPUTS, SLICE)]
    return list(dict.fromkeys(found))


def unsigned(width: int) -> np.dtype[Any]:
    return np.dtype(f"u{width // 8}")


def digest(values: Array) -> int:
    """64 bits of BLAKE2b over the values as they lie in little-endian memory."""
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return int.from_bytes(hashlib.blake2b(little.data, digest_size=8).digest(), "little")


# Sixteen blocks are a whole stream: variants of the same type run one after another.
@lru_cache(maxsize=16)
def operands(type: Type, count: int, stream: str, start: int, size: int) -> tuple[Array, ...]:
    """`count` read-only arrays of `size` encodings, the operands `start` ... of a stream."""
    if stream == "grid":
        columns = [c[start : start + size] for c in _grid(type, count)]
    elif stream.startswith("every"):
        columns = [encodings(type.width, start, size, int(stream.partition("<<")[2] or 0))]
    else:
        make = _uniform if stream == "uniform" else _near
        lanes = make(_format(type), count, np.arange(start * type.lanes, (start + size) * type.lanes, dtype=_U))
        # Lanes lie side by side, the first in the lower half.
        columns = [x.astype(f"<u{type.kind.width // 8}").view(f"<u{type.width // 8}") for x in lanes]
    made = tuple(np.ascontiguousarray(c, unsigned(type.width)) for c in columns)
    for c in made:
        c.flags.writeable = False
    return made


def encodings(width: int, first: int, count: int, shift: int) -> Array:
    """`count` encodings of a width from `first` on, with `shift` zero bits after each."""
    word = unsigned(width)
    return np.asarray(np.arange(first, first + count, dtype=word) << word.type(shift))


def _format(type: Type) -> Format:
    assert type.kind.format is not None
    return type.kind.format


# Special values


def grid_size(type: Type, count: int) -> int:
    size: int = len(_special(_format(type), count)) ** count
    return size


@lru_cache(maxsize=32)
def _special(f: Format, count: int) -> tuple[int, ...]:
    """Encodings at which rounding, flushing, overflow and NaN rules show; fewer of them for three operands."""
    least, one, top = 1 << f.fraction_bits, f.bias << f.fraction_bits, f.infinity
    half, payload = least >> 1, 0x2468ACE13579BDF & (least - 1)
    positive = [0, 1, least - 1, least, one - 1, one, one + 1, top - 1, top, top | half, top | 1]
    if count < 3:

        def power(exponent: int) -> int:
            return (exponent + f.bias) << f.fraction_bits

        positive += [2, 3, half - 1, half, half + 1, least + 1, 2 * least - 1, 2 * least, top - 2, top - least]
        positive += [one + half, one + half + 1, one + least - 1, power(1), power(-1), power(1) + half]
        positive += [power(f.precision) - 1, power(f.precision) + 1, power(-f.precision), power(-f.precision - 1) + 1]
        positive += [
            power(f.emax // 2) + half,
            power(f.emin // 2),
            power(-2) | 0x5555555555555 >> (52 - f.fraction_bits),
        ]
        positive += [power(1) | 0x921FB54442D18 >> (52 - f.fraction_bits), top | (least - 1)]
        positive += [top | half | payload, top | (payload & (half - 1)) | 1]
    return tuple(sign | x for sign in (0, f.sign_bit) for x in dict.fromkeys(positive))


def _grid(type: Type, count: int) -> list[Array]:
    rows = np.array(list(product(_special(_format(type), count), repeat=count)), _U)
    packed = rows.copy()
    for lane in range(1, type.lanes):
        # Another row beside each, so that lanes which disturb each other are noticed.
        packed |= np.roll(rows, 17 * lane, axis=0) << _U(type.kind.width * lane)
    return [packed[:, k].astype(unsigned(type.width)) for k in range(count)]


# Streams of random lanes; `i` is the lane's place in the stream


def _words(i: Array, salt: int) -> Array:
    """SplitMix64 (Steele, Lea, Flood, 2014) as a function of its counter."""
    x = (i + _U(1)) * _U(_GOLDEN) + _U(salt * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U(27))) * _U(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> _U(31)))


def _uniform(f: Format, count: int, i: Array) -> list[Array]:
    return [_words(i, 1 + k) >> _U(64 - f.width) for k in range(count)]


def _below(words: Array, shift: int, limit: int) -> Array:
    """Integers from 0 up to a limit of a few thousand, from sixteen bits of random words."""
    return np.asarray((words >> _U(shift) & _U(0xFFFF)).astype(np.int64) * limit >> 16)


def _near(f: Format, count: int, i: Array) -> list[Array]:
    """Fractions that end in runs of zeros or ones; exponents at most a few more than the precision apart; a quarter of
    the rows cancels but for a few units."""
    choice = _words(i, 16)
    x, *others = (_ragged(f, i, 17 + 2 * k) for k in range(count))
    small = _U(1) + (choice >> _U(2) & _U(7))
    opposite = (x ^ _U(f.sign_bit)) + small - _U(4)
    opposite &= _U((f.sign_bit << 1) - 1)
    cancels = (choice & _U(3)) == 0
    apart = _below(choice, 16, 2 * f.precision + 5) - f.precision - 2
    if count == 2:
        return [x, np.where(cancels, opposite, _with_exponent(f, others[0], _exponent(f, x) + apart))]
    # The product's exponent is anywhere in range, the addend's near it; in the rows that cancel a factor is near one.
    y, z = others
    total = _below(choice, 32, 2 * f.bias + f.precision) - f.bias - f.precision
    y = _with_exponent(f, y, total - _exponent(f, x) + 2 * f.bias)
    near_one = (f.bias << f.fraction_bits) + _below(choice, 48, 8).astype(_U) - _U(2)
    y = np.where(cancels, near_one, y)
    z = _with_exponent(f, z, _exponent(f, x) + _exponent(f, y) - f.bias + 2 * apart)
    return [x, y, np.where(cancels, opposite, z)]


def _ragged(f: Format, i: Array, salt: int) -> Array:
    words, run = _words(i, salt), _words(i, salt + 1)
    bits = words >> _U(64 - f.width)
    tail = (_U(1) << _below(run, 0, f.precision).astype(_U)) - _U(1)
    return np.where(run >> _U(63) != 0, bits | tail, bits & ~tail)


def _exponent(f: Format, x: Array) -> Array:
    return np.asarray((x >> _U(f.fraction_bits) & _U((1 << f.exponent_bits) - 1)).astype(np.int64))


def _with_exponent(f: Format, x: Array, exponent: Array) -> Array:
    """The sign and fraction of `x` with another biased exponent, that of the largest numbers at most."""
    field = np.clip(exponent, 0, 2 * f.bias).astype(_U) << _U(f.fraction_bits)
    return np.asarray((x & _U(f.sign_bit | (1 << f.fraction_bits) - 1)) | field)
