"""The operands and results of a variant: registers, and the position of lanes in them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import formats
from .binary import Array, Format
from .index import TYPES

if TYPE_CHECKING:
    from .declared import Declared
    from .integers import FixedPoint
    from .opcodes import Operands

# NumPy's float types, by exponent and fraction bits.
_FLOATS = {(5, 10): "float16", (8, 23): "float32", (11, 52): "float64"}
# ml_dtypes' types, by what their formats declare: exponent and fraction bits, bias, NaN magnitudes, sign, infinity.
_EXTENSIONS = {
    (8, 7, 127, 127, True, True): "bfloat16",
    (5, 2, 15, 3, True, True): "float8_e5m2",
    (4, 3, 7, 1, True, False): "float8_e4m3fn",
    (8, 0, 127, 1, False, False): "float8_e8m0fnu",
}


@dataclass(frozen=True, eq=False)
class Type:
    """A type of registers with `lanes` encodings of a sort ("float", "integer", "bits", "bool"). Each has `width` bits,
    in `lane_width` bits of the register, `shift` bits above the lowest of these."""

    name: str
    sort: str
    number: Format | Declared | FixedPoint | None
    width: int
    lanes: int
    lane_width: int
    shift: int

    @cached_property
    def bits(self) -> np.dtype[Any]:
        """The dtype of a register's bits."""
        return np.dtype(bool if self.sort == "bool" else f"u{self.lane_width * self.lanes // 8}")

    @cached_property
    def lane(self) -> np.dtype[Any]:
        """The dtype of an encoding."""
        if self.sort == "bool":
            return self.bits
        return np.dtype(f"u{next(w for w in (8, 16, 32, 64) if w >= self.width) // 8}")

    @cached_property
    def stands_alone(self) -> bool:
        """Return whether a lane's part of the register is exactly its encoding."""
        whole = self.width == self.lane_width == 8 * self.lane.itemsize
        return self.sort == "bool" or (whole and (self.lanes == 1 or sys.byteorder == "little"))

    @cached_property
    def native_name(self) -> str:
        """The name of the dtype in NumPy or ml_dtypes of numbers of one lane; empty where there is none."""
        f: Any = self.number
        if f is None or self.lanes > 1 or not self.stands_alone:
            return ""
        if self.sort == "integer":
            return f"int{f.width}" if f.signed and not f.point else ""
        fields = (f.exponent_bits, f.fraction_bits)
        if isinstance(f, Format):
            nans = (1 << f.fraction_bits) - 1
            return _FLOATS.get(fields) or _EXTENSIONS.get((*fields, f.bias, nans, True, True), "")
        if f.has_subnormals == f.has_zero == f.signed:
            return _EXTENSIONS.get((*fields, f.bias, f.nans, f.signed, f.has_infinity), "")
        return ""

    @property
    def is_extension(self) -> bool:
        """Return whether the native dtype is one of ml_dtypes."""
        return self.native_name in _EXTENSIONS.values()

    @cached_property
    def native(self) -> np.dtype[Any] | None:
        """The dtype that `native_name` names, if it is installed."""
        if not self.is_extension:
            return np.dtype(self.native_name) if self.native_name else None
        try:
            import ml_dtypes
        except ImportError:
            return None
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, self.native_name))
        return found

    @cached_property
    def _scalar(self) -> type | None:
        """NumPy's own scalar type named `native_name`."""
        return None if self.is_extension else getattr(np, self.native_name or "-", None)

    def is_native(self, dtype: np.dtype[Any]) -> bool:
        # NumPy creates the name of a dtype at each access.
        if dtype.type is self._scalar:
            return True
        return bool(self.native_name) and dtype.name == self.native_name and dtype.itemsize == self.bits.itemsize

    def is_signed_bits(self, dtype: np.dtype[Any]) -> bool:
        """Return whether a signed integer dtype can only mean a register's bits, as in languages without unsigned
        integers."""
        could_be_numbers = self.lanes == 1 and self.sort in ("float", "bool")
        return dtype.kind == "i" and dtype.itemsize == self.bits.itemsize and not could_be_numbers

    @cached_property
    def accepted(self) -> str:
        """The arrays that an operand may be, as text for errors."""
        if self.sort == "bool":
            return "bool"
        if self.lanes > 1:
            return f"{self.bits} (the bits of {self.lanes} lanes)"
        return f"{self.native_name} or {self.bits} (bits)" if self.native_name else f"{self.bits} (bits)"

    @property
    def expected(self) -> str:
        """`accepted` with the type, as text for errors."""
        return f"{self.accepted} for .{self.name}"

    def in_order_of(self, array: Array) -> np.dtype[Any]:
        """Return the dtype of bits in an array's byte order."""
        return self.bits if array.dtype.isnative else self.bits.newbyteorder("S")

    def unpack(self, registers: Array) -> list[Array]:
        """Return the encodings in registers: an array for each lane."""
        if self.stands_alone:
            encodings = registers.view(self.lane)
            return [encodings[i :: self.lanes] for i in range(self.lanes)]
        mask, found = registers.dtype.type((1 << self.width) - 1), []
        for i in range(self.lanes):
            lane = registers >> registers.dtype.type(i * self.lane_width + self.shift)
            lane &= mask
            found.append(lane.astype(self.lane, copy=False))
        return found

    def pack(self, lanes: Sequence[Array]) -> Array:
        """Return the registers of encodings, the inverse of `unpack`."""
        if self.stands_alone and self.lanes == 1:
            return lanes[0]
        found, width = [x << x.dtype.type(self.shift) for x in lanes] if self.shift else list(lanes), self.lane_width
        while len(found) > 1:
            # Bytes are slow to shift.
            dtype = np.dtype(f"u{max(2, width // 4)}")
            upper = [x.astype(dtype) for x in found[1::2]]
            for x, low in zip(upper, found[::2], strict=True):
                x <<= dtype.type(width)
                x |= low
            found, width = upper, 2 * width
        return found[0].astype(self.bits, copy=False)

    @cached_property
    def _pairs(self) -> np.dtype[Any]:
        """The dtype of two encodings, each of which fills half of it."""
        return np.dtype(f"u{2 * self.lane.itemsize}")

    @cached_property
    def is_spread(self) -> bool:
        """Return whether `spread` and `gather` support the position of lanes in a register."""
        whole, half = (self.lane_width * n == 8 * self.lane.itemsize for n in (1, 2))
        return self.sort != "bool" and sys.byteorder == "little" and (whole or (half and self.shift == 0))

    def spread(self, registers: Array) -> Array:
        """Return the encodings in registers, side by side in one array."""
        found: Array
        if self.stands_alone:
            found = registers.view(self.lane)
            return found
        if 8 * self.lane.itemsize == self.lane_width:
            found = registers.view(self.lane) >> self.lane.type(self.shift)
        else:
            pairs = registers.view(self.lane).astype(self._pairs)
            pairs |= pairs << self._pairs.type(self.lane_width)
            found = pairs.view(self.lane)
        found &= self.lane.type((1 << self.width) - 1)
        return found

    def gather(self, lanes: Array) -> Array:
        """Return the registers of encodings, the inverse of `spread`."""
        lanes = np.ascontiguousarray(lanes)
        if 8 * self.lane.itemsize == self.lane_width:
            found: Array = (lanes << self.lane.type(self.shift) if self.shift else lanes).view(self.bits)
            return found
        pairs = lanes.view(self._pairs)
        pairs = pairs | (pairs >> self._pairs.type(self.lane_width))
        found = pairs.astype(self.lane).view(self.bits)
        return found


