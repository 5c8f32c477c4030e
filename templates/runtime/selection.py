"""Selection lane by lane, in the quickest way; that is seldom NumPy's own."""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from typing import Any

import numpy as np

from .binary import Array, Format
from .encoding import isNaN, mask, quieten


def replace(bits: Array, condition: Array, pattern: Any, f: Format) -> Array:
    """Return `bits`, modified in place, with a pattern where the condition is true. The condition may be modified too.

    NumPy's masked copies cost ten times an arithmetic operation where the processor cannot predict the mask; where many
    lanes are concerned, arithmetic replaces them.
    """
    bits = np.asarray(bits)  # a result that depends on constants alone is a scalar
    count = np.count_nonzero(condition)
    # Measured: above this count arithmetic is quicker, for patterns of 2, 4 and 8 bytes.
    few = bits.size * bits.itemsize // 200
    if count <= few or count == bits.size:
        if count:
            np.copyto(bits, pattern, where=condition)
        return bits
    if bits.itemsize == 8:
        # NaNs that the processor itself makes may be canonical already.
        condition &= bits != pattern
        if np.count_nonzero(condition) <= few:
            np.copyto(bits, pattern, where=condition)
            return bits
    chosen = mask(condition, f)
    bits |= chosen
    chosen &= ~pattern
    bits ^= chosen
    return bits


def canonicalise(value: Array, f: Format) -> Array:
    """Return the bits of a fresh native value, every NaN the canonical one."""
    return replace(value.view(f.unsigned), np.isnan(value), f.nan, f)


def propagate(value: Array, operands: tuple[Array, ...], f: Format) -> Array:
    """Return `value`, modified in place, with the operands' first NaN, made quiet, where `value` and an operand are
    NaNs (6.2.3)."""
    shapes = {np.shape(x) for x in (value, *operands)}
    if len(shapes) > 1 or () in shapes:
        # A result that depends on constants alone is a scalar.
        shape = np.broadcast_shapes(*shapes)
        value, *spread = (np.array(np.broadcast_to(x, shape or (1,))) for x in (value, *operands))
        return propagate(value, tuple(spread), f).reshape(shape)
    nan = isNaN(value, f)
    count = np.count_nonzero(nan)
    if 16 * count > nan.size:
        # Operands that are numbers may cause many NaNs, as for roots: only NaNs among the operands are looked up.
        for operand in reversed(operands):
            chosen = nan & isNaN(operand, f)
            lanes: Any = chosen.nonzero() if not chosen.all() else ...
            value[lanes] = quieten(operand[lanes], f)
    elif count:
        lanes = nan.nonzero()
        found = value[lanes]
        for operand in reversed(operands):
            few = operand[lanes]
            np.copyto(found, quieten(few, f), where=isNaN(few, f))
        value[lanes] = found
    return value


def select(condition: Array, x: Array, y: Array) -> Array:
    """Return x where the condition is true, else y, lane by lane; x and y share their type. The result may be x or y
    itself."""
    shape = np.broadcast_shapes(np.shape(condition), np.shape(x), np.shape(y))
    size = np.size(condition)
    count = np.count_nonzero(condition)
    if count in (0, size):
        return np.broadcast_to(x if count else y, shape)
    if 16 * count < size:
        return _amended(y, x, condition, shape)
    if 16 * (size - count) < size:
        return _amended(x, y, ~condition, shape)
    # NumPy's own selection costs ten times this where the processor cannot predict the condition.
    result = x ^ y
    result &= np.negative(condition.view(np.int8)).astype(result.dtype)
    result ^= y
    return result


def _amended(most: Array, few: Array, condition: Array, shape: tuple[int, ...]) -> Array:
    result = np.array(np.broadcast_to(most, shape))
    np.copyto(result, few, where=condition)
    return result
