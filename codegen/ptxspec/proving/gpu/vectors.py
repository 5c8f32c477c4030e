"""The operands on which a variant is run. Each depends only on the variant's signature and its place, so that any block
of any sweep can be generated again on any machine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import Core, Kind, Type, Variant
from . import streams
from .registers import to_registers, unsigned, word
from .special import special

Array = NDArray[Any]

# Change it with the operands: recordings name the version of theirs.
VERSION = 2
# The number of inputs with one digest, of one part of all inputs, and of all its parts.
BLOCK = 1 << 20
SLICE = 1 << 26
INPUTS = 1 << 32
STREAMS = ("grid", "every", "uniform", "near")
# The number generated together, which keeps intermediate arrays in the processor's cache.
_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Sizes:
    """The sizes of a run: the number of random operands of each stream, the number of their results that a recording
    keeps, and whether all 2^32 inputs of variants with one operand of 32 bits are run."""

    random: int = 1 << 24
    sample: int = 1 << 10
    exhaustive: bool = False


@dataclass(frozen=True)
class StreamPart:
    """`count` operands of a stream from `start` on; the results of the first `kept` are recorded.

    grid: special values in all combinations; uniform: random bits; near: exponents that meet, results that tie and
    cancel, integers of every length; every: all encodings in their order; every<<N: the same with N zero bits after
    each; pairs: all pairs of encodings, ordered by the first operand."""

    stream: str
    start: int
    count: int
    kept: int

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the start and size of each block that has a digest."""
        for start in range(self.start, self.start + self.count, BLOCK):
            yield start, min(BLOCK, self.start + self.count - start)

    @property
    def turn(self) -> tuple[bool, bool, int]:
        """The part's place in a run: quick and telling parts first, then whole domains after the random streams, then
        sweeps."""
        stream = self.stream.partition("<<")[0]
        return stream == "every" and self.count > 1 << 16, not self.kept, STREAMS.index(stream)


def core_parts(core: Core) -> list[StreamPart]:
    """Return the parts with a core's results."""
    stream, end = f"every<<{core.shift}" if core.shift else "every", core.first + core.count
    sizes = ((start, min(BLOCK, end - start)) for start in range(core.first, end, BLOCK))
    return [StreamPart(stream, start, size, size) for start, size in sizes]


@dataclass(frozen=True)
class VectorSignature:
    """The data from which operands are chosen: the types of the sources with the names of their lanes' own registers,
    the number of lanes, and the result's kind if it is a number."""

    sources: tuple[tuple[Type, tuple[str, ...]], ...]
    lanes: int
    result: Kind | None

    @property
    def kinds(self) -> list[Kind]:
        return [type.kind for type, _ in self.sources]

    @property
    def values(self) -> list[tuple[int, ...]]:
        """The special values of each source."""
        count = sum(kind.sort != "bool" for kind in self.kinds)
        return [special(kind, count) for kind in self.kinds]

    @property
    def single(self) -> int:
        """The number of bits of the only source, if it is in one register; else 0."""
        type, own = self.sources[0]
        return type.kind.width * type.lanes if len(self.sources) == 1 and not own else 0

    @property
    def pair(self) -> int:
        """The number of bits of two sources together, if each has one lane in one register; else 0."""
        whole = self.lanes == 1 and len(self.sources) == 2 and not any(own for _, own in self.sources)
        return sum(kind.width for kind in self.kinds) if whole else 0

    @property
    def floats(self) -> list[int]:
        """The places of the sources that are floats, three of them at most."""
        return [k for k, kind in enumerate(self.kinds) if kind.format is not None][:3]

    @property
    def converts(self) -> bool:
        """Return whether the only source is a float, and the result a number of another kind."""
        return len(self.sources) == len(self.floats) == 1 and self.result not in (None, self.kinds[0])

    @property
    def near(self) -> bool:
        """Return whether there is a stream `near`: whether random bits are not the only choice."""
        return len(self.floats) > 1 or self.converts or any(kind.fixed is not None for kind in self.kinds)


def signature(v: Variant) -> VectorSignature:
    result = v.result.kind if v.result.kind.sort in ("float", "integer") else None
    return VectorSignature(tuple((s.type, s.registers) for s in v.sources), v.lanes, result)


def parts(v: Variant, sizes: Sizes, cores: Iterable[Core] = ()) -> list[StreamPart]:
    """Return the parts on which a variant is run; `cores` are those of its units."""
    return parts_of(signature(v), sizes, cores)


def parts_of(s: VectorSignature, sizes: Sizes, cores: Iterable[Core] = ()) -> list[StreamPart]:
    """Return the parts on which anything with this signature is run."""
    size = _size(s)
    found = [StreamPart("grid", 0, size, size)]
    if 0 < s.single <= 16:
        found.append(StreamPart("every", 0, 1 << s.single, 1 << s.single))
    found += [part for core in cores for part in core_parts(core)]
    for stream in ("uniform", "near") if s.near else ("uniform",):
        found.append(StreamPart(stream, 0, sizes.random, min(sizes.sample, sizes.random)))
    if sizes.exhaustive and s.single == 32 and s.lanes == 1:
        found += [StreamPart("every", start, SLICE, 0) for start in range(0, INPUTS, SLICE)]
    return list(dict.fromkeys(found))


