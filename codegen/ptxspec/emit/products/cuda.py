"""Variants -> CUDA test programs: one source per opcode, one kernel per variant, and the corner cases to run them on.

Kernels with the same kinds of registers share a macro, written once in the header: a shape.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...catalog import Catalog, Requirement
from ...check.checking import Checked
from ...check.corner_cases import few_cases
from ...model import BOOL, CornerRow, Operand, Spec, Type, Variant
from ...semantics.program import Program
from ..parts import Parts
from ..text import Files, Templates

_UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
_WIDTHS = {"h": 16, "r": 32, "l": 64, "f": 32, "d": 64, "n": 32}
# The number of a list of targets, multiplied by this, is added to the target.
_LIST = 100_000
_LETTERS = {16: "h", 32: "r", 64: "l"}


@dataclass(frozen=True)
class Register:
    """A register and its way from memory. `letter` is its constraint in inline assembly, "n" for a constant. A register
    without a letter is declared as `local`: ".pred" or ".b8". The condition code is `implicit`: the statements `enters`
    and `leaves` transfer it, and `local` is what they need."""

    name: str
    letter: str
    memory: str
    local: str = ""
    enters: str = ""
    leaves: str = ""
    implicit: bool = False


@dataclass(frozen=True)
class Shape:
    """The registers of a statement: those of the results, and of each source, which are in braces if `vectors` is
    true."""

    results: tuple[Register, ...]
    sources: tuple[tuple[Register, ...], ...]
    vectors: tuple[bool, ...]

    @property
    def name(self) -> str:
        """The results' registers, and those of each operand in order: pp_f_f, h_4f_r."""
        found = ["".join(r.name for r in self.results)]
        for registers, vector in zip(self.sources, self.vectors, strict=True):
            found += [f"{len(registers)}{registers[0].name}"] if vector else [r.name for r in registers]
        return "_".join(found)

    @property
    def registers(self) -> list[Register]:
        """The registers of the sources, in the statement's order."""
        return [r for registers in self.sources for r in registers]

    @property
    def constant(self) -> int | None:
        """The place of the constant among the registers, if there is one."""
        return next((i for i, r in enumerate(self.registers) if r.letter == "n"), None)

    @property
    def locals(self) -> list[tuple[Register, str, str]]:
        """The declared registers, each with its name and the operand of the assembly that it replaces."""
        places = [(r, f"%%d{i}", f"%{i}") for i, r in enumerate(self.results)]
        places += [(r, f"%%s{i}", f"%{i + len(self.results)}") for i, r in enumerate(self.registers)]
        return [place for place in places if place[0].local]

    @property
    def operands(self) -> str:
        """The statement's operands, as in `%%d0|%%d1, %2, {%3, %4}`."""
        named = {operand: name for _, name, operand in self.locals}
        results = [named.get(f"%{i}", f"%{i}") for i, r in enumerate(self.results) if not r.implicit]
        found, at = ["|".join(results)], len(self.results)
        for registers, vector in zip(self.sources, self.vectors, strict=True):
            text = ", ".join(named.get(f"%{i}", f"%{i}") for i in range(at, at + len(registers)))
            found += [f"{{{text}}}" if vector else text] if not registers[0].implicit else []
            at += len(registers)
        return ", ".join(found)


@dataclass(frozen=True)
class Test:
    """A variant's kernel. `cases` and `signature` are the names of what the runner runs it on, if anything."""

    variant: Variant
    shape: str
    architecture: int
    ptx: int
    signature: str = ""
    rows: str = ""
    cases: str = ""


