"""The operations on which peers are compared with PTX, their operands, and PTX's results.

Operands are those of `ptxspec conformance`, and for conversions the neighbours of every tie. Each is an array of
encodings of one lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import ptxemu
from helpers import ROOT
from numpy.typing import NDArray
from oracles import conversions, judge, narrow
from ptxspec.model import Format, Operand, Variant
from ptxspec.proving.gpu import registers, vectors
from ptxspec.specification import read
from scoreboard.values import FORMATS, ieee_encoding, numbers

Bits = NDArray[Any]

ARITHMETIC, SELECTING = ("add", "sub", "mul", "div", "sqrt", "fma"), ("min", "max")
ROUNDINGS = ("rn", "rna", "rz", "rm", "rp")
CHOICES = {*ROUNDINGS, "satfinite", "NaN"}
RANDOM = 1 << 14
# Formats with more numbers than this have ties at so many of them, spread at random.
NUMBERS = 1 << 15
SETS = {
    "special values": "All combinations of zeros, subnormal numbers, powers of two, infinities, NaNs, the largest "
    "numbers, and neighbours of these.",
    "all encodings": "Every encoding of a source of 16 bits or fewer, where there is one operand.",
    "random bits": f"{RANDOM:,} sets of operands in which every encoding is as likely as any other.",
    "random hard cases": f"{RANDOM:,} sets of operands whose results tie, cancel, or lie at the ends of the range.",
    "numbers and ties": "For conversions from f32 or f64 that round: each number of the result's format with its two "
    "neighbours in the source's format, and each point halfway between two numbers, with both signs. For tf32 and f32 "
    f"these are {NUMBERS:,} numbers, chosen at random.",
    "near ties": "The two neighbours in the source's format of each of these points halfway.",
}
STREAMS = {"grid": "special values", "uniform": "random bits", "near": "random hard cases"}


@dataclass(frozen=True)
class Operation:
    """A variant of PTX, lane by lane. `rounding` is empty where the result is exact or nothing is rounded."""

    variant: Variant
    opcode: str
    modifiers: frozenset[str]
    rounding: str

    @property
    def spelling(self) -> str:
        return self.variant.spelling

    @property
    def sources(self) -> tuple[Format, ...]:
        return tuple(_format(s) for s in self.variant.sources)

    @property
    def to(self) -> Format:
        return _format(self.variant.results[0])

    @property
    def selects(self) -> bool:
        return self.opcode in SELECTING

    @property
    def saturates(self) -> bool:
        return "satfinite" in self.modifiers

    @property
    def group(self) -> str:
        to, source = self.to.name, self.sources[0].name
        if self.selects:
            return "Minimum and maximum"
        if self.opcode in ARITHMETIC:
            return f"Arithmetic in {_with_its_like(to)}"
        if self.to.width <= 8:
            return "Conversions to 8 bits and fewer"
        if self.sources[0].width <= 8:
            return "Conversions from 8 bits and fewer"
        return f"Conversions from {_with_its_like(source)}"

    @cached_property
    def operands(self) -> dict[str, list[Bits]]:
        """The arrays of each set of operands, by its name in SETS."""
        (first, *others) = self.sources
        if not others and first.width <= 16:
            return {"all encodings": [np.arange(1 << first.width, dtype=registers.unsigned(_storage(first)))]}
        found = {}
        for part in vectors.parts(self.variant, vectors.Sizes(random=RANDOM)):
            made = vectors.operands(self.variant, part.stream, part.start, part.count)
            named = registers.by_operand(self.variant.sources, made)
            found[STREAMS[part.stream]] = [registers.to_lanes(o, r, self.variant.lanes).ravel() for o, r in named]
        if self.opcode == "cvt" and self.rounding:
            found |= {name: [x] for name, x in _around(first, self.to).items()}
        return found

    def compute(self, operands: Sequence[Bits]) -> Bits:
        """Return PTX's results, as the emulator has them."""
        v, count = self.variant, operands[0].size
        padded = [np.append(x, np.zeros(-count % v.lanes, x.dtype)).reshape(-1, v.lanes) for x in operands]
        given = [
            r for s, lanes in zip(v.sources, padded, strict=True)
            for r in registers.to_registers(s.type, s.registers, lanes)
        ]  # fmt: skip
        found = ptxemu.compile(v.spelling, v.operands)(*given)
        return registers.to_lanes(v.results[0], [found], v.lanes).ravel()[:count]

    @property
    def judge(self) -> str:
        """The name of who judges PTX's results."""
        if self.opcode != "cvt":
            return judge.judge_of(self.spelling)
        of = conversions if conversions.is_scalar(self.spelling) else narrow
        return of.judge_of(self.spelling)

    def judged(self, operands: Sequence[Bits]) -> Bits:
        """Return the results that PTX must have, found without the specification."""
        if self.opcode != "cvt":
            return judge.expected(self.spelling, operands)
        if not conversions.is_scalar(self.spelling):
            return narrow.expected(self.spelling, operands[0], np.zeros(operands[0].shape, np.uint8))
        found = conversions.expected(self.spelling, operands[0])
        return found >> found.dtype.type(self.to.shift)


