"""Recipes and their variants, run by the emulator on the same operands."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import ptxemu
from numpy.typing import NDArray
from ptxspec.model import NOTHING_DIFFERS, WITHIN_BOUND, Instead, Operand, Spec, Type, Variant
from ptxspec.model.bounds import parse_bound
from ptxspec.proving.gpu.bounds import Judge
from ptxspec.recipes.operands import near, specials

Bits = NDArray[Any]


def every_recipe(spec: Spec) -> list[tuple[Variant, Instead]]:
    return [(v, x) for v, offered in spec.instead.items() for x in offered]


def every_missing(spec: Spec) -> list[tuple[Variant, Instead]]:
    """The same for what PTX has nowhere."""
    return [(v, x) for v, offered in spec.missing.items() for x in offered]


def itself(v: Variant) -> str:
    """The variant as a statement."""
    operands = ["|".join(f"%{p}" for p in v.result.places)]
    for s in v.sources:
        names = [f"%{p}" for p in s.places]
        operands += [f"{{{', '.join(names)}}}"] if s.braced else names
    return f"{v.spelling} {', '.join(operands)};"


def emulated(spec: Spec, v: Variant) -> Any:
    """The variant as the newest target that has it runs it."""
    here = [t for t in spec.targets if spec.catalog.takes(v.requires, t)]
    return ptxemu.compile(v.spelling, v.operands, here[-1] if v.means or v.requires.within else None)


def bits(x: Bits | tuple[Bits, ...]) -> Bits:
    """The bits of a result; of several predicates, beside each other."""
    if isinstance(x, tuple):
        return np.bitwise_or.reduce([bits(p) << np.uint8(i) for i, p in enumerate(x)])
    return x.view(f"u{x.itemsize}")


def run_both(spec: Spec, v: Variant, instead: Instead, operands: list[Bits]) -> tuple[Bits, Bits]:
    recipe = ptxemu.function(instead.ptx, results=v.result.places)
    places = [place for s in v.sources for place in s.places]
    return bits(recipe(**dict(zip(places, operands, strict=True)))), bits(emulated(spec, v)(*operands))


def wrong(v: Variant, instead: Instead, operands: list[Bits], found: Bits, wanted: Bits) -> list[str]:
    """The operands of which a recipe makes what it may not."""
    bad = found != wanted
    f = v.result.kind.format
    if instead.differs != NOTHING_DIFFERS and f is not None:
        # Each lane may be another NaN, and nothing else.
        both = np.ones(found.shape, np.bool_)
        for lane in range(v.result.type.lanes):
            at = lane * v.result.type.lane_width
            x, y = (p.astype(np.uint64) >> np.uint64(at) & np.uint64((1 << f.width) - 1) for p in (found, wanted))
            magnitude = np.uint64(f.magnitudes - 1)
            nans = (x & magnitude >= f.first_nan) & (y & magnitude >= f.first_nan)
            next_to = (x.astype(np.int64) - y.astype(np.int64)).__abs__() <= 1
            both &= (x == y) | nans | (next_to if instead.differs == WITHIN_BOUND else np.False_)
        bad &= ~both
    return [
        f"{v}: {[hex(int(o[i])) for o in operands]} -> {int(found[i]):#x}, not {int(wanted[i]):#x}"
        for i in np.flatnonzero(bad)[:3]
    ]


def dtype(t: Type) -> str:
    return f"u{t.width // 8}" if t.width > 1 else "?"


def special_operands(v: Variant, count: int) -> list[Bits]:
    """Special values in all combinations, or so many of these; each lane has another one."""
    registers = [s.type for s in v.sources for _ in s.places]
    columns = [np.array(specials(t.kind), np.uint64) for t in registers]
    size = int(np.prod([len(c) for c in columns]))
    places = np.arange(size) if size <= count else np.random.default_rng(3).integers(0, size, count)
    found = []
    for t, column in zip(registers, columns, strict=True):
        whole = np.zeros(len(places), np.uint64)
        for lane in range(t.lanes):
            whole |= np.roll(column[places % len(column)], 7 * lane) << np.uint64(lane * t.lane_width)
        found.append(whole.astype(dtype(t)))
        places = places // len(column)
    return found


def random_operands(v: Variant, count: int) -> list[Bits]:
    """Half of them any bits, half such as meet in a sum."""
    rng, registers = np.random.default_rng(4), [s.type for s in v.sources for _ in s.places]
    r = random.Random(5)
    close = [tuple(near(registers, r)) for _ in range(min(count // 2, 2_000))]
    found = []
    for i, t in enumerate(registers):
        whole = rng.integers(0, 1 << t.width, count, np.uint64) if t.width < 64 else rng.bytes(8 * count)
        any_bits = np.frombuffer(whole, np.uint64) if isinstance(whole, bytes) else whole
        found.append(np.concatenate([any_bits, np.array([c[i] for c in close], np.uint64)]).astype(dtype(t)))
    return found


def split(instead: Instead) -> tuple[Any, dict[str, Variant], Any]:
    """Functions of the statements up to what approximate ones read, and of those that follow; between them, by the
    names of their results, the approximate ones, which stand together."""
    at = [n for n, c in enumerate(instead.calls) if c.variant.claim == "bounded"]
    parts = instead.calls[: at[0]], instead.calls[at[0] : at[-1] + 1], instead.calls[at[-1] + 1 :]
    declared = " ".join(instead.own_registers)
    before, _, after = (f"{declared} {' '.join(c.text for c in calls)}" for calls in parts)
    between = {c.results[0].lstrip("%"): c.variant for c in parts[1]}
    read = [c.arguments[0].lstrip("%") for c in parts[1]]
    return ptxemu.function(before, results=read), between, ptxemu.function(after, results=["d"])


def outside(
    spec: Spec, v: Variant, operands: list[Bits], before: Any, between: dict[str, Variant], after: Any
) -> list[str]:
    """Lanes of which the error is larger than the variant's bound, where the approximate statements between the two
    functions err as far as they may, or not at all. A register has all lanes of an operand."""
    read = before(**{place: x for s, x in zip(v.sources, operands, strict=True) for place in s.places})
    xs = [bits(x) for x in (read if isinstance(read, tuple) else (read,))]
    wanted = bits(emulated(spec, v)(*operands))
    wrong = []
    for sign in (0, -1, 1):
        made = {
            name: farthest(spec, a, x.view(np.float32), ptxemu.compile(a.spelling)(x).view(np.float32), sign)
            for (name, a), x in zip(between.items(), xs, strict=True)
        }
        found = bits(after(**{name: t.view(np.uint32) for name, t in made.items()}))
        for lane in range(v.lanes):
            got, want = lane_of(v.result, found, lane), lane_of(v.result, wanted, lane)
            other = got != want
            columns = [lane_of(s, x, lane)[other] for s, x in zip(v.sources, operands, strict=True)]
            judged = Judge(spec, spec.instructions[v.opcode], v, None).judge(columns, got[other], want[other])
            for n in np.flatnonzero(judged.outside | judged.open)[:3]:
                x = [hex(int(c[n])) for c in columns]
                wrong.append(f"{v} of {x}, lane {lane}: {int(got[other][n]):#x}, too far from {int(want[other][n]):#x}")
    return wrong


def lane_of(operand: Operand, register: Bits, lane: int) -> Bits:
    f = operand.kind.format
    assert f is not None
    bits = register.astype(np.uint64) >> np.uint64(lane * operand.type.lane_width + operand.type.shift)
    return (bits & np.uint64((1 << f.width) - 1)).astype(f"u{f.width // 8}")


def farthest(spec: Spec, v: Variant, x: NDArray[Any], exact: NDArray[Any], sign: int) -> NDArray[Any]:
    """Results of single precision as far from the exact ones as the manual's bound lets them be. Those of zeros,
    infinities and NaNs are fixed by corner cases."""
    (rule,) = [a for a in spec.instructions[v.opcode].accuracy if a.selector.matches(v)]
    wide = exact.astype(np.float64)
    with np.errstate(all="ignore"):
        if rule.kind.startswith("ulp"):
            off = wide + sign * float(parse_bound(rule.bound)) * np.abs(np.spacing(exact)).astype(np.float64)
        else:
            off = wide * (1 + sign * float(parse_bound(rule.bound)))
        moved = off.astype(np.float32)
    return np.where(np.isfinite(x) & (x != 0) & np.isfinite(exact) & (exact != 0), moved, exact)