@dataclass
class KernelGuards:
    """The conditions under which an opcode's kernels are compiled. `lists` has the requirements of variants that few
    targets support, by their numbers in the opcode's file: each target in the notation of `_architecture`, with the PTX
    version that it needs."""

    catalog: Catalog
    lists: dict[tuple[tuple[int, int], ...], int] = field(default_factory=dict)
    _found: dict[Requirement, tuple[int, int]] = field(default_factory=dict)

    def of(self, r: Requirement) -> tuple[int, int]:
        """Return the target and the PTX version of a requirement, in the notation of the header's PTXSPEC_TAKES."""
        if r not in self._found:
            self._found[r] = self._guard(r)
        return self._found[r]

    def _guard(self, r: Requirement) -> tuple[int, int]:
        catalog = self.catalog
        taken = [t for t in catalog.targets if catalog.takes(r, t, catalog.newest_version)]
        newer = [t for t in catalog.targets.values() if t.order >= catalog.targets[r.target].order]
        if len(taken) == len(newer):
            floors = [r.ptx, *(w.ptx for w in r.within if w.ptx)]
            return _architecture(r.target), max(map(_number, floors))
        few = tuple((_architecture(t), _number(catalog.window(r, t)[0])) for t in taken)
        place = self.lists.setdefault(few, len(self.lists) + 1)
        oldest, kind = min(a // 10 for a, _ in few), min(a % 10 for a, _ in few)
        return place * _LIST + oldest * 10 + kind, min(ptx for _, ptx in few)


@dataclass
class CudaTestFile:
    """The content of one file. A row has a cell for each source and result, which is the encoding of a lane, and 1 if
    any NaN is right. Rows are listed once, by length; variants refer to theirs by numbers."""

    guards: KernelGuards
    tests: list[Test] = field(default_factory=list)
    rows: dict[int, dict[tuple[int, ...], int]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    cases: dict[tuple[int, ...], str] = field(default_factory=dict)
    _found: dict[Hashable, list[tuple[int, ...]]] = field(default_factory=dict)

    def add(self, checked: Checked, v: Variant) -> Shape:
        shape = shape_of(v)
        program = checked.programs[v][None]
        cases = [row for t in checked.instruction.corner_tables_of(v) for row in t.rows_of(v)]
        key = (id(program), tuple(map(id, cases)), tuple(s.lane_bits for s in v.sources))
        if key not in self._found:
            self._found[key] = list(dict.fromkeys(_rows(cases, program, v.sources)))
        rows, length = self._found[key], len(v.sources) + len(v.results) + 1
        architecture, ptx = self.guards.of(v.requires)
        if not rows:
            self.tests.append(Test(v, shape.name, architecture, ptx))
            return shape
        every = self.rows.setdefault(length, {})
        numbers = tuple(every.setdefault(row, len(every)) for row in rows)
        signature = self.signatures.setdefault(_signature(v), f"s{len(self.signatures)}")
        chosen = self.cases.setdefault((length, *numbers), f"c{len(self.cases)}")
        self.tests.append(Test(v, shape.name, architecture, ptx, signature, f"rows{length}", chosen))
        return shape

    @property
    def listed(self) -> list[tuple[str, str]]:
        """The names of the cases that variants are run on, and the rows in runs: the first number and the count."""
        return [(name, _wrapped(", ".join(map(str, _runs(numbers[1:]))))) for numbers, name in self.cases.items()]

    @property
    def written(self) -> list[tuple[int, list[str]]]:
        """The rows of each length."""
        return [(n, [_written(row) for row in rows]) for n, rows in sorted(self.rows.items())]


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/cuda."""
    files: Files = {}
    shapes: dict[str, Shape] = {}
    for c in checked:
        own, used = parts.of("cuda", c.instruction.opcode, "cuda", partial(_of, spec, c, templates))
        files |= own
        shapes |= used
    files["cuda/ptxspec.cuh"] = templates.render(
        "cuda/ptxspec.cuh.j2", ["spec/targets.yaml", "spec/types.yaml", "spec/instructions"], comment="// {}",
        releases=_releases(spec),
        own=[_architecture(t.base) // 10 for t in spec.targets.values() if t.kind == "architecture"],
        shapes=[shapes[name] for name in sorted(shapes)],
        types=[(t.name, _described(t)) for t in spec.types.values()],
    )  # fmt: skip
    return files


def _of(spec: Spec, checked: Checked, templates: Templates) -> tuple[Files, dict[str, Shape]]:
    """Return the file of an opcode, and the shapes of its kernels by name; none if it has no kernel."""
    i, source, shapes = checked.instruction, CudaTestFile(KernelGuards(spec.catalog)), dict[str, Shape]()
    for v in i.variants:
        if spec.has_kernel(v):
            shape = source.add(checked, v)
            shapes[shape.name] = shape
    if not source.tests:
        return {}, {}
    text = templates.render(
        "cuda/instruction.cu.j2", ["spec/types.yaml", "spec/modifiers.yaml", i.path],
        comment="// {}", opcode=i.opcode, source=source,
    )  # fmt: skip
    return {f"cuda/{i.opcode}.cu": text}, shapes


def _releases(spec: Spec) -> list[tuple[int, int, int]]:
    """Return CUDA releases as major, minor, and the newest PTX version (as 86 for 8.6) that each supports."""
    found: dict[tuple[int, int], int] = {}
    for v in spec.versions.values():
        if v.cuda:
            major, minor = map(int, v.cuda.split("."))
            found[major, minor] = max(found.get((major, minor), 0), _number(v.version))
    return [(major, minor, ptx) for (major, minor), ptx in sorted(found.items(), reverse=True)]


def _number(version: str) -> int:
    major, minor = map(int, version.split("."))
    return major * 10 + minor


def _architecture(target: str) -> int:
    """Return a target in the notation of the header's guard: 900 is sm_90, 1001 sm_100f, 1002 sm_100a."""
    number = target.removeprefix("sm_").rstrip("af")
    return int(number) * 10 + {"f": 1, "a": 2}.get(target[-1], 0)


def shape_of(v: Variant) -> Shape:
    def registers(o: Operand) -> tuple[Register, ...]:
        if o.implicit:
            return (Register(o.type.name, "r", _UNSIGNED[32], ".b32", o.type.enters, o.type.leaves, implicit=True),)
        return (register(o.type),) * len(o.places)

    return Shape(
        results=tuple(r for o in v.results for r in registers(o)),
        sources=tuple(map(registers, v.sources)),
        vectors=tuple(s.braced for s in v.sources),
    )


def register(type: Type) -> Register:
    """Return the register of a type. Inline assembly has no letter for predicates, which are passed as words, nor for
    registers of eight bits."""
    if type.kind == BOOL:
        return Register("p", "r", _UNSIGNED[32], ".pred")
    memory = _UNSIGNED[type.width]
    if not type.constraint and type.width == 8:
        return Register("b", "h", memory, ".b8")
    letter = type.constraint or _LETTERS[type.width]
    return Register(letter if _WIDTHS[letter] == type.width else f"{letter}{type.width}", letter, memory)


def _described(t: Type) -> str:
    """Return a type as the runner needs it: its bytes in memory, the number of lanes, the bits from one to the next and
    those below it, the bits of an encoding, those of a magnitude, and the first magnitude that is a NaN."""
    f = t.kind.format
    nan = (f.magnitudes - 1, f.first_nan) if f and f.nans else (0, 1)
    size = 32 if t.kind == BOOL else t.width
    return ", ".join(map(cell, (size // 8, t.lanes, t.lane_width, t.shift, t.kind.width, *nan)))


def _signature(v: Variant) -> str:
    """Return the cell in a row and the type of each register, those of the sources first."""
    return ", ".join(
        f"{{{n}, PTXSPEC_TYPE_{o.type.name}}}" for n, o in enumerate((*v.sources, *v.results)) for _ in o.places
    )


def _rows(cases: Sequence[CornerRow], program: Program, sources: Sequence[Operand]) -> Iterator[tuple[int, ...]]:
    """Yield the corner cases with a program's results, without those in which lanes that share bits of a register have
    different values."""
    for row in cases:
        for case in few_cases(row, program):
            if (operands := _operands(sources, case.operands)) is not None:
                yield (*operands, *case.results, int(row.results[0].text == "NaN"))


def _operands(sources: Sequence[Operand], values: Sequence[int]) -> list[int] | None:
    """Return the cells of a row for the operands: encodings, and whole registers if each lane reads its own bits of
    one. None if lanes that share bits have different values."""
    found = [o.spread(x) if o.lane_bits else x for o, x in zip(sources, values, strict=True)]
    known = [x for x in found if x is not None]
    return known if len(known) == len(found) else None


def _runs(numbers: Sequence[int]) -> list[int]:
    """Return the first number and the count of each run of consecutive numbers."""
    found: list[int] = []
    for number in numbers:
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [number, 1]
    return found


def _written(row: tuple[int, ...]) -> str:
    """Return the cells, without a last cell of zero, which C adds itself."""
    return ", ".join(map(cell, row if row[-1] else row[:-1]))


def cell(value: int) -> str:
    """Return a number as a cell of a row."""
    return str(value) if value < 10 else f"0x{value:x}"


def _wrapped(text: str) -> str:
    """Return a list after a name, on lines of its own if it is long."""
    return text if len(text) < 80 else "\n" + textwrap.fill(text, 120, initial_indent="    ", subsequent_indent="    ")
