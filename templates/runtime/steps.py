"""Straight-line PTX as steps, each with the values that it reads and writes; and the errors for PTX that cannot be
run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from .binary import Array
from .conditions import Guard
from .kernels import Kernel
from .signature import Signature, Type

# The number of refusals listed in an error.
_SHOWN = 20


class Refused(NamedTuple):
    """A refusal, and its place in the text: line and column count from 1, `source` is the text of the line."""

    line: int
    column: int
    source: str
    message: str

    def __str__(self) -> str:
        caret = re.sub(r"[^\t]", " ", self.source[: self.column - 1]) + "^"
        return f"{self.line}:{self.column}: {self.message}\n    {self.source}\n    {caret}"


class StatementError(ValueError):
    """An error for PTX that cannot be run; `refused` lists the statements and the reasons."""

    def __init__(self, refused: Iterable[Refused]) -> None:
        self.refused = tuple(sorted(refused))
        shown = [*map(str, self.refused[:_SHOWN])]
        more = len(self.refused) - _SHOWN
        super().__init__("\n".join([*shown, *[f"and {more} more"] * (more > 0)]))


class Effect(NamedTuple):
    """The effect of a step on a register: its type there, its value before (None: it had none) and after."""

    register: str
    type: str
    before: int | None
    after: int


@dataclass(frozen=True, eq=False)
class Step:
    """A statement. `sources` are the values that it reads, some of them `negated`. `results` are the values that it
    writes, None for discarded ones; `names` are their registers, empty where the next step fills the register, and
    `before` their previous values, None where they had none. In lanes where its `guard`, if any, is false, registers
    keep these."""

    line: int
    text: str
    claim: str
    kernel: Kernel
    signature: Signature
    sources: tuple[int, ...]
    negated: tuple[bool, ...]
    results: tuple[int | None, ...]
    names: tuple[str, ...]
    before: tuple[int | None, ...]
    guard: Guard | None = None
    is_of_warps: bool = False

    @property
    def is_in_c(self) -> bool:
        """Return whether it runs in C. The inverse of a kernel does not."""
        return self.kernel.is_in_c and self.signature is self.kernel._signature

    @property
    def reads(self) -> set[int]:
        """The values that it reads. With a guard, the previous values of its registers are among them."""
        if self.guard is None:
            return set(self.sources)
        return {*self.sources, *self.guard.values, *(v for v in self.before if v is not None)}

    @property
    def writes(self) -> set[int]:
        return {v for v in self.results if v is not None}

    @property
    def effects(self) -> list[Effect]:
        """The effects on the registers that its statement writes."""
        found = zip(self.names, self.signature.places[-1], self.before, self.results, strict=False)
        return [Effect(name, t.name, before, v) for name, (_, t), before, v in found if v is not None and name]

    @cached_property
    def ufunc(self) -> np.ufunc | None:
        """The kernel in C, if a call of it is the whole step: it has one result, no guard and no negated operand."""
        alone = len(self.signature.places[0]) == len(self.results) == 1 and self.results[0] is not None
        if not alone or self.guard is not None or any(self.negated) or not self.is_in_c:
            return None
        return self.kernel._ufuncs[0]

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        """The dtype of the first result for operands as bits."""
        s = self.signature
        return s.representation(s.places[0][0][1], [t.bits for _, t in s.registers])

    def run(self, values: dict[int, Array], size: int) -> None:
        """Run it on `size` elements, and add its results to the values. A call in C fills the array that a result has
        already."""
        if (ufunc := self.ufunc) is not None:
            [result] = self.writes
            operands = [values[i] for i in self.sources]
            if result in values:
                ufunc(*operands, out=values[result].view(self._dtype), casting="equiv")
            else:
                values[result] = ufunc(*operands).view(self.signature.places[0][0][1].bits)
            return
        operands = [~values[i] if n else values[i] for i, n in zip(self.sources, self.negated, strict=True)]
        # The next step requires contiguous arrays.
        found = list(map(np.ascontiguousarray, self.kernel.registers(operands, size, self.signature)))
        for i, x in zip(self.results, kept(found, self.before, self.guard, values, size), strict=False):
            if i is not None:
                values[i] = x


@dataclass(frozen=True, eq=False)
class Resize:
    """The low bits of a register for a narrower operand, or a result in a wider register, extended by zeros, or by
    copies of the sign where it is `signed`. Otherwise as a step."""

    line: int
    text: str
    source: int
    result: int
    type: Type
    signed: bool = False
    name: str = ""
    before: int | None = None
    guard: Guard | None = None
    claim: str = ""
    is_in_c: bool = False
    is_of_warps: bool = False

    @property
    def reads(self) -> set[int]:
        if self.guard is None or self.before is None:
            return {self.source}
        return {self.source, self.before, *self.guard.values}

    @property
    def writes(self) -> set[int]:
        return {self.result}

    @property
    def effects(self) -> list[Effect]:
        """The effect on the register that is written."""
        return [Effect(self.name, self.type.name, self.before, self.result)] if self.name else []

    def run(self, values: dict[int, Array], size: int) -> None:
        """Run it on `size` elements, and add its result to the values."""
        made = resized(values[self.source], self.type, self.signed)
        (values[self.result],) = kept([made], [self.before], self.guard, values, size)


def is_signed(t: Type) -> bool:
    """Return whether a value of a type is sign-extended in a wider register."""
    return t.native_name.startswith("int")


def resized(x: Array, to: Type, signed: bool) -> Array:
    """Return bits in a register of a type: the low ones, or all, extended by zeros or copies of the sign."""
    return (x.view(f"i{x.itemsize}") if signed else x).astype(to.bits)


def kept(
    found: Sequence[Array],
    before: Sequence[int | None],
    guard: Guard | None,
    values: Mapping[int, Array],
    size: int,
) -> Sequence[Array]:
    """Return results, with the previous values in the lanes where the guard is false."""
    if guard is None or not any(b is not None for b in before):
        return found
    condition = guard.holds(values, size)
    return [x if b is None else np.where(condition, x, values[b]) for x, b in zip(found, before, strict=False)]


@dataclass(frozen=True, eq=False)
class Named:
    """A register that is an input or result: its name, its value, and the types as which its bits are read or
    written."""

    name: str
    value: int
    types: tuple[Type, ...]

    @property
    def type(self) -> Type:
        """The type as which its bits are read: preferably a number, not bits."""
        order = ("float", "integer", "bool", "bits")
        return min(self.types, key=lambda t: (not t.native_name, order.index(t.sort)))


@dataclass(frozen=True, eq=False)
class Program:
    """A program. `constants` are the bits of known values. `target` is the target that statements are checked for, if
    any."""

    target: str | None
    inputs: tuple[Named, ...]
    results: tuple[Named, ...]
    constants: Mapping[int, np.generic]
    steps: tuple[Running, ...]

    @cached_property
    def has_warps(self) -> bool:
        """Return whether all lanes of a warp run some statement together."""
        return any(step.is_of_warps for step in self.steps)

    @cached_property
    def filled(self) -> Mapping[int, np.dtype[Any]]:
        """The values for which a step fills an array that it is given, with the array's dtype."""
        calls = (s for s in self.steps if isinstance(s, Step) and s.ufunc is not None)
        return {x: s.signature.places[0][0][1].bits for s in calls for x in s.writes}

    @cached_property
    def passing(self) -> frozenset[int]:
        """Those of them whose memory is free after their last use. A step in NumPy may return an operand itself."""
        kept = {v for s in self.steps if not isinstance(s, Step) or s.ufunc is None for v in s.reads}
        return frozenset(self.filled.keys() - kept - {named.value for named in self.results})

    @cached_property
    def scalars(self) -> Mapping[int, Array]:
        """The constants that are needed once, and not for each element: those that only steps in C read."""
        whole: set[int] = set()
        for step in self.steps:
            if not isinstance(step, Step) or step.ufunc is None or step.reads <= self.constants.keys():
                whole |= step.reads
        return {value: np.asarray(bits) for value, bits in self.constants.items() if value not in whole}

    @cached_property
    def columns(self) -> Mapping[int, np.generic]:
        """The constants that are needed for each element."""
        return {value: bits for value, bits in self.constants.items() if value not in self.scalars}

    @cached_property
    def done_with(self) -> tuple[tuple[int, ...], ...]:
        """The values that are no longer needed, after each step."""
        return done_with(self.steps, {named.value for named in self.results})


class Dependent(Protocol):
    """A step, seen as the values that it reads and writes."""

    @property
    def reads(self) -> set[int]: ...

    @property
    def writes(self) -> set[int]: ...


class Running(Dependent, Protocol):
    """A step of a function. A step of warps requires their 32 lanes one after another."""

    @property
    def line(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def claim(self) -> str: ...

    @property
    def is_in_c(self) -> bool: ...

    @property
    def is_of_warps(self) -> bool: ...

    @property
    def effects(self) -> list[Effect]: ...

    def run(self, values: dict[int, Array], size: int) -> None: ...


def done_with(steps: Sequence[Dependent], results: set[int]) -> tuple[tuple[int, ...], ...]:
    """Return, for each step, the values that neither later steps nor the results need."""
    wanted, found = set(results), []
    for step in reversed(steps):
        values = step.reads | step.writes
        found.append(tuple(values - wanted))
        wanted |= values
    return tuple(reversed(found))
