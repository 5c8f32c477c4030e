"""What the specification says, as frozen dataclasses: the only contract between reading and everything after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from .diagnostics import Diagnostic, Mark

# IEEE 754-2019, 4.3. The first is the default.
ROUNDINGS = ("roundTiesToEven", "roundTiesToAway", "roundTowardZero", "roundTowardNegative", "roundTowardPositive")


@dataclass(frozen=True)
class Code:
    """A piece of semantics as it stands in a file. `start` is the place of its first character."""

    text: str
    path: str
    start: Mark
    lines: tuple[str, ...] = field(repr=False, compare=False)

    def mark(self, line: int, column: int, length: int = 1) -> Mark:
        """The place in the file of a place in the text (line from 1, column from 0, as `ast` counts)."""
        return Mark(self.start.line + line - 1, self.start.column + column, length)

    def error(self, mark: Mark, message: str, help: str = "") -> Diagnostic:
        source = self.lines[mark.line - 1] if mark.line <= len(self.lines) else ""
        return Diagnostic(self.path, mark, message, help, source)


@dataclass(frozen=True)
class Format:
    """An IEEE 754 binary interchange format, or one built like it."""

    name: str
    exponent_bits: int
    fraction_bits: int
    canonical_nan: int

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def precision(self) -> int:
        return self.fraction_bits + 1

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def emax(self) -> int:
        return self.bias

    @property
    def emin(self) -> int:
        return 1 - self.bias

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def quiet_bit(self) -> int:
        return 1 << (self.fraction_bits - 1)


@dataclass(frozen=True)
class NanRule:
    """What becomes of a NaN result; no code: its bits stay as the operation left them."""

    name: str
    summary: str
    section: str
    unspecified: str
    code: Code | None


@dataclass(frozen=True)
class Type:
    name: str
    format: Format
    lanes: int
    nan: NanRule
    constraint: str
    registers: str
    summary: str

    @property
    def width(self) -> int:
        return self.format.width * self.lanes


@dataclass(frozen=True)
class Modifier:
    """`raw`, `operand`, `result` and `override` are the stages around the body, in the order of design and manual."""

    name: str
    summary: str
    section: str
    mode: str | None
    ftz: bool
    approximate: bool
    raw: Code | None
    operand: Code | None
    result: Code | None
    override: Code | None


@dataclass(frozen=True)
class Target:
    """`order` is the place among the targets by which requirements compare; an a or f kind has a `base`."""

    name: str
    order: int
    ptx: str
    base: str
    kind: str


@dataclass(frozen=True)
class PtxVersion:
    version: str
    order: int
    cuda: str


@dataclass(frozen=True)
class Pattern:
    """Names of modifiers and types that a variant must all have; `exact`: and no others."""

    names: frozenset[str]
    exact: bool = False


@dataclass(frozen=True)
class Selector:
    """Which variants something is about: those of any of the patterns, without any name of `lacks`."""

    text: str
    patterns: tuple[Pattern, ...] = (Pattern(frozenset()),)
    lacks: frozenset[str] = frozenset()
    operands: int | None = None

    def matches(self, variant: Variant) -> bool:
        names = variant.names
        return (
            (self.operands is None or self.operands == variant.operands)
            and not (self.lacks & names)
            and any(names == p.names if p.exact else names >= p.names for p in self.patterns)
        )


@dataclass(frozen=True)
class Limit:
    """A requirement that holds on some targets only: those from `first` to `last` in target order."""

    first: str
    last: str
    ptx: str | None
    until: str | None


@dataclass(frozen=True)
class Requirement:
    """The lowest PTX version and target that take a variant, and the last PTX version that does."""

    ptx: str
    target: str
    until: str | None = None
    within: tuple[Limit, ...] = ()


def requirement_text(r: Requirement) -> str:
    """A requirement in a few words: "sm_80, PTX 7.0 to 8.2"."""
    text = f"{r.target}, PTX {r.ptx}" + (f" to {r.until}" if r.until else "")
    for w in r.within:
        limits = [f"from PTX {w.ptx}"] * bool(w.ptx) + [f"to PTX {w.until}"] * bool(w.until)
        text += f"; {w.first} to {w.last} {' '.join(limits)}"
    return text


@dataclass(frozen=True)
class Rule:
    """One line of `requires:`. `within` is the first and the last target it is about."""

    selector: Selector
    within: tuple[str, str] | None
    ptx: str | None
    target: str | None
    until: str | None
    section: str


@dataclass(frozen=True)
class Value:
    """A cell of a corner-case table. `kind` is "class", "number", "bits", "operand" or "bool"."""

    text: str
    kind: str
    number: Fraction = Fraction(0)
    negative: bool = False
    bits: int = 0


@dataclass(frozen=True)
class CornerRow:
    operands: tuple[Value, ...]
    result: Value
    mark: Mark


@dataclass(frozen=True)
class CornerTable:
    title: str
    section: str
    selector: Selector
    rows: tuple[CornerRow, ...]


@dataclass(frozen=True)
class Accuracy:
    """A bound on the error of an approximation: `bound` in units of `kind`, for operands in `range`."""

    selector: Selector
    kind: str
    bound: str
    range: str
    section: str


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
    """Spellings of an opcode that the assembler takes although they mean nothing."""

    text: str
    names: tuple[frozenset[str], ...]
    operands: int
    note: str


@dataclass(frozen=True)
class Assembler:
    """What the assembler does with names and operands of every instruction; spec/assembler.yaml says what each is."""

    observed: str = ""
    repeatable: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    ignored: tuple[tuple[str, ...], ...] = ()
    immediates: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class SyntaxLine:
    text: str
    listed: bool


@dataclass(frozen=True)
class Note:
    text: str
    section: str
    selector: Selector


@dataclass(frozen=True)
class Variant:
    """One complete spelling with its number of source operands. `manual` is what the manual requires, None where it
    does not list the variant; `requires` is what the assembler was seen to require. `means` are modifiers that it
    behaves as though it had: those that `sin.f32` leaves out of `sin.approx.ftz.f32`."""

    opcode: str
    modifiers: tuple[str, ...]
    type: Type
    operands: int
    predicate: bool
    listed: bool
    requires: Requirement = Requirement("", "")
    manual: Requirement | None = None
    claim: str = "exact"
    means: tuple[str, ...] = ()

    @cached_property
    def spelling(self) -> str:
        return ".".join((self.opcode, *self.modifiers, self.type.name))

    @property
    def identifier(self) -> str:
        """A name for code that is made from the variant: of kernels and of the emulator's functions."""
        return "_".join((self.opcode, *self.modifiers, self.type.name, str(self.operands)))

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((*self.modifiers, self.type.name))

    def __str__(self) -> str:
        return f"{self.spelling} ({self.operands} operand{'s' if self.operands > 1 else ''})"


