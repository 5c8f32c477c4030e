"""One opcode: its variants, and what its file says about them."""

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
from .requirements import Rule, Selector
from .variant import Form, Variant

if TYPE_CHECKING:
    from .functions import Intrinsic
    from .recipes import Missing, RecipeEntry


@dataclass(frozen=True)
class Value:
    """A cell of a corner-case table. `kind` is "class", "number", "bits", "operand" or "bool"."""

    text: str
    kind: str
    # `text` determines it, and is quicker to compare.
    number: Fraction = field(default=Fraction(0), compare=False)
    negative: bool = False
    bits: int = 0


@dataclass(frozen=True)
class CornerRow:
    """A row of a corner-case table: a cell for each source operand and for the result, or for both results of p|q. The
    row says nothing about variants that have one of the modifiers `without`."""

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
    """A bound in NVIDIA's manual that the hardware itself exceeds, in the ranges of targets `within`: most of all for
    `operands`, which give `result` according to `basis`; these are encodings. `error` is the error of the result, in
    the units of the bound."""

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
        """Return the operands and their result as hexadecimal numbers of `width` bits."""
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
class ImpliedModifiers:
    """The modifiers that some spellings behave as though they had, beside those that they have."""

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
    """Spellings of an opcode that the assembler accepts although they mean nothing. If `crash` is true, it then crashes
    on them."""

    text: str
    forms: tuple[Form, ...]
    note: str
    crash: bool = False


@dataclass(frozen=True)
class OperandRule:
    """The types of registers and the sorts of constants that the assembler accepts for operands of a type, where these
    differ from the rules for all instructions."""

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
    """A comparison of variants with functions of other languages. They differ for operands of the classes `differs`,
    and are otherwise equal except for what the functions leave open."""

    selector: Selector
    functions: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A paragraph about some variants. `open` says what NVIDIA's manual leaves open about their results. `loose`: their
    results may differ from what the spelling suggests, and answers about them say so."""

    text: str
    basis: Basis
    selector: Selector
    open: str
    loose: bool


@dataclass(frozen=True)
class Trial:
    """The variant that an evaluator shows first, and the texts of its operands by the names of registers."""

    spelling: str
    operands: Mapping[str, str]


@dataclass(frozen=True)
class Crash:
    """Variants that the assembler accepts and then crashes on, without machine code. `text` says how."""

    selector: Selector
    text: str


@dataclass(frozen=True)
class HardwarePath:
    """The machine code around `units`, on the targets `within`, or on all others if that is None. It replaces the
    semantics where all of the units are known."""

    selector: Selector
    code: Code
    units: tuple[str, ...]
    within: tuple[str, str] | None = None


@dataclass(frozen=True)
class LaneBits:
    """The bits of an operand's register that each lane reads. `lanes` are pairs of a lane and its bits as written,
    `31..16`, the highest lane first."""

    selector: Selector
    operand: str
    lanes: tuple[tuple[int, str], ...]
    basis: Basis


@dataclass(frozen=True)
class Instruction:
    """An opcode with its variants. `refused` are variants that NVIDIA's manual lists and the assembler accepts nowhere;
    their requirement is empty. `registers` are those that the manual gives operands of a type here, if they differ from
    other opcodes.

    `group` is what it does, in a word that has a title in spec/words.yaml; empty if its file does not say. `elsewhere`
    are the forms, each as its types, that other instructions of this name have: any other form that no variant has is
    refused. It is None if the file does not say, so that nothing is known of other forms. `other_modifiers` are those
    that only other instructions of this name have. `empty_types` are types that the assembler accepts beside the others
    and that do nothing. `acts_on` are the formats that a modifier acts on here, if not on all. `recipes` are what to
    write where variants are missing, the best first, or why there is nothing; `missing` are spellings that PTX does not
    have.

    `vectors_elsewhere`: statements with vector registers are other instructions. `unpacks` is the basis for this: a
    statement whose source is a vector may be reversed, with the vector as its result. `comparisons` are the groups of
    modifiers that name a comparison of a with b: each variant has a member of one of them."""

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
    means: tuple[ImpliedModifiers, ...]
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
    recipes: tuple[RecipeEntry, ...] = ()
    missing: tuple[Missing, ...] = ()
    intrinsics: tuple[Intrinsic, ...] = ()
    comparisons: tuple[str, ...] = ()
    trial: Trial | None = None
    group: str = ""

    @property
    def differing(self) -> tuple[Variant, ...]:
        """The variants for which NVIDIA's manual requires something else than the assembler."""
        return tuple(v for v in (*self.variants, *self.refused) if v.manual != v.requires)

    @cached_property
    def operand_names(self) -> frozenset[str]:
        """The names of the sources that some variant has, and always a, b and c, which modifiers may name."""
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

    def hardware_paths(self, variant: Variant) -> tuple[HardwarePath, ...]:
        """Return the variant's machine code around units, for some targets or for all. The first that is for a target
        counts there."""
        return tuple(p for p in self.hardware if p.selector.matches(variant))

    def is_advisable(self, variant: Variant) -> bool:
        """Return whether a variant may be recommended on every target: NVIDIA's manual lists it, and it has no known
        hazard. The catalogue decides this for one target."""
        return variant.listed and not variant.hazards

    def stands_for(self, variant: Variant) -> Variant | None:
        """Return the longer spelling that a variant with `means` is short for, or None."""
        modifiers, types, operands = variant.form
        form = (modifiers.union(variant.means), types, operands)
        return next((v for v in self.variants if v.form == form), None) if variant.means else None

    def nan_rule(self, variant: Variant, implied: Collection[str] = ()) -> NanRule | None:
        """Return the instruction's own rule if it states one, else that of the result's type; None if no result is a
        NaN. `implied` modifiers of a target count as the variant's own."""
        if variant.result.type.nan is None:
            return None
        if implied:
            variant = replace(variant, modifiers=(*variant.modifiers, *implied))
        return next((rule for selector, rule in self.nan if selector.matches(variant)), variant.result.type.nan)
