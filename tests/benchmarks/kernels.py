"""`python kernels.py VARIANT/OPERANDS...`: measure kernels in a process of its own, in C where ptxemu finds that.

One thread, out= given. Prints a JSON list with an object for each variant: its "spelling"; "ns" per element on random
bit patterns; "add", the ratio to numpy.add on float32 numbers; "own" and "softfloat", those to NumPy's operation of the
same name and to SoftFloat's function on the same operands, or null; "specials", the longest time on subnormals, NaNs or
a mixture of all kinds of operands over that on ordinary ones. All are medians of processor time, over rounds in which
everything was called in turn.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import ptxemu
import softfloat
from families import names, opcode, type_of
from numpy.typing import NDArray
from ptxemu import Variant
from timing import in_turn

Bits = NDArray[Any]
SIZE = 1 << 20
# Special values are told from ordinary ones on fewer elements.
FEWER = 1 << 17
# SoftFloat takes some tens of nanoseconds for an element: no more are needed to tell.
SHORT = 1 << 16
# A kernel that takes longer for an element is measured on few: more would be no more exact.
SLOW, FEW = 200e-9, 1 << 14
# Exponent and fraction bits of a lane.
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
NATIVE = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
# NumPy's names of PTX's operations. fmin and fmax return the number where one operand is a NaN, as min and max do.
OWN: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt, "rcp": np.reciprocal,
    "min": np.fmin, "max": np.fmax, "min.NaN": np.minimum, "max.NaN": np.maximum, "abs": np.abs, "neg": np.negative,
    "testp.finite": np.isfinite, "testp.infinite": np.isinf, "testp.notanumber": np.isnan,
    "sin": np.sin, "cos": np.cos, "lg2": np.log2, "ex2": np.exp2, "tanh": np.tanh,
    "copysign": lambda a, b, **given: np.copysign(b, a, **given),
}  # fmt: skip
# What a caller of NumPy has no choice of, so that the operation is still the one to compare with.
INDIFFERENT = {"rn", "rz", "rm", "rp", "approx", "full"}


def own_operation(v: Variant) -> Callable[..., Any] | None:
    """Return NumPy's operation of the variant's name, whatever the rounding, or None where it has none."""
    if v.operands > 2:
        return None
    return OWN.get(".".join((opcode(v), *sorted(names(v) - INDIFFERENT))))


def lane(type_: str) -> str:
    return type_.removesuffix("x2")


@cache
def operands(type_: str, kind: str) -> list[Bits]:
    """Three arrays of bit patterns. All but the random and mixed ones are positive first: roots of them exist."""
    e, f = FIELDS[lane(type_)]
    dtype = np.dtype(f"u{(1 + e + f) // 8}")
    count = SIZE * (2 if type_.endswith("x2") else 1)
    rng = np.random.default_rng([e, f])
    found = []
    for i in range(3):
        bits = rng.integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True)
        fraction = np.maximum(bits & dtype.type((1 << f) - 1), dtype.type(1))
        sign = bits & dtype.type((1 << (e + f)) if i else 0)
        bias = (1 << (e - 1)) - 1
        exponent = rng.integers(bias - 4, bias + 4, count).astype(dtype) << dtype.type(f)
        top = dtype.type(((1 << e) - 1) << f)
        kinds = {
            "random": bits,
            "ordinary": sign | exponent | fraction,
            "subnormal": sign | fraction,
            "NaN": sign | top | fraction,
        }
        kinds["mixed"] = np.choose(rng.integers(0, 6, count), [*kinds.values(), sign, sign | top])
        found.append(kinds[kind].view(f"u{dtype.itemsize * count // SIZE}"))
    return found


@cache
def yardstick() -> Callable[[], object]:
    rng = np.random.default_rng(2026)
    x, y, z = (rng.standard_normal(SIZE).astype(np.float32) for _ in range(3))
    return lambda: np.add(x, y, out=z)


class Measured:
    """A variant, and the times of its rounds so far: those of the kernel and of what it is compared with."""

    def __init__(self, v: Variant) -> None:
        self.variant, self.type = v, type_of(v)
        self.kernel = ptxemu.compile(v.spelling, v.operands)
        self.out = np.empty(SIZE, bool if opcode(v) == "testp" else operands(self.type, "random")[0].dtype)
        [[seconds]] = in_turn(self.on("random", FEW), rounds=1, clock=time.thread_time)
        self.size = FEW if seconds > SLOW * FEW else SIZE
        self.sizes = {"kernel": self.size, "add": SIZE, "own": self.size, "softfloat": min(self.size, SHORT)}
        self.rounds: dict[str, list[float]] = {name: [] for name in self.sizes}

    def on(self, kind: str, size: int) -> Callable[[], object]:
        given = [x[:size] for x in operands(self.type, kind)[: self.variant.operands]]
        return lambda: self.kernel(*given, out=self.out[:size], threads=1)

    def own(self) -> Callable[[], object] | None:
        own, native = own_operation(self.variant), NATIVE.get(lane(self.type))
        if own is None or native is None:
            return None
        given = [x[: self.size].view(native) for x in operands(self.type, "random")[: self.variant.operands]]
        out = np.empty(given[0].shape, bool if opcode(self.variant) == "testp" else native)
        return lambda: own(*given, out=out)

    def softfloat(self) -> Callable[[], Bits] | None:
        given = [x[: self.sizes["softfloat"]] for x in operands(self.type, "random")[: self.variant.operands]]
        return softfloat.call(self.variant, given)

    def check(self) -> None:
        """A ratio to what computes something else would say nothing."""
        run = self.softfloat()
        if run is None:
            return
        due = run()
        self.on("random", due.size)()
        got, native = self.out[: due.size], NATIVE[self.type]
        same = (got == due) | (np.isnan(got.view(native)) & np.isnan(due.view(native)))
        assert same.all(), f"{self.variant.spelling}: {np.count_nonzero(~same)} results are not SoftFloat's"

    def measure(self, rounds: int) -> None:
        every = (self.on("random", self.size), yardstick(), self.own(), self.softfloat())
        functions = {name: f for name, f in zip(self.rounds, every, strict=True) if f}
        taken = in_turn(*functions.values(), rounds=rounds, seconds=0.01, clock=time.thread_time)
        for name, times in zip(functions, taken, strict=True):
            self.rounds[name] += times

    def ratio(self, to: str) -> float | None:
        """The kernel's time for an element in times of another's."""
        kernel, other = self.rounds["kernel"], self.rounds[to]
        if not other:
            return None
        return median(k / o for k, o in zip(kernel, other, strict=True)) * self.sizes[to] / self.size

    def result(self) -> dict[str, Any]:
        kinds = ("ordinary", "subnormal", "NaN", "mixed")
        ordinary, *special = in_turn(
            *(self.on(k, min(FEWER, self.size)) for k in kinds), rounds=3, seconds=0.02, clock=time.thread_time
        )
        return {
            "spelling": self.variant.spelling,
            "ns": median(self.rounds["kernel"]) / self.size * 1e9,
            **{to: self.ratio(to) for to in ("add", "own", "softfloat")},
            "specials": max(median(s / o for s, o in zip(times, ordinary, strict=True)) for times in special),
        }


def slowest(found: list[Measured], to: str) -> list[Measured]:
    ratios = {m: ratio for m in found if (ratio := m.ratio(to))}
    return sorted(ratios, key=lambda m: -ratios[m])[:3]


def main(asked: list[str]) -> None:
    known = {f"{v.spelling}/{v.operands}": v for v in ptxemu.variants()}
    with np.errstate(all="ignore"):
        found = [Measured(known[name]) for name in asked]
        for m in found:
            m.check()
            m.measure(rounds=3)
        # The slowest is what counts, and a disturbance makes slow: look again.
        for m in dict.fromkeys(slowest(found, "add") + slowest(found, "softfloat")):
            m.measure(rounds=9)
        json.dump([m.result() for m in found], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