# Registers by name, with their types.
Registers: TypeAlias = "tuple[tuple[str, Type], ...]"


@dataclass(frozen=True, eq=False)
class Operand:
    """A result or source by its name; where each lane is in a register of its own, these have other names. `lane_bits`
    are the bits of its one register that each lane reads, lane 0's first, each lane's highest bit first. In a
    statement, the registers of lanes are a vector where `braced`, and a `!` may precede the operand where `negatable`.
    An `implicit` operand is the condition code, which no statement writes out."""

    name: str
    registers: tuple[str, ...]
    type: Type
    lane_bits: tuple[tuple[int, ...], ...] = ()
    braced: bool = False
    negatable: bool = False
    implicit: bool = False

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The lane of each register, where each lane has one of its own."""
        return tuple(int(r[len(self.name) :]) for r in self.registers) if self.registers != (self.name,) else ()

    def unpack(self, registers: Sequence[Array], lanes: int) -> Array:
        """Return the encodings of `lanes` lanes, lane by lane: the first lanes of all elements, then the second
        ones."""
        if self.lane_bits:
            # Computed at most once, and only if needed.
            backward, size = cache(lambda: _reversed(registers[0])), registers[0].size
            gathered = np.empty(lanes * size, _holding(len(self.lane_bits[0])))
            for i, bits in enumerate(self.lane_bits):
                _gather(registers[0], bits, backward, gathered[i * size : (i + 1) * size])
            return gathered
        if self.order:
            columns = dict(zip(self.order, registers, strict=True))
            found = [self.type.unpack(columns[i])[0] for i in range(lanes)]
        else:
            found = self.type.unpack(registers[0])
        if len(found) == lanes == 1:
            return found[0]
        return np.concatenate(found if len(found) == lanes else found * lanes)

    def pack(self, found: Array, lanes: int) -> list[Array]:
        """Return the registers, in the statement's order, of lanes as `unpack` makes them."""
        size = found.size // lanes
        parts = [found[i * size : (i + 1) * size] for i in range(lanes)] if lanes > 1 else [found]
        return [self.type.pack([parts[i]]) for i in self.order] if self.order else [self.type.pack(parts)]


