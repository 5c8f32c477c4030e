"""One opcode: its variants, and what its file says of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ..basis import Basis
from ..diagnostics import Mark
from .code import Code
from .folding import Folding
from .formats import NanRule
from .hazards import HazardRule
from .requirements import Form, Rule, Selector
from .variant import Variant

if TYPE_CHECKING:
    from .functions import Intrinsic
    from .recipes import Missing, Recipe


@dataclass(frozen=True)
class Value:
    """A cell of a corner-case table. `kind` is "class", "number", "bits", "operand" or "bool"."""

    text: str
    kind: str
    # The text says it, and is quicker to compare.
    number: Fraction = field(default=Fraction(0), compare=False)
    negative: bool = False
    bits: int = 0


@dataclass(frozen=True)
class CornerRow:
    """A cell for each source operand, and of the result: two of them where p|q has both. The row says nothing of
    variants that have one of the modifiers `without`."""

    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    mark: Mark = field(compare=False)
    without: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class CornerTable:
    title: str
    basis: Basis
    selector: Selector
    rows: tuple[CornerRow, ...]

    def rows_of(self, variant: Variant) -> tuple[CornerRow, ...]:
        """Return the rows that are about a variant of the table."""
        has = {*variant.modifiers, *variant.means}
        count = len(variant.sources)
        return tuple(r for r in self.rows if len(r.operands) == count and has.isdisjoint(r.without))


@dataclass(frozen=True)
class Exceeded:
    """A bound of the manual's that the hardware itself breaks: in the ranges of targets `within`, most of all for
    `operands`, whose `result` is that of `basis`; these are encodings. `error` is that of the result, in the units
    of the bound."""

    within: tuple[tuple[str, str], ...]
    operands: tuple[int, ...]
    result: int
    error: str
    basis: str

    @property
    def ranges(self) -> str:
        """The ranges of targets in words: "sm_50 to sm_75, sm_86"."""
        return ", ".join(first if first == last else f"{first} to {last}" for first, last in self.within)

    def worst(self, width: int) -> str:
        """Return the operands and their result as hexadecimal numbers of so many bits."""
        digits = width // 4
        operands = ", ".join(f"0x{x:0{digits}x}" for x in self.operands)
        return f"{operands} give{'s' * (len(self.operands) == 1)} 0x{self.result:0{digits}x}"


@dataclass(frozen=True)
class Accuracy:
    """A bound on the error of an approximation: `bound` in units of `kind`, for operands in `range`."""

    selector: Selector
    kind: str
    bound: str
    range: str
    section: str
    exceeded: Exceeded | None = None


@dataclass(frozen=True)
class Meaning:
    """Spellings that behave as though they had further modifiers."""

    selector: Selector
    modifiers: tuple[str, ...]
    section: str


@dataclass(frozen=True)
class Page:
    """A page of NVIDIA's manual."""

    section: str
    anchor: str


@dataclass(frozen=True)
class Tolerated:
    """Spellings of an opcode that the assembler takes although they mean nothing; where they are a `crash`, it then
    breaks down on them."""

    text: str
    forms: tuple[Form, ...]
    note: str
    crash: bool = False


@dataclass(frozen=True)
class OperandRule:
    """The registers, by their types, and the sorts of constants that the assembler takes for operands of a type, where
    these are not as for every instruction."""

    selector: Selector
    registers: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SyntaxLine:
    """A line of the syntax, and the variants that it gives."""

    text: str
    listed: bool
    forms: frozenset[Form]

    def gives(self, variant: Variant) -> bool:
        return variant.form in self.forms


