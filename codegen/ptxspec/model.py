"""What the specification says, as frozen dataclasses: the only contract between reading and everything after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from .catalog import Catalog, PtxVersion, Requirement, Target
from .diagnostics import Diagnostic, Mark
from .grounds import Grounds

_NONE = Requirement("", "")
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
    rests_on: Grounds
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
    rests_on: Grounds
    mode: str | None
    ftz: bool
    approximate: bool
    raw: Code | None
    operand: Code | None
    result: Code | None
    override: Code | None


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
class Rule:
    """One line of `requires:`. `within` is the first and the last target it is about."""

    selector: Selector
    within: tuple[str, str] | None
    ptx: str | None
    target: str | None
    until: str | None
    rests_on: Grounds


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
    rests_on: Grounds
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
class Mixed:
    """Spellings with two types, each with the number of its source operands, and what all of them need."""

    spellings: tuple[tuple[str, int], ...] = ()
    ptx: str = ""
    target: str = ""


@dataclass(frozen=True)
class Assembler:
    """What the assembler does with names and operands of every instruction; spec/assembler.yaml says what each is."""

    observed: str = ""
    repeatable: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    ignored: tuple[tuple[str, ...], ...] = ()
    immediates: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()
    other_forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    empty_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target_options: tuple[str, ...] = ()
    mixed: Mixed = Mixed()
    registers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    special_registers: tuple[str, ...] = ()


@dataclass(frozen=True)
class SyntaxLine:
    """A line of the syntax, and the `names` and number of operands of the spellings that it gives."""

    text: str
    listed: bool
    names: frozenset[frozenset[str]]
    operands: int

    def gives(self, variant: Variant) -> bool:
        return variant.names in self.names and variant.operands == self.operands


@dataclass(frozen=True)
class Note:
    """A paragraph about some variants. `open` says what the manual leaves open of their results; `hazard`: their
    machine code does something else than they say, so that nobody is to use them."""

    text: str
    rests_on: Grounds
    selector: Selector
    open: str
    hazard: bool


@dataclass(frozen=True)
class Core:
    """The operands of `variant` on which a recording determines a unit: the `count` encodings from `first` on, with
    `shift` zero bits after each."""

    variant: str
    first: int
    count: int
    shift: int


@dataclass(frozen=True)
class Argument:
    """How a unit reduces a normal number to a scale k, a segment and a place in it, the integers below.

    kind "significand"  the first `bits` bits of the fraction, above them as many low bits of the exponent as tell
                        `octaves` apart; k is the rest of the exponent
         "octaves"      the same for the exponents `first` to `last` only, each with segments of its own; k is the
                        exponent. Smaller numbers are their own result, larger ones have that of an infinity.
         "fixed"        the number in fixed point with `bits` bits after the point, rounded down; k is what stands
                        before the point
         "turns"        the magnitude in fixed point, truncated, as an angle in turns, to which `phase` quarters are
                        added: what follows the two bits of the quarter, which in odd quarters is mirrored, "complement"
                        (every bit inverted) or "negate" (subtracted from a quarter); k is 0, and the result is negative
                        in the third and fourth quarter
         "pattern"      the encoding as it is, special operands included

    With `odd`, the result takes the operand's sign."""

    kind: str
    bits: int
    octaves: int = 1
    first: int = 0
    last: int = 0
    odd: bool = False
    phase: int = 0
    mirror: str = ""

    @property
    def places(self) -> int:
        """The bits of an argument's integer within one octave or quarter."""
        return self.bits - 2 if self.kind == "turns" else self.bits


@dataclass(frozen=True)
class Word:
    """A coefficient's length without its sign, and the weight 2**-point of its last bit."""

    bits: int
    point: int


@dataclass(frozen=True)
class Interpolator:
    """C0 + C1 x + C2 x**2 + bias, summed exactly and rounded down to the result's last place.

    x is the place in the segment in units of 2**-bits of the argument. Its square lacks what stands below 2**drop of
    its last place: with `columns`, the partial products of those columns are left out (those of two different bits
    stand once, in the column above their own), else the whole square is cut off there. `bias` is a number.
    `coefficients` are integers in units of the last bits of `words`, one row (C0, C1, C2) for each segment, octave by
    octave."""

    words: tuple[Word, Word, Word]
    drop: int
    columns: bool
    bias: Fraction
    segments: int
    coefficients: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Differences:
    """A unit without a compact model: how far, in steps of the result's last place, its results lie from those of
    `function`, correctly rounded, for every integer that the argument's reduction gives. `text` is what the file
    `name` holds: these integers as bytes of `width`, compressed by zlib, in base85."""

    function: str
    name: str
    width: int
    text: str = field(repr=False)


