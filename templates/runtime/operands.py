"""Operands other than plain arrays: Python's numbers where they are exact; and advice for all that is refused.

Arrays of the right type need none of this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .binary import Array
from .signature import Registers, Type


class OperandError(TypeError):
    """Operands of a number, kind or shape that the variant does not accept."""


def read(what: object, arrays: Sequence[Any], registers: Registers) -> tuple[Any, ...]:
    """Return operands as NumPy's arrays and scalars, converted from numbers and from arrays of other classes where need
    be. `what` is named in errors. Raises OperandError where a conversion would lose something."""
    plain = [isinstance(x, (np.ndarray, np.generic)) for x in arrays]
    found = []
    for x, is_plain, (name, t) in zip(arrays, plain, registers, strict=True):
        try:
            if is_plain:
                if wrong := masked(x):
                    raise OperandError(f"operand {name} {wrong}")
                found.append(x if isinstance(x, np.generic) else np.asarray(x))
            else:
                # The dtypes of the other operands of this type.
                others = [y.dtype for y, p, (_, u) in zip(arrays, plain, registers, strict=True) if p and u is t]
                found.append(_number(x, name, t, others))
        except OperandError as e:
            raise OperandError(f"{what}: {e}") from None
    return tuple(found)


def truths(x: Array) -> Array:
    """Return bools from the bytes 0 and 1: an array viewed as bool may contain any bytes."""
    made: Array = x.view(np.uint8) != 0
    return made


def masked(x: Any) -> str:
    """Return the error for an array with a mask, which kernels would ignore; empty for any other."""
    if not isinstance(x, np.ndarray) or type(x) is np.ndarray or not isinstance(x, np.ma.MaskedArray):
        return ""
    return "is a masked array, whose mask would be lost; write .filled(VALUE), or .data to compute what is masked, too"


# Numbers


def _number(x: Any, name: str, t: Type, others: Sequence[np.dtype[Any]]) -> np.generic:
    """Return a Python number as the scalar that equals it. Raises OperandError where there is none, or where the number
    is ambiguous."""
    if not isinstance(x, (bool, int, float)):
        expected = f"expected a NumPy array or scalar of {t.expected}"
        raise OperandError(f"operand {name} is a {type(x).__name__}; {expected}{_from_other(x, name, t)}")
    said = f"operand {name} is {_shown(x)}"
    if t.sort == "bool" or isinstance(x, bool):
        if t.sort == "bool" and isinstance(x, bool):
            return np.bool_(x)
        is_bit = x in (0, 1) and t.lanes == 1
        hint = f"; write {bool(x) if t.sort == 'bool' else int(x)}" if is_bit else ""
        raise OperandError(f"{said}; expected {t.expected}{hint}")
    if t.lanes > 1:
        raise OperandError(f"{said}; expected {t.expected}; write {spelled(t)}, with lane 0 in the lowest bits")
    if t.sort == "float":
        return _float(x, said, t, others)
    return _integer(x, said, t, others)


def _integer(x: int | float, said: str, t: Type, others: Sequence[np.dtype[Any]]) -> np.generic:
    if isinstance(x, float):
        if t.sort == "bits":
            float_ = f"np.float{t.width}({x})"
            of_number = f"; write {float_}.view({spelled(t)}) for the bits of a float" if t.width > 8 else ""
            raise OperandError(f"{said}, and .{t.name} takes bits{of_number}")
        whole = f"; write {int(x)}" if x.is_integer() else ", which has no fraction"
        raise OperandError(f"{said}, and .{t.name} takes an integer{whole}")
    signed = bool(t.native_name)
    least, most = (-(1 << (t.width - 1)), (1 << (t.width - 1)) - 1) if signed else (0, (1 << t.width) - 1)
    if not least <= x <= most:
        hint = ""
        if -(1 << (t.width - 1)) <= x < 0:
            hint = f"; write {spelled(t)}({x & most:#x}) for its bits"
        elif signed and 0 <= x < 1 << t.width:
            hint = f"; write np.{t.bits}({x:#x}) for bits"
        raise OperandError(f"{said}; .{t.name} is from {least} to {most}{hint}")
    found: np.generic = (t.native or t.bits).type(x)
    return found.view(t.bits) if t.bits in {d.newbyteorder("=") for d in others} else found


def _float(x: int | float, said: str, t: Type, others: Sequence[np.dtype[Any]]) -> np.generic:
    number: Any = t.number
    if not t.native_name:
        raise OperandError(f"{said}; expected {t.expected}; write the bits, as {spelled(t)}")
    constructor = spelled(t, native=True)
    if t.native is None:
        bits = f"write the bits, as np.{t.bits}, or install ml_dtypes and write {constructor}({x})"
        raise OperandError(f"{said}; expected {t.expected}; {bits}")
    # Up to here every integer is a number of the format; a larger one may be meant as bits.
    every = 1 << (number.fraction_bits + 1)
    if isinstance(x, int) and abs(x) > every:
        if not 0 <= x < 1 << t.width:
            raise OperandError(f"{said}; write {constructor} of it, if .{t.name} has it")
        both = f"write {constructor}({x}) for the number, np.{t.bits}({x:#x}) for the bits"
        raise OperandError(f"{said}, a number or bits; {both}")
    with np.errstate(all="ignore"):
        found: Any = t.native.type(x)
        back = np.float64(found)
    if back.tobytes() != np.float64(x).tobytes():
        if not np.isfinite(back):
            raise OperandError(f"{said}, which is beyond .{t.name}")
        raise OperandError(f"{said}, which .{t.name} does not have; write {constructor}({x}), which is {float(found)}")
    if t.bits in {d.newbyteorder("=") for d in others}:
        bits = f"np.{t.bits}({int(found.view(t.bits)):#x})"
        raise OperandError(f"{said} beside bits; write {bits} for the bits of the number {float(found)}")
    scalar: np.generic = found
    return scalar


def _shown(x: int | float) -> str:
    """Return a number as text of at most one line: Python refuses to write thousands of digits."""
    return repr(x) if isinstance(x, float) or abs(x) < 1 << 64 else f"an int of {x.bit_length()} bits"


# What to write instead


def spelled(t: Type, native: bool = False) -> str:
    """Return the scalar type to write for a type of PTX: the native type if `native` and there is one, else its
    bits."""
    if native and t.native_name:
        return f"{'ml_dtypes' if t.is_extension else 'np'}.{t.native_name}"
    return f"np.{t.bits}"


def _from_other(x: Any, name: str, t: Type) -> str:
    if hasattr(x, "__array__") or hasattr(x, "__dlpack__"):
        return f"; write np.asarray({name})"
    if isinstance(x, (list, tuple, range)):
        return f"; write np.array({name}, {spelled(t, native=True)})"
    return f"; write {spelled(t, native=True)}({name})" if hasattr(x, "__float__") and t.sort == "float" else ""


def mended(name: str, dtype: np.dtype[Any], t: Type) -> str:
    """Return how to convert an array of another type; empty where no way is certain to be meant."""
    bits, kind = f"np.{t.bits}", dtype.kind
    same_size = dtype.itemsize == t.bits.itemsize
    # ml_dtypes' types have a kind of their own.
    is_float = kind == "f" or (kind == "V" and dtype.names is None and _is_number(dtype))
    if kind == "O" and t.native_name:
        return f"write {name}.astype({spelled(t, native=True)})"
    if not (is_float or kind in "iub"):
        return ""
    if t.sort == "bool":
        return f"write {name} != 0"
    if t.lanes > 1:
        return _packed(name, dtype, t, is_float)
    if t.sort == "float" and t.native_name:
        as_number = f"{name}.astype({spelled(t, native=True)})"
        if is_float:
            return f"write {as_number}"
        as_bits = f"{name}.view({bits})" if same_size and kind != "b" else f"{name}.astype({bits})"
        return f"write {as_number}" + f" for numbers, {as_bits} for bits" * (kind != "b")
    if t.sort == "bits":
        if is_float or kind == "i":
            return f"write {name}.view({bits})" if same_size else ""
        return f"write {name}.astype({bits})"
    if t.sort == "integer" and not is_float:
        is_reread = kind == "i" and same_size
        return f"write {name}.view({bits})" if is_reread else f"write {name}.astype({spelled(t, native=True)})"
    return ""


def _packed(name: str, dtype: np.dtype[Any], t: Type, is_float: bool) -> str:
    """Return how to pack lanes into one register: by a view of neighbours in memory, if each lane fills whole bytes."""
    bits = f"np.{t.bits}"
    if dtype.kind == "i" and dtype.itemsize == t.bits.itemsize:
        return f"write {name}.view({bits})"
    lane = replace(t, lanes=1, name=t.name)
    if not (is_float and t.stands_alone and lane.native_name):
        return ""
    rounded = "" if lane.is_native(dtype) else f".astype({spelled(lane, native=True)})"
    return f"write {name}{rounded}.view({bits}), which packs {t.lanes} neighbours"


def _is_number(dtype: np.dtype[Any]) -> bool:
    try:
        return float(dtype.type(1)) == 1
    except (TypeError, ValueError):
        return False