@dataclass(frozen=True)
class Compared:
    """A comparison of variants with functions of other languages: they differ for operands of the classes `differs`,
    else they are equal, but for what the functions leave open."""

    selector: Selector
    functions: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A paragraph about some variants. `open` says what the manual leaves open of their results; `loose`: their results
    may be others than the spelling lets one expect, which whoever asks about them is told."""

    text: str
    basis: Basis
    selector: Selector
    open: str
    loose: bool


@dataclass(frozen=True)
class Trial:
    """The variant that an evaluator shows first, and the texts of its operands, by the names of registers."""

    spelling: str
    operands: Mapping[str, str]


@dataclass(frozen=True)
class Crash:
    """Variants that the assembler takes, and then breaks down on: no machine code comes of them. `text` says how."""

    selector: Selector
    text: str


@dataclass(frozen=True)
class HardwarePath:
    """The machine code around `units`, on the targets `within` or, None, on all others: it takes the place of the
    semantics where all of the units are known."""

    selector: Selector
    code: Code
    units: tuple[str, ...]
    within: tuple[str, str] | None = None


@dataclass(frozen=True)
class LaneBits:
    """The bits of an operand's register that each lane reads. `lanes` are pairs of a lane and its bits as they were
    written, `31..16`, the highest lane first."""

    selector: Selector
    operand: str
    lanes: tuple[tuple[int, str], ...]
    basis: Basis


@dataclass(frozen=True)
class Instruction:
    """An opcode with its variants. `refused` are variants that the manual lists and the assembler takes nowhere: they
    require nothing that could be had. `registers` are those that the manual gives operands of a type here, where that
    is not as for every opcode.

    `group` is what it does, in a word that spec/words.yaml has a title for; empty where its file does not say.
    `elsewhere` are the forms, each as its types, that other instructions of this name have: any other form that no
    variant has is refused. It is None where nobody said, so that nothing is known of other forms. `other_modifiers` are
    those that only other instructions of this name have, `empty_types` types that the assembler takes beside the
    others, and that do nothing. `acts_on` are the formats that a modifier acts on here, where not on all.
    `recipes` are what to write where variants are missing, the best first, or why there is nothing; `missing` is what
    PTX has nowhere.
    `vectors_elsewhere`: statements with registers that are vectors are other instructions. `unpacks`: a statement
    whose source is a vector may stand the other way round, with the vector as its result; what this rests on.
    `comparisons` are the groups of modifiers that name a comparison of a with b: each variant has a member of one of
    them."""

    opcode: str
    path: str
    summary: str
    description: str
    pages: tuple[Page, ...]
    syntax: tuple[SyntaxLine, ...]
    observed: str
    rules: tuple[Rule, ...]
    assembler_rules: tuple[Rule, ...]
    tolerated: tuple[Tolerated, ...]
    elsewhere: tuple[tuple[str, ...], ...] | None
    other_modifiers: tuple[str, ...]
    empty_types: tuple[str, ...]
    operand_rules: tuple[OperandRule, ...]
    means: tuple[Meaning, ...]
    semantics: Code
    nan: tuple[tuple[Selector, NanRule], ...]
    corner_tables: tuple[CornerTable, ...]
    accuracy: tuple[Accuracy, ...]
    notes: tuple[Note, ...]
    variants: tuple[Variant, ...]
    hardware: tuple[HardwarePath, ...] = ()
    refused: tuple[Variant, ...] = ()
    registers: Mapping[str, str] = field(default_factory=dict)
    vectors_elsewhere: bool = False
    unpacks: Basis | None = None
    lane_bits: tuple[LaneBits, ...] = ()
    crashes: tuple[Crash, ...] = ()
    hazards: tuple[HazardRule, ...] = ()
    folding: tuple[Folding, ...] = ()
    acts_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compared: tuple[Compared, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    missing: tuple[Missing, ...] = ()
    intrinsics: tuple[Intrinsic, ...] = ()
    comparisons: tuple[str, ...] = ()
    trial: Trial | None = None
    group: str = ""

    @cached_property
    def operand_names(self) -> frozenset[str]:
        """The sources that some variant has; a, b and c, which modifiers may speak of, always."""
        return frozenset("abc").union(s.name for v in self.variants for s in v.sources)

    def corner_tables_of(self, variant: Variant) -> tuple[CornerTable, ...]:
        """Return the corner tables that a variant is in."""
        found = self._tables.get(variant)
        if found is None:
            found = self._tables[variant] = tuple(t for t in self.corner_tables if t.selector.matches(variant))
        return found

    @cached_property
    def _tables(self) -> dict[Variant, tuple[CornerTable, ...]]:
        return {}

    @cached_property
    def intrinsics_of(self) -> Mapping[Form, tuple[Intrinsic, ...]]:
        found: dict[Form, tuple[Intrinsic, ...]] = {}
        for i in self.intrinsics:
            found[i.form] = (*found.get(i.form, ()), i)
        return found

    def hardware_path(self, variant: Variant) -> HardwarePath | None:
        """The variant's machine code around units, where the file states it for all targets."""
        return next((p for p in self.hardware_paths(variant) if p.within is None), None)

    def hardware_paths(self, variant: Variant) -> tuple[HardwarePath, ...]:
        """Return the variant's machine code around units, for some targets or for all; the first that is for a target
        holds there."""
        return tuple(p for p in self.hardware if p.selector.matches(variant))

    def is_advisable(self, variant: Variant) -> bool:
        """Return whether a variant may be recommended, on whatever target: the manual lists it, and no hazard of it is
        known. The catalogue decides it for one target."""
        return variant.listed and not variant.hazards

    def stands_for(self, variant: Variant) -> Variant | None:
        """The longer spelling that a variant with `means` is short for."""
        modifiers, types, operands = variant.form
        form = (modifiers.union(variant.means), types, operands)
        return next((v for v in self.variants if v.form == form), None) if variant.means else None

    def nan_rule(self, variant: Variant, implied: Collection[str] = ()) -> NanRule | None:
        """The instruction's own rule where it states one, else that of the result's type; None where no result is a
        NaN. Where a target implies modifiers, it is the rule of the spelling that has them."""
        if variant.result.type.nan is None:
            return None
        if implied:
            variant = replace(variant, modifiers=(*variant.modifiers, *implied))
        return next((rule for selector, rule in self.nan if selector.matches(variant)), variant.result.type.nan)
