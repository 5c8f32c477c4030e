"""Evaluate one instruction with the emulator of a root on operands given as text, and trace the steps on request."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

from .catalog.likeness import suggest
from .diagnostics import Diagnostic, PtxspecError, SpecError
from .literals import ABOUT, decimal, parse_number
from .model import BOOL, FixedPoint, Spec, Type, Variant
from .query.database import Database
from .query.families import family
from .read.link import is_observed
from .roots import Root
from .semantics.compile import Compiler
from .semantics.exact.evaluate import Step, trace
from .semantics.exact.lanes import lanes_of, registers_of
from .semantics.exact.rounding import decode, round_to, round_to_integer
from .semantics.program import Program
from .specification import read_all
from .tracing.lines import RoundingModifiers, SpecificationLines, TraceLine, lines as trace_lines

# PTX's own constants of single and double precision.
_CONSTANT = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation. `notes` name operands that became infinite, NaN or zero in their format, which may
    surprise. `operands` and `results` are registers, and `lanes` has each lane's part of the operands. `implied` are
    modifiers that apply without being written: the spelling is short for them, or the target adds them."""

    variant: Variant
    target: str | None
    claim: str
    hazard: str | None
    notes: list[str]
    operands: list[int]
    results: list[int]
    lanes: list[list[int]]
    rules: RoundingModifiers
    implied: list[str]
    trace: list[TraceLine]


def emulator(root: Root) -> ModuleType:
    """Return the ptxemu that belongs to a root, imported under its own name. Raises PtxspecError if there is none."""
    folder = root.generated / "python" / "ptxemu"
    if root.packaged and not folder.exists():
        return importlib.import_module("ptxemu")
    name = "ptxemu_" + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if found is None or found.loader is None or not (folder / "__init__.py").exists():
        raise PtxspecError(f"{folder} has no emulator; run `ptxspec generate` first")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except Exception as e:
        del sys.modules[name]
        raise PtxspecError(f"{folder} cannot be imported: {e}; run `ptxspec generate`") from e
    return module


def refuse_stale(root: Root, spec: Spec) -> None:
    """Raise PtxspecError if the emulator was not generated from this specification."""
    if stale := stale_file(root, spec):
        raise PtxspecError(f"{stale} has changed since generated/ was written; run `ptxspec generate`")


def stale_file(root: Root, spec: Spec) -> str | None:
    """Return a file that the emulator depends on and that changed since it was generated."""
    made, now = Database.read(root.data).data["sources"], spec.sources
    names = {name for name in (*made, *now) if not is_observed(name)}
    differ = sorted(name for name in names if made.get(name) != now.get(name))
    return differ[0] if differ else None


def evaluate(
    root: Root,
    spelling: str,
    texts: list[str],
    target: str | None = None,
    with_trace: bool = False,
    whole: Spec | None = None,
) -> Evaluation:
    """Run a variant on operands written as 1.5, -0.0, inf, nan, 0x1.8p-3, 2^-3, PTX's 0f3FC00000 or bits 0x3fc00000. An
    operand of two lanes is its bits, or the lanes as `low,high`. A number that the format does not have is rounded to
    nearest even. `whole` is the root's specification, if it has been read; otherwise the required part is read.

    Raises PtxspecError for an unknown variant, a wrong count and an operand that cannot be read."""
    emu = emulator(root)
    try:
        kernel = emu.compile(spelling, len(texts) or None, target)
    except LookupError as e:
        meant = family(Database.read(root.data), spelling)
        raise PtxspecError(meant.question(spelling) if meant else str(e)) from None
    spec, variant = find_variant(root, kernel.variant.spelling, kernel.operands, whole)
    places = [(s, place) for s in variant.sources for place in s.places]
    if len(texts) != len(places):
        names = f" ({', '.join(place for _, place in places)})" * variant.has_implicit
        raise PtxspecError(f"{variant.spelling} takes {len(places)} operands{names}, but {len(texts)} were given")
    operands = [parse_operand(text, s.type) for text, (s, _) in zip(texts, places, strict=True)]
    results = _run(kernel, [s.type for s, _ in places], operands, len(variant.results))
    registers = iter(operands)
    columns = [lanes_of(s, [next(registers) for _ in s.places], variant.lanes) for s in variant.sources]
    lanes = [[column[lane] for column in columns] for lane in range(variant.lanes)]
    # The steps are computed without a trace, too: they reveal an emulator that was generated from another
    # specification.
    steps = _steps(spec, variant, target, lanes, results)
    effective = spec.effective_modifiers(variant, target)
    return Evaluation(
        variant=variant,
        target=target,
        claim=spec.claim(variant, target),
        hazard=spec.catalog.hazard_text(variant, target),
        notes=[note for text, (s, _) in zip(texts, places, strict=True) for note in _notes(text, s.type)],
        operands=operands,
        results=results,
        lanes=lanes,
        rules=RoundingModifiers.of(m for name, m in spec.modifiers.items() if name in effective),
        implied=[name for name in spec.modifiers if name in effective and name not in variant.modifiers],
        trace=_lines(root, steps) if with_trace else [],
    )


