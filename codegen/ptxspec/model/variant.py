"""A variant: one complete spelling, its operands, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..catalog import Hazard, Requirement
from .formats import Kind, Type, bits_of

# A spelling with its modifiers in the order of NVIDIA's manual, and the number of source registers.
Key = tuple[str, int]
# A variant's modifiers, the types that its spelling ends in, and the number of its source registers.
Form = tuple[frozenset[str], tuple[str, ...], int]
NOTHING = Requirement("", "")


@dataclass(frozen=True, eq=False)
class Operand:
    """A value of a statement, by its name in semantics: the result d or p, a second result q, a source.

    `registers` are the lanes' own registers, the highest lane's first, and `braced` if they are written as a vector;
    empty if one register holds all lanes. If it is `negatable`, a `!` may precede it. An `implicit` operand is the
    condition code, which no statement names. A `copied` one is passed on bit for bit: no modifier changes it.
    `lane_bits` are the bits of its one register that each lane reads, lane 0's first, each lane's highest bit first;
    empty if lanes read what the type says."""

    name: str
    type: Type
    registers: tuple[str, ...] = ()
    braced: bool = False
    negatable: bool = False
    lane_bits: tuple[tuple[int, ...], ...] = ()
    copied: bool = False
    implicit: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of a lane."""
        return bits_of(len(self.lane_bits[0])) if self.lane_bits else self.type.kind

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its registers in a statement."""
        return self.registers or (self.name,)

    @property
    def lanes(self) -> int:
        return len(self.registers) or self.type.lanes

    def read(self, register: int) -> list[int]:
        """Return the value that each lane reads from its register, as `lane_bits` say."""
        return [sum((register >> bit & 1) << i for i, bit in enumerate(reversed(bits))) for bits in self.lane_bits]

    def spread(self, value: int) -> int | None:
        """Return the register in which each lane reads this value; None if there is none, because lanes share bits."""
        register = 0
        for bits in self.lane_bits:
            for i, bit in enumerate(reversed(bits)):
                register |= (value >> i & 1) << bit
        return register if set(self.read(register)) == {value} else None


@dataclass(frozen=True, eq=False)
class Variant:
    """One complete spelling with its signature. `types` are those that the spelling ends in. `manual` is what NVIDIA's
    manual requires, None if it does not list the variant; `requires` is what the assembler was seen to require. `means`
    are modifiers that it behaves as if it had: those that `sin.f32` leaves out of `sin.approx.ftz.f32`.

    `second` is the q of p|q, which a statement may leave out; the q of d|q, which it may not; or the condition code
    that it sets. `hazards` are what its machine code does instead of what it says. `crash` says how the assembler,
    having accepted it, crashes on it; empty if it does not. `judges` are who found the results of an `exact` variant
    right; those of an `unjudged` one judged what it computed before it was changed. `program` is the digest of what it
    computes, on any target. Each variant is one object."""

    opcode: str
    modifiers: tuple[str, ...]
    types: tuple[Type, ...]
    result: Operand
    second: Operand | None
    sources: tuple[Operand, ...]
    listed: bool
    requires: Requirement = NOTHING
    manual: Requirement | None = None
    claim: str = "exact"
    judges: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    crash: str = ""
    program: str = ""

    @cached_property
    def spelling(self) -> str:
        return ".".join((self.opcode, *self.modifiers, *self.type_names))

    @cached_property
    def identifier(self) -> str:
        """Its name in generated code: of kernels and of the emulator's functions."""
        return f"{self.spelling.replace('.', '_').replace('::', '_')}_{self.operands}"

    @cached_property
    def type_names(self) -> tuple[str, ...]:
        return tuple(t.name for t in self.types)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((*self.modifiers, *self.type_names))

    @cached_property
    def operands(self) -> int:
        """The number of source registers in a statement."""
        return sum(len(s.places) for s in self.written)

    @cached_property
    def written(self) -> tuple[Operand, ...]:
        """The sources that appear in a statement."""
        return tuple(s for s in self.sources if not s.implicit)

    @property
    def pair(self) -> Operand | None:
        """The q of p|q or d|q."""
        return None if self.second is None or self.second.implicit else self.second

    @property
    def needed(self) -> tuple[Operand, ...]:
        """The results that appear in every statement. A second one may be left out only if the first is of its type."""
        return (self.result, self.pair) if self.pair and self.pair.type is not self.result.type else (self.result,)

    @cached_property
    def has_implicit(self) -> bool:
        """Return whether it reads or sets the condition code."""
        return any(o.implicit for o in (*self.results, *self.sources))

    @property
    def key(self) -> Key:
        return self.spelling, self.operands

    @cached_property
    def form(self) -> Form:
        """The key of a variant among those of its opcode, whatever the order of its modifiers."""
        return frozenset(self.modifiers), self.type_names, self.operands

    @property
    def results(self) -> tuple[Operand, ...]:
        return (self.result,) if self.second is None else (self.result, self.second)

    @cached_property
    def lanes(self) -> int:
        """The number of lanes that it computes. An operand of one lane is the same for all of them."""
        return max(o.lanes for o in (self.result, *self.sources))

    @cached_property
    def home(self) -> Kind:
        """The kind of its numbers: of its result, else of the first source that is a number."""
        kinds = [self.result.kind, *(s.kind for s in self.sources)]
        return next((k for k in kinds if k.sort in ("float", "integer")), kinds[-1])

    @cached_property
    def computes(self) -> bool:
        """Return whether the variant computes with a float instead of only copying it."""
        return any(s.kind.sort == "float" and not s.copied for s in self.sources)

    def __str__(self) -> str:
        return f"{self.spelling} ({self.operands} operand{'s' if self.operands > 1 else ''})"