@dataclass(frozen=True)
class Fitted:
    """The recording that a model reproduces in full: the GPU, its driver, and the number of results compared."""

    gpu: str
    driver: str
    results: int


@dataclass(frozen=True, eq=False)
class UnitModel:
    """What a unit computes on the targets from `within[0]` to `within[1]`, bit for bit on what was recorded.

    A number has a result of `precision` bits with `point` of them after the point, times 2 to the power of `exponent`
    times the scale; with no `exponent`, the scale is added. It is normalised and truncated; subnormal operands and
    results are zeros. `special` are the results of +zero, -zero, +infinity, -infinity, nan and, where they have none of
    their own, negative numbers. Models are compared as objects."""

    unit: str
    name: str
    within: tuple[str, str]
    format: Format
    argument: Argument
    exponent: int | None
    point: int
    precision: int
    special: Mapping[str, int]
    core: Interpolator | Differences
    fitted: Fitted

    @property
    def identifier(self) -> str:
        """A name for code that is made from the model."""
        return f"{self.unit}_{self.within[0]}"


@dataclass(frozen=True)
class Unit:
    """A function of the special function unit. From `argument` to `words` it is what is expected of it, where fitting
    begins: None and nothing where nothing is known. `models` are what was recorded."""

    name: str
    summary: str
    format: Format
    function: str
    argument: Argument | None
    exponent: int | None
    precision: int
    special: Mapping[str, int]
    segments: int
    words: tuple[int, ...]
    cores: tuple[Core, ...]
    models: tuple[UnitModel, ...] = ()


@dataclass(frozen=True)
class HardwarePath:
    """The machine code around `units`: it takes the place of the semantics on targets where all of them are known."""

    selector: Selector
    code: Code
    units: tuple[str, ...]


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
    requires: Requirement = _NONE
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
    """`refused` are variants that the manual lists and the assembler takes nowhere: they require nothing that could be
    had. `registers` are those that the manual gives operands of a type here, where that is not as for every opcode."""

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
    hardware: tuple[HardwarePath, ...] = ()
    refused: tuple[Variant, ...] = ()
    registers: Mapping[str, str] = field(default_factory=dict)

    def hardware_path(self, variant: Variant) -> HardwarePath | None:
        """The variant's machine code around units, where the file states it."""
        return next((p for p in self.hardware if p.selector.matches(variant)), None)

    def stands_for(self, variant: Variant) -> Variant | None:
        """The longer spelling that a variant with `means` is short for."""
        names = variant.names.union(variant.means)
        found = (v for v in self.variants if v.names == names and v.operands == variant.operands)
        return next(found, None) if variant.means else None

    def is_advisable(self, variant: Variant) -> bool:
        """Whether somebody may be told to write it: the manual lists it, and no hazard is known of it."""
        return variant.listed and not any(n.hazard and n.selector.matches(variant) for n in self.notes)

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
    units: Mapping[str, Unit] = field(default_factory=dict)

    def claim(self, variant: Variant, target: str | None) -> str:
        """The variant's claim on a target: what is not exact is `measured` where all recordings of that target that
        have the variant are equal in every bit."""
        found = {r.finding(variant) for r in self.recordings if r.target == target} - {None}
        return "measured" if found == {"equal"} and variant.claim != "exact" else variant.claim

    def model(self, unit: str, target: str) -> UnitModel | None:
        """What is known of a unit on a target."""
        order = self.targets[target].order
        for model in self.units[unit].models:
            first, last = (self.targets[t].order for t in model.within)
            if first <= order <= last:
                return model
        return None

    def hardware_path(self, instruction: Instruction, variant: Variant, target: str) -> HardwarePath | None:
        """The machine code that a variant follows on a target: None where a unit in it is not known there."""
        path = instruction.hardware_path(variant)
        return path if path and all(self.model(u, target) for u in path.units) else None

    @cached_property
    def catalog(self) -> Catalog:
        """What requirements mean among the targets and versions."""
        return Catalog(self.targets.values(), self.versions.values())

    @property
    def newest(self) -> str:
        """The newest target."""
        return self.catalog.newest_target

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What the manual says and the assembler does, for the variants where these differ."""
        return tuple(
            Entry(
                v.spelling,
                v.operands,
                v.manual.text(self.newest) if v.manual else "does not list it",
                "refuses it" if v in i.refused else v.requires.text(self.newest),
            )
            for i in self.instructions.values()
            for v in (*i.variants, *i.refused)
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