def _run(kernel: Any, types: list[Type], operands: list[int], results: int) -> list[int]:
    """Run the emulator's kernel on the bits of registers and return the bits of its results."""
    import numpy as np

    arrays = [
        np.bool_(x) if t.kind == BOOL else np.dtype(f"u{t.width // 8}").type(x)
        for t, x in zip(types, operands, strict=True)
    ]
    found = kernel(*arrays, results=results)
    registers = found if isinstance(found, tuple) else (found,)
    return [int(x if x.dtype == bool else x.view(f"u{x.itemsize}")) for x in registers]


def find_variant(root: Root, spelling: str, operands: int, whole: Spec | None = None) -> tuple[Spec, Variant]:
    """Return a variant and the part of the specification that concerns it. If the variant is not in its opcode's file,
    the rest is read to find the error. Nothing is read if `whole` is given."""
    diagnostics: Sequence[Diagnostic] = ()
    for wanted in (spelling, None):
        spec = whole
        if spec is None:
            reading = read_all(root.path, wanted)
            spec, diagnostics = reading.spec, reading.diagnostics
        for i in spec.instructions.values() if spec else ():
            for v in i.variants if i.opcode == spelling.partition(".")[0] else ():
                if v.spelling == spelling and v.operands == operands:
                    assert spec is not None
                    return spec, v
    if diagnostics:
        raise SpecError(diagnostics)
    raise PtxspecError(f"{spelling} is in generated/ but no longer in spec/; run `ptxspec generate`")


def parse_operand(text: str, type_: Type) -> int:
    """Return the bits of a register of a type."""
    text = text.strip()
    if type_.kind == BOOL:
        if text.lower() not in ("true", "false"):
            raise PtxspecError(f"operand '{text}': .{type_.name} takes true or false")
        return int(text.lower() == "true")
    digits = text[2:]
    if text[:2].lower() == "0x" and "p" not in digits.lower() and "." not in digits:
        # A float with a missing digit would be another number.
        fits = len(digits) * 4 == type_.width or (not type_.kind.format and 0 < len(digits) * 4 < type_.width)
        if not fits or not all(c in "0123456789abcdefABCDEF" for c in digits):
            wanted = f"0x and {type_.width // 4} hexadecimal digits"
            raise PtxspecError(
                f"operand '{text}': the bits of .{type_.name} are {wanted}; a number ends in p0, as in 0x1p0"
            )
        return int(digits, 16)
    lanes = text.split(",")
    if len(lanes) != type_.lanes:
        hint = "its bits, or its lanes as low,high" if type_.lanes > 1 else "one number"
        raise PtxspecError(f"operand '{text}': .{type_.name} takes {hint}")
    return type_.pack([_number(lane.strip(), type_) for lane in lanes])


