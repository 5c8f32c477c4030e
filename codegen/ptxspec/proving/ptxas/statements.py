"""Statements for ptxas, with the registers that a signature requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from ...diagnostics import PtxspecError
from ...model import Variant
from ...query.database import SourceOperand
from .asking import REGISTERS

_PREDICATE = REGISTERS["pred"]


class Signed(Protocol):
    """Anything with a signature: a variant of the database, or its counterpart for another spelling."""

    @property
    def types(self) -> tuple[str, ...]: ...
    @property
    def result(self) -> str: ...
    @property
    def result_registers(self) -> int: ...
    @property
    def second(self) -> str | None: ...
    @property
    def sources(self) -> tuple[SourceOperand, ...]: ...
    @property
    def operands(self) -> int: ...


AnySigned = TypeVar("AnySigned", bound=Signed)


class Signature(NamedTuple):
    """The types that a spelling ends in, and the types and registers of its operands."""

    types: tuple[str, ...]
    result: str
    result_registers: int
    second: str | None
    sources: tuple[SourceOperand, ...]

    @property
    def operands(self) -> int:
        return sum(s.registers for s in self.sources)


def signature(v: Variant) -> Signature:
    return Signature(
        types=v.type_names,
        result=v.result.type.name,
        result_registers=len(v.result.places),
        second=v.pair.type.name if v.pair else None,
        sources=tuple(SourceOperand(s.type.name, len(s.places), s.braced, s.negatable) for s in v.written),
    )


def nearest(known: Sequence[AnySigned], types: tuple[str, ...], operands: int) -> AnySigned:
    """Return the signature that is most similar to that of a spelling that does not exist."""
    return min(known, key=lambda s: (s.types != types, len(s.types) != len(types), abs(s.operands - operands)))


def alike(known: Sequence[Signed], types: tuple[str, ...], operands: int) -> Signature:
    """Return a signature for a spelling that does not exist: that of the most similar one, with these types and this
    number of operands."""
    base = nearest(known, types, operands)
    last = len(types) - 1
    place = {name: types[min(i, last)] for i, name in reversed(list(enumerate(base.types)))}
    sources: list[SourceOperand] = []
    for s in (*base.sources, *[base.sources[-1]._replace(registers=1, braced=False)] * operands):
        left = operands - sum(s.registers for s in sources)
        if left:
            sources.append(s._replace(type=place.get(s.type, s.type), registers=min(left, s.registers)))
    result = place.get(base.result, base.result)
    return Signature(types, result, base.result_registers, second=None, sources=tuple(sources))


class StatementWriter:
    """A writer of statements. `registers` are those that the assembler accepts for operands of a type."""

    def __init__(self, registers: Mapping[str, Sequence[str]]) -> None:
        self._registers = registers

    def statement(self, spelling: str, s: Signed, second: bool = False, inverted: bool = False) -> str:
        """Return a statement: `add.f32 %f0, %f1, %f2;`. `second`: with the optional q of p|q, or p1 of p0|p1;
        `inverted`: with a `!` before predicates."""
        return f"{spelling} {', '.join(self.operands(s, second, inverted))};"

    def operands(self, s: Signed, second: bool = False, inverted: bool = False) -> list[str]:
        """Return the operands of a statement, each with a register of its own."""
        numbers = iter(range(100))
        others = [s.result] * (s.result_registers - 1) or [s.second or s.result]
        results = [s.result, *(others if second else ())]
        return ["|".join(f"{self.register(t)}{next(numbers)}" for t in results), *self._sources(s, numbers, inverted)]

    def _sources(self, s: Signed, numbers: Iterator[int], inverted: bool) -> Iterator[str]:
        for source in s.sources:
            # A constant is the number itself.
            register = "" if self._is_constant(source.type) else self.register(source.type)
            sign = "!" if inverted and register == _PREDICATE else ""
            names = [f"{sign}{register}{next(numbers)}" for _ in range(source.registers)]
            yield from [f"{{{', '.join(names)}}}"] if source.braced else names

    def _is_constant(self, type: str) -> bool:
        """Return whether an operand of a type accepts no register."""
        return not self._registers.get(type, _PREDICATE)

    def reads_predicates(self, s: Signed) -> bool:
        types = [source.type for source in s.sources if not self._is_constant(source.type)]
        return any(self.register(type) == _PREDICATE for type in types)

    def register(self, type: str) -> str:
        """Return the name, without a number, of the registers of a type."""
        for name in self._registers.get(type, ()):
            if name in REGISTERS:
                return REGISTERS[name]
        known = ", ".join(REGISTERS)
        raise PtxspecError(f"no registers of .{type} are known: spec/assembler.yaml must name one of {known}")
