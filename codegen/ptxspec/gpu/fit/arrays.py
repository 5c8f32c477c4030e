"""A program on arrays, without generated code: with a unit that is not in the specification yet."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...emit.products.emulator import HOMES
from ...model import Kind
from ...semantics.functions import TABLE
from ...semantics.program import Apply, Const, Program, Term, Var

Array = NDArray[Any]

# Enough to hide NumPy's cost of a call, little enough for any memory.
BLOCK = 1 << 18
_ON_BITS: dict[str, Callable[..., Any]] = {
    "bitAnd": np.bitwise_and, "bitOr": np.bitwise_or, "bitXor": np.bitwise_xor, "bitNot": np.invert,
    "sameBits": np.equal, "lessBits": np.less, "bits": np.asarray, "float_of": np.asarray,
    "logicalAnd": np.logical_and, "logicalOr": np.logical_or, "logicalXor": np.logical_xor,
    "logicalNot": np.logical_not,
}  # fmt: skip


def run(program: Program, x: Array, emulator: ModuleType, unit: Callable[[Array], Array]) -> Array:
    """The results of a program of one operand, of encodings for encodings; `unit` takes the place of its unit."""
    parts = [_block(program, x[i : i + BLOCK], emulator, unit) for i in range(0, len(x), BLOCK)]
    return np.concatenate(parts)


def unit_operands(program: Program, x: Array, emulator: ModuleType) -> Array:
    """What the program's unit is given."""
    given: list[Array] = []

    def note(operands: Array) -> Array:
        given.append(operands)
        return operands

    run(program, x, emulator, note)
    return np.concatenate(given)


def _block(program: Program, x: Array, emulator: ModuleType, unit: Callable[[Array], Array]) -> Array:
    values: dict[str, Array] = {program.inputs[0].name: x}
    with np.errstate(all="ignore"):
        for let in program.lets:
            values[let.name] = _value(let.value, x.shape, values, emulator, unit)
        result: Array = _value(program.results[0], x.shape, values, emulator, unit)
    return result


def _value(
    term: Term,
    shape: tuple[int, ...],
    values: Mapping[str, Array],
    emulator: ModuleType,
    unit: Callable[[Array], Array],
) -> Any:
    # As a function within another it would refer to itself: a block's arrays would wait for the garbage collector,
    # which does not know their size.
    if isinstance(term, Const):
        return np.full(shape, term.value, _dtype(term.kind))
    if isinstance(term, Var):
        return values[term.name]
    arguments = [_value(a, shape, values, emulator, unit) for a in term.arguments]
    return unit(arguments[0]) if term.function == "unit" else _apply(term, arguments, emulator)


def _dtype(kind: Kind) -> np.dtype[Any]:
    return np.dtype(bool) if kind.sort == "bool" else np.dtype(f"u{kind.width // 8}")


def _apply(t: Apply, arguments: list[Any], emulator: ModuleType) -> Any:
    if t.function in _ON_BITS:
        return _ON_BITS[t.function](*arguments)
    if t.function in ("shiftLeft", "shiftRight"):
        shift = np.left_shift if t.function == "shiftLeft" else np.right_shift
        return shift(arguments[0], _dtype(t.kind).type(t.count))
    if t.function == "highWord":
        half = t.kind.width // 2
        return arguments[0] & _dtype(t.kind).type(((1 << half) - 1) << half)
    formats = [t.format] if t.format else []
    if t.function == "convert":
        source = t.arguments[0].kind.format
        assert source is not None
        formats = [source, *formats]
    found = [getattr(emulator.formats, f.name) for f in formats]
    rounding = [t.mode, t.ftz] if TABLE[t.function].rounds else []
    home = importlib.import_module(f"{emulator.__name__}.{HOMES[TABLE[t.function].clause]}")
    return getattr(home, t.function)(*arguments, *found, *rounding)