def is_part_of(s: VectorSignature, part: StreamPart) -> bool:
    """Return whether a signature has the operands of a part."""
    stream, _, shift = part.stream.partition("<<")
    if shift and not re.fullmatch("[1-9][0-9]?", shift, re.ASCII):
        return False
    if not 0 <= part.kept <= min(part.count, BLOCK) or part.start < 0 or part.count < 1:
        return False
    last = part.start + part.count - 1
    if stream == "every":
        return last.bit_length() + int(shift or 0) <= s.single
    return not shift and last < (_size(s) if stream == "grid" else INPUTS) and (stream != "near" or s.near)


@lru_cache
def _size(s: VectorSignature) -> int:
    """Return the number of combinations of special values."""
    return prod(map(len, s.values))


def digest(values: Array) -> int:
    """Return 64 bits of BLAKE2b over the values in little-endian memory."""
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return int.from_bytes(hashlib.blake2b(little.data, digest_size=8).digest(), "little")


def operands(v: Variant, stream: str, start: int, size: int) -> tuple[Array, ...]:
    """Return read-only arrays of `size` elements, one for each source register: the operands of a stream from `start`
    on."""
    return operands_of(signature(v), stream, start, size)


# Sixteen blocks are a whole stream, and recordings keep some of its first operands; variants with the same signature
# run one after another.
@lru_cache(maxsize=17)
def operands_of(s: VectorSignature, stream: str, start: int, size: int) -> tuple[Array, ...]:
    if stream == "pairs" and (rows := _whole_rows(s, start, size)):
        return rows
    if stream == "grid":
        found = _registers(s, _grid(s, start, size))
    else:
        found = [np.empty(size, word(type)) for type, own in s.sources for _ in own or (type,)]
        for first in range(0, size, _AT_ONCE):
            stop = min(first + _AT_ONCE, size)
            made = _registers(s, _columns(s, stream, start + first, stop - first))
            for whole, x in zip(found, made, strict=True):
                whole[first:stop] = x
    for register in found:
        register.flags.writeable = False
    return tuple(found)


def _columns(s: VectorSignature, stream: str, start: int, size: int) -> list[Array]:
    if stream.startswith("every"):
        return [_every(s, start, size, int(stream.partition("<<")[2] or 0))]
    if stream == "pairs":
        return _pairs(s, start, size)
    make = _uniform if stream == "uniform" else _near
    places = np.arange(start * s.lanes, (start + size) * s.lanes, dtype=np.uint64)
    return [x.reshape(size, s.lanes) for x in make(s, places)]


def _registers(s: VectorSignature, columns: list[Array]) -> list[Array]:
    """Return the registers of all sources from rows of lanes."""
    pairs = zip(s.sources, columns, strict=True)
    return [register for (type, own), lanes in pairs for register in to_registers(type, own, lanes)]


def encodings(width: int, first: int, count: int, shift: int) -> Array:
    """Return `count` encodings of a width from `first` on, with `shift` zero bits after each."""
    word = unsigned(width)
    return np.asarray(np.arange(first, first + count, dtype=word) << word.type(shift))


# The operands of each stream: a row of lanes for each source and set of operands. A source that all lanes share has the
# first lane's value.


def _grid(s: VectorSignature, start: int, size: int) -> list[Array]:
    columns = np.meshgrid(*(np.array(v, np.uint64) for v in s.values), indexing="ij")
    rows = np.stack([c.ravel() for c in columns], axis=1)
    # The lanes have different rows, so that interference between lanes is noticed.
    lanes = np.stack([np.roll(rows, 17 * lane, axis=0)[start : start + size] for lane in range(s.lanes)], axis=2)
    return [lanes[:, k] for k in range(len(s.sources))]


def _every(s: VectorSignature, start: int, size: int, shift: int) -> Array:
    kind = s.kinds[0]
    whole = encodings(64, start, size, shift)
    return np.stack([whole >> np.uint64(i * kind.width) & _mask(kind) for i in range(s.lanes)], axis=1)


def _pairs(s: VectorSignature, start: int, size: int) -> list[Array]:
    whole = encodings(64, start, size, 0)
    first, second = s.kinds
    return [(whole >> np.uint64(second.width) & _mask(first))[:, None], (whole & _mask(second))[:, None]]


def _whole_rows(s: VectorSignature, start: int, size: int) -> tuple[Array, ...]:
    """Return the pairs of a block in which each first operand is combined with all second ones, which is much quicker;
    empty for any other block."""
    bits = s.kinds[1].width
    if (start | size) & ((1 << bits) - 1):
        return ()
    first = encodings(64, start >> bits, size >> bits, 0)[:, None], s.sources[0][0]
    every = encodings(64, 0, 1 << bits, 0)[:, None], s.sources[1][0]
    (x,), (y,) = (to_registers(type, (), lanes) for lanes, type in (first, every))
    made = np.repeat(x, y.size), np.tile(y, x.size)
    for register in made:
        register.flags.writeable = False
    return made


def _mask(kind: Kind) -> np.uint64:
    return np.uint64((1 << kind.width) - 1)


def _uniform(s: VectorSignature, i: Array) -> list[Array]:
    return [streams.uniform(kind, k, i) for k, kind in enumerate(s.kinds)]


def _near(s: VectorSignature, i: Array) -> list[Array]:
    found = [
        streams.uniform(kind, k, i) if kind.fixed is None else streams.of_every_length(kind.fixed, k, i)
        for k, kind in enumerate(s.kinds)
    ]
    formats = [kind.format for kind in s.kinds if kind.format is not None]
    if s.converts and s.result is not None:
        return [streams.within(formats[0], s.result, i)]
    for k, x in zip(s.floats, streams.meeting(formats[:3], i) if len(s.floats) > 1 else (), strict=False):
        found[k] = x
    return found