def _format(operand: Operand) -> Format:
    format = operand.type.kind.format
    assert format is not None, operand
    return format


def _storage(f: Format) -> int:
    return max(8, 1 << (f.width - 1).bit_length())


def _with_its_like(name: str) -> str:
    return "f16 and bf16" if name in ("f16", "bf16") else name


def operations() -> list[Operation]:
    """Return each operation once: of variants that compute the same, the one with one lane and without saturation, and
    with its rounding in its name if it rounds."""
    exact = {(v.spelling, v.operands) for v in ptxemu.variants() if v.claim == "exact"}
    found: dict[tuple[object, ...], Operation] = {}
    spec = read(ROOT)
    for name in ("cvt", *ARITHMETIC, *SELECTING):
        for v in sorted(spec.instructions[name].variants, key=_preferred):
            if (v.spelling, v.operands) in exact and (o := _operation(name, v)):
                kept = o.modifiers - {o.rounding, "rn", "satfinite"} if o.opcode == "cvt" else o.modifiers - {"rn"}
                same = (name, o.sources, o.to, o.rounding, frozenset(kept - set(ROUNDINGS)))
                found.setdefault(same, o)
    return list(found.values())


def _preferred(v: Variant) -> tuple[object, ...]:
    opcode, *names = v.spelling.split(".")
    # A conversion that is exact has no rounding to name.
    is_named = bool(set(ROUNDINGS) & set(names))
    return v.results[0].type.lanes, "satfinite" in names, is_named == (opcode == "cvt")


def _operation(opcode: str, v: Variant) -> Operation | None:
    operands = (*v.sources, *v.results)
    if not all(o.type.kind.format and o.type.kind.format.name in FORMATS for o in operands):
        return None
    most = 3 if opcode == "fma" else 2
    types = {o.type.name.removesuffix("x2") for o in operands}
    modifiers = frozenset(v.spelling.split(".")[1:]) - {o.type.name for o in operands}
    if not modifiers <= CHOICES or v.operands > most or len(v.results) > 1:
        return None
    named = next(iter(modifiers & set(ROUNDINGS)), "")
    if opcode == "cvt":
        (source, *_), to = v.sources, _format(v.results[0])
        if len(types) == 1 or len(v.sources) > 1:
            return None
        return Operation(v, opcode, modifiers, "" if holds(to, _format(source)) else named)
    if len(types) > 1 or v.lanes > 1:
        return None
    return Operation(v, opcode, modifiers, "" if opcode in SELECTING else named or "rn")


def holds(to: Format, source: Format) -> bool:
    """Return whether a format has all numbers of another."""
    below = to.emin - to.fraction_bits <= source.emin - source.fraction_bits
    return to.precision >= source.precision and to.emax >= source.emax and below


def _around(source: Format, to: Format) -> dict[str, Bits]:
    """Return the numbers of a format and the points halfway between them, and halfway to where the next number would
    be, with their neighbours in another format: the sets that are named after them."""
    every = np.arange(to.largest + 1, dtype=np.uint64) if to.largest < 2 * NUMBERS else _some(to)
    here, step = numbers(every, to), _step_above(every, to)
    largest = numbers(np.uint64([source.largest]), source)[0]
    exact, halves = (
        np.unique(ieee_encoding(values[values <= largest], source))
        for values in (np.concatenate([here, here + step]), here + step / 2)
    )
    one = np.uint64(1)
    sets = {
        "numbers and ties": [exact, exact + one, np.maximum(exact, one) - one, halves],
        "near ties": [halves + one, halves - one],
    }
    storage = registers.unsigned(_storage(source))
    return {
        name: np.concatenate([found, found | np.uint64(source.sign_bit)]).astype(storage)
        for name, parts in sets.items()
        for found in [np.unique(np.concatenate(parts))]
    }


def _some(f: Format) -> Bits:
    rng = np.random.default_rng(2026)
    ends = np.uint64([0, 1, f.least_normal - 1, f.least_normal, f.largest - 1, f.largest])
    return np.append(ends, rng.integers(0, f.largest, NUMBERS - ends.size, dtype=np.uint64))


def _step_above(magnitudes: Bits, f: Format) -> NDArray[np.float64]:
    """Return the distance from each number to the next larger one, also behind the largest."""
    field = np.maximum((magnitudes >> np.uint64(f.fraction_bits)).astype(np.int64), int(f.has_zero))
    return np.ldexp(1.0, field - f.bias - f.fraction_bits)


def grouped(found: Sequence[Operation]) -> Iterator[tuple[str, list[Operation]]]:
    """Yield the groups of operations with their titles; what has wide formats stands first."""

    def order(title: str) -> tuple[bool, bool, bool, int]:
        widest = max(o.sources[0].width for o in found if o.group == title)
        return title.startswith("Min"), title.startswith("Arithmetic"), " to " in title, -widest

    for title in sorted(dict.fromkeys(o.group for o in found), key=order):
        yield title, [o for o in found if o.group == title]