@dataclass(frozen=True, eq=False)
class Signature:
    """The operands of a variant. `results` are d or p and, with p|q, q."""

    results: tuple[Operand, ...]
    sources: tuple[Operand, ...]

    @cached_property
    def lanes(self) -> int:
        return max(len(o.order) or o.type.lanes for o in (self.results[0], *self.sources))

    @cached_property
    def registers(self) -> Registers:
        """The registers of the sources, in the statement's order."""
        return tuple((r, o.type) for o in self.sources for r in o.registers)

    @cached_property
    def places(self) -> tuple[Registers, ...]:
        """The registers of the first result and, where there are several results, of all. Not of each number of
        results: a function may have thousands."""
        made = (self.results[:1], self.results)[: len(self.results)]
        return tuple(tuple((r, o.type) for o in results for r in o.registers) for results in made)

    @cached_property
    def common(self) -> Type | None:
        """The type of all sources."""
        types = {o.type for o in self.sources}
        return types.pop() if len(types) == 1 else None

    @cached_property
    def has_truths(self) -> bool:
        """Return whether a source is a predicate."""
        return any(t.sort == "bool" for _, t in self.registers)

    def representation(self, t: Type, operands: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
        """Return the dtype of a register of the results, for operands of these dtypes."""
        if t.sort == "integer":
            return t.native or t.bits
        registers = list(zip((r for _, r in self.registers), operands, strict=True))
        for r, dtype in registers:
            if r is t:
                # newbyteorder on a dtype in native order returns a new object, which is no longer NumPy's singleton.
                return dtype if dtype.isnative else dtype.newbyteorder("=")
        if not t.native_name or not all(r.is_native(d) for r, d in registers if r.sort == "float"):
            return t.bits
        if t.is_extension and not any(r.is_extension and r.is_native(d) for r, d in registers):
            return t.bits
        return t.native or t.bits

    @cached_property
    def flat(self) -> bool:
        """Return whether lanes are side by side in all registers, the same number in each."""
        every = (*self.results, *self.sources)
        return self._alike and all(o.type.stands_alone for o in every)

    @cached_property
    def _alike(self) -> bool:
        """Return whether all registers have the same number of lanes."""
        return all(map(self._has_all_lanes, (*self.results, *self.sources)))

    def _has_all_lanes(self, o: Operand) -> bool:
        return o.type.lanes == self.lanes and not (o.order or o.lane_bits)

    @cached_property
    def _is_spread(self) -> bool:
        """Return whether lanes are side by side in all registers, except results with a register for each lane."""
        packed = (*(o for o in self.results if not o.order), *self.sources)
        return self.lanes > 1 and all(self._has_all_lanes(o) and o.type.is_spread for o in packed)

    def apply(self, function: Callable[..., Any], *registers: Array) -> list[Array]:
        """Return the registers of the results, computed by a function of lanes from the sources' registers, which are
        contiguous and of one dimension."""
        if self._is_spread:
            operands = [o.type.spread(x) for o, x in zip(self.sources, registers, strict=True)]
        else:
            rest = iter(registers)
            operands = [o.unpack([next(rest) for _ in o.registers], self.lanes) for o in self.sources]
        found = function(*operands)
        made, size = [], registers[0].size * self.lanes
        for o, x in zip(self.results, found if isinstance(found, tuple) else (found,), strict=True):
            # A result that depends on constants alone is a scalar.
            every = x if np.shape(x) == (size,) else np.broadcast_to(x, (size,))
            if not self._is_spread:
                made += o.pack(every, self.lanes)
            elif o.order:
                made += [o.type.pack([every[i :: self.lanes]]) for i in o.order]
            else:
                made.append(o.type.gather(every))
        return made


@lru_cache(maxsize=256)
def type_named(name: str) -> Type:
    sort, of, lanes, lane_width, shift = TYPES[name]
    if isinstance(of, int):
        return Type(name, sort, None, of, lanes, lane_width, shift)
    number = getattr(formats, of)
    return Type(name, sort, number, number.width, lanes, lane_width, shift)


@lru_cache(maxsize=4096)
def signature(operands: Operands) -> Signature:
    """Return the signature of a variant's results and sources."""
    results, sources = operands
    return Signature(tuple(_operand(*o) for o in results), tuple(_operand(*o) for o in sources))


def _operand(name: str, type_name: str, registers: tuple[str, ...] = (), *more: Any) -> Operand:
    return Operand(name, registers or (name,), type_named(type_name), *more)


def _holding(bits: int) -> np.dtype[Any]:
    return np.dtype(next(f"u{n}" for n in (1, 2, 4, 8) if 8 * n >= bits))


def _gather(registers: Array, bits: tuple[int, ...], reversed_: Callable[[], Array], to: Array) -> None:
    """Gather these bits of registers into `to`, the highest first. Runs in ascending order are read from the registers
    with all bits reversed."""
    word = registers.dtype.type
    width = 8 * registers.dtype.itemsize
    for start, stop in _runs(bits):
        first, last, size = bits[start], bits[stop - 1], stop - start
        places = width - 1 - last if last > first else last
        run = reversed_() if last > first else registers
        if places:
            run = run >> word(places)
        if size not in (width - places, 8 * to.itemsize):
            run = run & word((1 << size) - 1)
        part = run.astype(to.dtype)
        if stop < len(bits):
            part <<= to.dtype.type(len(bits) - stop)
        if start:
            to |= part
        else:
            to[...] = part


@lru_cache(maxsize=64)
def _runs(bits: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the start and end of each run of neighbouring bits in one direction."""
    found, start = [], 0
    for i in range(1, len(bits) + 1):
        step = bits[i] - bits[i - 1] if i < len(bits) else 0
        if abs(step) != 1 or (i > start + 1 and step != bits[i - 1] - bits[i - 2]):
            found.append((start, i))
            start = i
    return found


def _reversed(registers: Array) -> Array:
    """Return registers with the bits in reverse order: the lowest in the highest place."""
    word, found = registers.dtype.type, registers.byteswap()
    for places, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        other = found >> word(places)
        mask = word(int.from_bytes(bytes([mask]) * registers.dtype.itemsize, "little"))
        other &= mask
        found &= mask
        found <<= word(places)
        found |= other
    return found