@dataclass(frozen=True)
class Instruction:
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
    means: tuple[Meaning, ...]
    semantics: Code
    nan: tuple[tuple[Selector, NanRule], ...]
    corner_tables: tuple[CornerTable, ...]
    accuracy: tuple[Accuracy, ...]
    notes: tuple[Note, ...]
    variants: tuple[Variant, ...]

    def stands_for(self, variant: Variant) -> Variant | None:
        """The longer spelling that a variant with `means` is short for."""
        names = variant.names.union(variant.means)
        found = (v for v in self.variants if v.names == names and v.operands == variant.operands)
        return next(found, None) if variant.means else None

    def nan_rule(self, variant: Variant) -> NanRule:
        """The instruction's own rule where it states one, else that of the variant's type."""
        for selector, rule in self.nan:
            if selector.matches(variant):
                return rule
        return variant.type.nan


@dataclass(frozen=True)
class Implied:
    """Variants that behave as though they had a modifier, on some targets."""

    modifier: str
    selector: Selector
    within: tuple[str, str]
    section: str


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: what the manual says of a variant, and what the assembler does."""

    variant: str
    operands: int
    manual: str
    assembler: str


@dataclass(frozen=True)
class Evidence:
    """What a real assembler was asked about the specification: `variants` on `pairs` of a target and a PTX version that
    knows it, and `spellings` legal or not."""

    assembler: str
    pairs: int
    variants: int
    spellings: int
    ledger: tuple[Entry, ...]


@dataclass(frozen=True)
class SpeedTable:
    """Figures that belong together. A row has a cell for each column, which is empty where nothing was measured."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Speed:
    """What the benchmarks measured: with which command, when, and on what machine."""

    command: str
    date: str
    machine: Mapping[str, str]
    tables: tuple[SpeedTable, ...]


@dataclass(frozen=True)
class Recording:
    """What a GPU returned, and how the emulator stood to it when the two were last compared: variants of which every
    recorded bit is equal, those inside of their bound, and the others. `path` is the folder, below the root."""

    path: str
    gpu: str
    target: str
    driver: str
    compiler: str
    date: str
    equal: frozenset[tuple[str, int]]
    inside: frozenset[tuple[str, int]]
    unequal: frozenset[tuple[str, int]]

    def finding(self, variant: Variant) -> str | None:
        """ "equal", "inside" or "unequal"; None where the variant was not recorded."""
        key = (variant.spelling, variant.operands)
        return next((n for n in ("equal", "inside", "unequal") if key in getattr(self, n)), None)


@dataclass(frozen=True)
class Spec:
    """The whole specification. Mappings keep the order of the files; instructions are in order of their opcode."""

    formats: Mapping[str, Format]
    nan_rules: Mapping[str, NanRule]
    types: Mapping[str, Type]
    modifiers: Mapping[str, Modifier]
    groups: Mapping[str, tuple[str, ...]]
    implied: tuple[Implied, ...]
    targets: Mapping[str, Target]
    versions: Mapping[str, PtxVersion]
    instructions: Mapping[str, Instruction]
    evidence: Evidence | None
    sources: Mapping[str, str]
    assembler: Assembler = Assembler()
    speed: Speed | None = None
    recordings: tuple[Recording, ...] = ()

    def claim(self, variant: Variant, target: str | None) -> str:
        """The variant's claim on a target: what is not exact is `measured` where all recordings of that target that
        have the variant are equal in every bit."""
        found = {r.finding(variant) for r in self.recordings if r.target == target} - {None}
        return "measured" if found == {"equal"} and variant.claim != "exact" else variant.claim

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What the manual says and the assembler does, for the variants where these differ."""
        return tuple(
            Entry(
                v.spelling,
                v.operands,
                requirement_text(v.manual) if v.manual else "does not list it",
                requirement_text(v.requires),
            )
            for i in self.instructions.values()
            for v in i.variants
            if v.manual != v.requires
        )

    def effective_modifiers(self, variant: Variant, target: str | None) -> frozenset[str]:
        """The variant's modifiers, those that it means and those that the target implies."""
        names = {*variant.modifiers, *variant.means}
        if target is not None:
            order = self.targets[target].order
            for i in self.implied:
                first, last = (self.targets[t].order for t in i.within)
                if first <= order <= last and i.selector.matches(variant):
                    names.add(i.modifier)
        return frozenset(names)
