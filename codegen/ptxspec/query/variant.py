"""A variant in the database: the facts about one spelling with its signature."""

from __future__ import annotations

from typing import NamedTuple

from ..catalog import Hazard, Requirement, named
from .recording import Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..compact import Word


class SourceOperand(NamedTuple):
    """A source operand: its type, and the number of its registers, in braces or one by one."""

    type: str
    registers: int = 1
    braced: bool = False
    negatable: bool = False


class Variant(NamedTuple):
    """One complete spelling with its signature.

    `kind` is that of the result: "float", "integer", "bits" or "predicate"; `result` is its type, `result_registers`
    the number of its lanes in p0|p1, else 1; `second` is the type of q in `p|q`. `operands` counts source registers.

    `requires` is the requirement observed from the assembler, which verdicts follow; `manual` is None if NVIDIA's
    manual does not list the variant. `claim` states how faithful the emulator is where no target is named, and `basis`
    why. `recorded` compares the emulator with each recording of the variant: "equal", "inside" (the manual's bound) or
    "unequal". `means` are modifiers that it behaves as if it had. `hazards` describe what its machine code does
    instead, and where; `loose` describes other possible results. `crash` is the failure of the assembler that accepts
    the variant and crashes on it, which makes it available nowhere. `known` is the place of all this in the opcode's
    file."""

    spelling: str
    opcode: str
    modifiers: frozenset[str]
    types: tuple[str, ...]
    kind: str
    result: str
    result_registers: int
    second: str | None
    sources: tuple[SourceOperand, ...]
    operands: int
    requires: Requirement
    manual: Requirement | None
    claim: str
    basis: str
    recorded: tuple[tuple[Recording, str], ...]
    means: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    loose: tuple[str, ...]
    crash: str | None
    known: int

    @property
    def names(self) -> frozenset[str]:
        """The modifiers and types, unordered."""
        return self.modifiers.union(self.types)

    @property
    def word(self) -> Word:
        """The modifiers in order, and the types."""
        modifiers = self.spelling.split(".")[1 : -len(self.types)]
        return tuple(modifiers), self.types

    @property
    def places(self) -> str:
        """The operands as in a statement, with invented names: "d, a, b"."""
        results = [f"p{i}" for i in range(self.result_registers)] if self.result_registers > 1 else []
        results = results or ["p" if self.kind == "predicate" else "d", *["q"] * (self.second is not None)]
        found = ["|".join(results)]
        for name, source in zip("abcefghi", self.sources, strict=False):
            lanes = [f"{name}{i}" for i in reversed(range(source.registers))] if source.registers > 1 else [name]
            found.append(f"{{{', '.join(lanes)}}}" if source.braced else ", ".join(lanes))
        return ", ".join(found)

    @property
    def listed(self) -> bool:
        """Return whether NVIDIA's manual lists the variant."""
        return self.manual is not None

    def __str__(self) -> str:
        return f"{self.spelling} ({self.operands} operand{'s' * (self.operands != 1)})"

    @property
    def needs(self) -> str:
        """The targets and PTX versions that support the variant, in short; if few targets do, their number."""
        r, more = self.requires, len(self.requires.on) - 1
        target = (r.target + f" and {more} more" * (more > 0)) if r.on else f"{r.target} or newer"
        return f"{target}, PTX {r.ptx} to {r.until}" if r.until else f"{target}, PTX {r.ptx} or newer"

    def __repr__(self) -> str:
        return f"<Variant {self}: {self.needs}; {self.claim}{', hazard' * bool(self.hazards)}>"

    def _repr_html_(self) -> str:
        from .. import notebook  # only needed there

        facts = [("needs", self.needs), ("claim", self.claim), ("basis", self.basis)]
        facts += [("hazard", h.text) for h in self.hazards] + [("loose", text) for text in self.loose]
        return notebook.block(str(self), notebook.facts(facts))


class Many(tuple[Variant, ...]):
    """Variants that show themselves in one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} variants: {named(v.spelling for v in self)}>"
