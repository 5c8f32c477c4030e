"""One instruction on operands given as text: what the emulator of a root makes of them, and on request how."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from .diagnostics import PtxspecError, SpecError, suggest
from .literals import describe, parse_number
from .model import Format, Spec, Variant
from .read.link import read_all
from .read.positioned import load
from .roots import Root
from .semantics.exact.evaluate import Step, trace
from .semantics.exact.rounding import round_to
from .semantics.program import Kind
from .semantics.specialise import programs


@dataclass(frozen=True)
class TraceLine:
    """A step of one lane: the value of `name` before (None: it had none) and after, and the line that says so."""

    lane: int
    stage: str
    name: str
    path: str
    line: int
    text: str
    kind: Kind
    before: int | None
    after: int


@dataclass(frozen=True)
class Evaluation:
    variant: Variant
    target: str | None
    claim: str
    operands: list[int]
    result: int
    trace: list[TraceLine]


def emulator(root: Root) -> ModuleType:
    """The ptxemu that belongs to a root, under a name of its own. Raises PtxspecError where there is none."""
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
        raise PtxspecError(f"{folder}: no emulator there; run `ptxspec generate` first")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except Exception as e:
        del sys.modules[name]
        raise PtxspecError(f"{folder}: cannot be imported: {e}; run `ptxspec generate`") from e
    return module


def evaluate(
    root: Root, spelling: str, texts: list[str], target: str | None = None, with_trace: bool = False
) -> Evaluation:
    """Run a variant on operands written as 1.5, -0.0, inf, nan, 0x1.8p-3 or bits 0x3fc00000; a type of two lanes takes
    its bits, or the lanes as `low,high`. A number is rounded to nearest even where the format does not have it.

    Raises PtxspecError for an unknown variant, a wrong count and an operand that cannot be read."""
    emu = emulator(root)
    try:
        kernel = emu.compile(spelling, len(texts) or None, target)
    except LookupError as e:
        raise PtxspecError(str(e)) from None
    if len(texts) != kernel.operands:
        raise PtxspecError(f"{kernel.variant.spelling} takes {kernel.operands} operands, {len(texts)} came")
    spec, instruction_errors = _spec(root)
    variant = _find(spec, kernel.variant.spelling, kernel.operands, instruction_errors)
    operands = [parse_operand(t, variant) for t in texts]
    import numpy as np

    dtype = np.dtype(f"u{variant.type.width // 8}")
    result = int(kernel(*(dtype.type(o) for o in operands)))
    # Without a trace too: it is what finds an emulator of another state of the specification.
    lines = _trace(spec, root, variant, target, operands, result)
    return Evaluation(variant, target, spec.claim(variant, target), operands, result, lines if with_trace else [])


def _spec(root: Root) -> tuple[Spec, list[Any]]:
    reading = read_all(root.path)
    if reading.spec is None:
        raise SpecError(reading.diagnostics)
    return reading.spec, reading.diagnostics


def _find(spec: Spec, spelling: str, operands: int, errors: list[Any]) -> Variant:
    for i in spec.instructions.values():
        for v in i.variants:
            if v.spelling == spelling and v.operands == operands:
                return v
    if errors:
        raise SpecError(errors)
    raise PtxspecError(f"{spelling} is in generated/ but no longer in spec/; run `ptxspec generate`")


def parse_operand(text: str, variant: Variant) -> int:
    """The encoding of an operand of a variant."""
    type_, text = variant.type, text.strip()
    digits = text[2:]
    if text[:2].lower() == "0x" and "p" not in digits.lower() and "." not in digits:
        if len(digits) * 4 != type_.width or not all(c in "0123456789abcdefABCDEF" for c in digits):
            wanted = f"0x and {type_.width // 4} hexadecimal digits"
            raise PtxspecError(
                f"operand '{text}': the bits of .{type_.name} are {wanted}; a number ends in p0, as in 0x1p0"
            )
        return int(digits, 16)
    lanes = text.split(",")
    if len(lanes) != type_.lanes:
        hint = "its bits, or its lanes as low,high" if type_.lanes > 1 else "one number"
        raise PtxspecError(f"operand '{text}': .{type_.name} takes {hint}")
    return sum(_number(lane.strip(), type_.format) << (i * type_.format.width) for i, lane in enumerate(lanes))


def _number(text: str, format: Format) -> int:
    sign = format.sign_bit if text.startswith("-") else 0
    word = text.lstrip("+-").lower()
    if word in ("inf", "infinity"):
        return sign | format.infinity
    if word == "nan":
        return sign | format.canonical_nan
    number = parse_number(text)
    if number is None:
        forms = "write 1.5, -0.0, inf, nan, 0x1.8p-3 or bits such as 0x3fc00000"
        help = suggest(text, ("inf", "-inf", "nan"), otherwise=forms)
        raise PtxspecError(f"operand '{text}' is not a number; {help}")
    value: Fraction = number[0]
    return round_to(value, format, "roundTiesToEven", False, number[1])


def _trace(
    spec: Spec, root: Root, variant: Variant, target: str | None, operands: list[int], result: int
) -> list[TraceLine]:
    found = programs(spec, spec.instructions[variant.opcode], variant)
    program = found.get(target, found[None])
    width = variant.type.format.width
    lines, lanes = [], []
    sources: dict[str, tuple[str, ...]] = {}
    for lane in range(variant.type.lanes):
        lane_result, steps = trace(program, [o >> (lane * width) & ((1 << width) - 1) for o in operands])
        lanes.append(lane_result)
        lines += [_line(root.path, lane, step, sources) for step in steps]
    whole = sum(x << (i * width) for i, x in enumerate(lanes))
    if whole != result:
        raise PtxspecError(
            f"generated/ and spec/ disagree on {variant}: 0x{result:x} and 0x{whole:x}; run `ptxspec generate`"
        )
    return lines


def _line(root: Path, lane: int, step: Step, sources: dict[str, tuple[str, ...]]) -> TraceLine:
    let = step.let
    if let.path not in sources:
        sources[let.path] = load(root / let.path, root).lines
    text = sources[let.path][let.mark.line - 1].strip()
    return TraceLine(lane, let.stage, let.label, let.path, let.mark.line, text, let.value.kind, step.before, step.after)


def describe_value(value: int, kind: Kind) -> str:
    """A value of a program for people."""
    if kind.sort == "bool":
        return "true" if value else "false"
    if kind.format is not None:
        return describe(value, kind.format)
    return f"0x{value:0{kind.width // 4}x}"
