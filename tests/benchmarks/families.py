"""Families of variants that are measured together, and what may at most be asked of their slowest one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import ptxemu
from ptxemu import Variant

DIRECTED = {"rz", "rm", "rp"}
ROUNDINGS = {"rn", *DIRECTED}
FLUSHING = {"ftz", "sat"}
# Functions that PTX has as approximations only.
ELEMENTARY = {"rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}

# Opcodes that test_signatures.py measures.
OTHERS = {"cvt", "setp", "set", "selp", "slct"}
DETAILS: dict[str, Callable[[set[str]], bool]] = {
    "plain": lambda names: not names & FLUSHING,
    ".ftz or .sat": lambda names: bool(names & FLUSHING),
    "directed": lambda names: bool(names & DIRECTED),
    "nearest": lambda names: not names & DIRECTED,
}


def opcode(v: Variant) -> str:
    return v.spelling.split(".")[0]


def names(v: Variant) -> set[str]:
    """The variant's modifiers."""
    return set(v.spelling.split(".")[1:-1])


def type_of(v: Variant) -> str:
    return v.spelling.split(".")[-1]


def has_one_type(v: Variant) -> bool:
    """One type of operands, and the result's or a predicate: the others are measured by test_signatures.py."""
    signature = ptxemu.compile(v.spelling, v.operands)._signature
    results = {o.type for o in signature.results}
    same = signature.common is not None and len(signature.results) == 1 and opcode(v) not in OTHERS
    return same and (results == {signature.common} or opcode(v) == "testp")


def rounding(v: Variant) -> str:
    return next((n for n in names(v) if n in ROUNDINGS), "rn")


def operation(v: Variant) -> str:
    """The name of what is computed, without its rounding: fma for mad, which is the same since sm_20 and of f64."""
    fused = opcode(v) == "mad" and (names(v) & ROUNDINGS or type_of(v) == "f64")
    named = "fma" if fused else opcode(v)
    return ".".join((named, *sorted(names(v) - ROUNDINGS)))


def approximates(v: Variant) -> bool:
    # The spellings of PTX 1.x leave .approx out; of approximations of f64 the manual gives no bound.
    return opcode(v) in ELEMENTARY or v.claim == "bounded" or "approx" in names(v)


@dataclass(frozen=True)
class Family:
    """Variants of some types and opcodes (none named: the approximations) with all of some details.

    `target` and `accelerated_target` are the most that the slowest of them may take, with NumPy only and with the
    accelerator, in times of numpy.add on float32 arrays of the same length; None where nothing is asked."""

    types: str
    opcodes: str
    details: tuple[str, ...] = ()
    target: float | None = None
    accelerated_target: float | None = None

    @property
    def title(self) -> str:
        details = [d for d in self.details if d != "plain"]
        return ", ".join([f"{self.types} {self.opcodes or 'approximations'}", *details])

    @cached_property
    def variants(self) -> list[Variant]:
        return [v for v in ptxemu.variants() if has_one_type(v) and self._has(v)]

    def _has(self, v: Variant) -> bool:
        if type_of(v) not in self.types.split() or approximates(v) == bool(self.opcodes):
            return False
        of_opcode = not self.opcodes or opcode(v) in self.opcodes.split()
        return of_opcode and all(DETAILS[d](names(v)) for d in self.details)


ADDING, DIVIDING, FUSED = "add sub mul", "div sqrt rcp", "fma mad"
BITWISE = "min max abs neg copysign testp"
FAMILIES = (
    Family("f32", ADDING, ("plain",), 6, 4),
    Family("f32", ADDING, (".ftz or .sat",), 12, 7),
    Family("f32", DIVIDING, ("plain",), 10, 8),
    Family("f32", DIVIDING, (".ftz or .sat",), 16, 11),
    Family("f32", BITWISE, ("plain",), 8, 5),
    Family("f32", BITWISE, (".ftz or .sat",), 14, 8),
    Family("f32", FUSED, ("directed", "plain"), 25, 8),
    Family("f32", FUSED, ("directed", ".ftz or .sat"), 31, 11),
    Family("f32", FUSED, ("nearest", "plain"), 40, 8),
    Family("f32", FUSED, ("nearest", ".ftz or .sat"), 46, 11),
    Family("f32", "", (), 150, 60),
    Family("f64", f"{ADDING} {DIVIDING}", (), 15, 10),
    Family("f64", BITWISE),
    Family("f64", FUSED, (), 150, 12),
    Family("f64", ""),
    Family("f16 bf16", ADDING, (), 20, 15),
    Family("f16 bf16", "fma min max", (), 60, 15),
    Family("f16 bf16", "abs neg"),
    Family("f16 bf16", ""),
    # Two lanes may take twice as long as one.
    Family("f32x2", ADDING, ("plain",), 12, 8),
    Family("f32x2", ADDING, (".ftz or .sat",), 24, 14),
    Family("f32x2", FUSED, ("directed", "plain"), 50, 16),
    Family("f32x2", FUSED, ("directed", ".ftz or .sat"), 62, 22),
    Family("f32x2", FUSED, ("nearest", "plain"), 80, 16),
    Family("f32x2", FUSED, ("nearest", ".ftz or .sat"), 92, 22),
    Family("f16x2 bf16x2", ADDING, (), 40, 30),
    Family("f16x2 bf16x2", "fma min max", (), 120, 30),
    Family("f16x2 bf16x2", "abs neg"),
    Family("f16x2 bf16x2", ""),
)
