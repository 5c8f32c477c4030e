"""Lanes: numbers side by side in memory, and the packed registers that contain them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from .binary import Array
from .catalog.likeness import suggest
from .index import TYPES
from .operands import OperandError, spelled
from .signature import Type, type_named


def pack(lanes: Any, type: str) -> Any:
    """Return registers of a packed type, such as "f16x2", from an array whose last axis is that of lanes, lane 0 first.

        >>> hex(ptxemu.pack(np.float16([1, 2]), "f16x2"))  # lane 0 has the lowest bits
        '0x40003c00'

    The lanes are of the native type (float16, float32, those of ml_dtypes; int8 to int32) or bit patterns, one byte
    each where a lane has fewer bits. The registers are uint8 to uint64, of the array's shape without the last axis.
    Raises OperandError (a TypeError) for another dtype, ValueError for another number of lanes, an unknown type, and
    bits that a lane does not have."""
    t = _packed(type)
    one, x = _lane(t), np.asarray(lanes)
    if not x.ndim or x.shape[-1] != t.lanes:
        raise ValueError(f"the last axis of lanes is of the {t.lanes} of .{t.name}; the shape is {x.shape}")
    if x.dtype.newbyteorder("=") != t.lane and not one.is_native(x.dtype) and not one.is_signed_bits(x.dtype):
        raise OperandError(f"lanes are {x.dtype}; .{t.name} takes {_taken(t)}")
    x = np.ascontiguousarray(x, x.dtype.newbyteorder("=")).view(t.lane)
    if t.width < 8 * t.lane.itemsize and (x >> t.lane.type(t.width)).any():
        raise ValueError(f"a lane of .{t.name} has {t.width} bits; {int(x.max()):#x} has more")
    flat = x.reshape(-1, t.lanes)
    return t.pack([np.ascontiguousarray(flat[:, i]) for i in range(t.lanes)]).reshape(x.shape[:-1])[()]


def unpack(registers: Any, type: str) -> Array:
    """Return the lanes of registers of a packed type, such as "f16x2", along a new last axis, lane 0 first: the inverse
    of `pack`.

        >>> ptxemu.unpack(np.uint32(0x40003C00), "f16x2")
        array([1., 2.], dtype=float16)

    They are of NumPy's own float or signed integer type where it has one, else bit patterns, one byte each where a lane
    has fewer bits. Raises OperandError (a TypeError) for registers of another dtype, ValueError for an unknown type."""
    t, x = _packed(type), np.asarray(registers)
    if x.dtype.newbyteorder("=") != t.bits and not t.is_signed_bits(x.dtype):
        raise OperandError(f"registers are {x.dtype}; those of .{t.name} are {t.bits}")
    flat = np.ascontiguousarray(x, x.dtype.newbyteorder("=")).reshape(-1).view(t.bits)
    found = np.stack(t.unpack(flat), axis=-1).reshape(*x.shape, t.lanes)
    one = _lane(t)
    return found if one.native is None or one.is_extension else found.view(one.native)


def _packed(name: str) -> Type:
    if not isinstance(name, str) or name.lstrip(".") not in TYPES:
        known = [n for n, about in TYPES.items() if about[2] > 1]
        raise ValueError(f"unknown type {name!r}; {suggest(str(name).lstrip('.'), known)}")
    t = type_named(name.lstrip("."))
    if t.lanes == 1:
        raise ValueError(f".{t.name} has one lane: an array of it is its registers")
    return t


@cache
def _lane(t: Type) -> Type:
    """Return the type of a single lane of a type."""
    return replace(t, lanes=1, lane_width=8 * t.lane.itemsize, shift=0)


def _taken(t: Type) -> str:
    one = _lane(t)
    bits = f"{t.lane} (bits)"
    return f"{spelled(one, native=True).removeprefix('np.')} or {bits}" if one.native_name else bits