def _number(text: str, type_: Type) -> int:
    """Return the encoding of a lane."""
    format = type_.kind.format
    told = text.removeprefix(ABOUT)
    if constant := _CONSTANT.fullmatch(text):
        bits = constant[1] or constant[2]
        if format is not None and format.is_ieee and format.width == 4 * len(bits):
            return int(bits, 16)
        told = float.hex(*struct.unpack(">f" if constant[1] else ">d", bytes.fromhex(bits)))
    word = told.lstrip("+-").lower()
    if format is not None and word in ("inf", "infinity", "nan"):
        sign = format.sign_bit if told.startswith("-") else 0
        if word == "nan" and format.nans:
            return sign | format.canonical_nan
        if word != "nan" and format.has_infinity:
            return sign | format.infinity
        raise PtxspecError(f"operand '{text}': {format.name} has no {'NaN' if word == 'nan' else 'infinity'}")
    number = parse_number(told)
    if number is None:
        forms = "write a number, as in 1.5, inf, nan, 0x1.8p-3 or 0f3FC00000, or bits, as in 0x3fc00000"
        help = suggest(text, ("inf", "-inf", "nan"), otherwise=forms)
        raise PtxspecError(f"operand '{text}' is not a number; {help}")
    value: Fraction = number[0]
    if format is not None:
        return round_to(value, format, "roundTiesToEven", False, number[1])
    fixed = type_.kind.fixed or FixedPoint(type_.name, type_.kind.width, signed=False, point=0)
    if not fixed.least <= value * (1 << fixed.point) <= fixed.largest:
        raise PtxspecError(f"operand '{text}' is out of range for .{type_.name}")
    if not fixed.point and value.denominator != 1:
        raise PtxspecError(f"operand '{text}' is not an integer, which .{type_.name} requires")
    return round_to_integer(value, fixed, "roundTiesToEven")


def _notes(text: str, type_: Type) -> Iterator[str]:
    """Yield notes about numbers in an operand that are too large or too small for its format."""
    format = type_.kind.format
    for lane in map(str.strip, text.split(",")) if format is not None else ():
        number = parse_number(lane)
        if number is None or format is None:
            continue
        value, bits = abs(number[0]), _number(lane, type_)
        if value > decode(format.largest, format) and format.magnitude(bits) != format.largest:
            became = "NaN" if format.is_nan(bits) else f"{'-' if number[1] else '+'}inf"
            largest = decimal(format.largest, format)
            yield f"{lane} is {became} in {format.name}, whose largest number is {largest}"
        elif value and format.has_zero and format.is_zero(bits):
            yield f"{lane} is {decimal(bits, format)} in {format.name}, whose smallest number is {decimal(1, format)}"


def _steps(
    spec: Spec, variant: Variant, target: str | None, lanes: list[list[int]], results: list[int]
) -> list[tuple[Program, list[Step]]]:
    """Return the steps of each lane. Raises PtxspecError if they do not lead to the emulator's results."""
    found = Compiler(spec).programs(spec.instructions[variant.opcode], variant)
    program = found.get(target, found[None])
    encodings, steps = zip(*(trace(program, operands) for operands in lanes), strict=True)
    columns = zip(*encodings, strict=True)
    whole = [x for r, column in zip(variant.results, columns, strict=True) for x in registers_of(r, column)]
    if whole != results:
        said = " and ".join(", ".join(map(hex, xs)) for xs in (results, whole))
        raise PtxspecError(f"generated/ and spec/ disagree on {variant}: {said}; run `ptxspec generate`")
    return [(program, s) for s in steps]


def _lines(root: Root, lanes: list[tuple[Program, list[Step]]]) -> list[TraceLine]:
    source = SpecificationLines(root)
    return [line for i, (program, steps) in enumerate(lanes) for line in trace_lines(source, i, program, steps)]
