"""Operations whose operands and result have several formats: the formatOf operations of IEEE 754-2019, 5.4.1.

They take operands, their formats, the format of the result, and the rest as those of arithmetic.py do. Operands are
numbers of float64 with at most 24 bits, so that products are exact; sums are rounded to odd, and all is rounded once
more.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arithmetic
from .binary import Array, Direction, roundTowardNegative
from .conversion import as_double, to_float
from .rounding import Operation, sum_to_odd


def _mixed(count: int, computed: Callable[..., Array]) -> Operation:
    """An operation on `count` operands, which `computed` does in float64."""

    @arithmetic.elementwise(count)
    def operation(*arguments: Any) -> Array:
        operands, (formats, f, mode, ftz, *daz) = arguments[:count], arguments[count:]
        value = computed(*(as_double(x, s, any(daz)) for x, s in zip(operands, formats, strict=True)), mode)
        return to_float(value, f, mode, ftz)

    return operation


def _sum(x: Array, y: Array, mode: Direction) -> Array:
    total = sum_to_odd(x, y)
    if mode == roundTowardNegative:
        # A sum of zero is -0 unless both summands are +0.
        np.copyto(total, -0.0, where=(total == 0) & (np.signbit(x) | np.signbit(y)))
    return total


addition = _mixed(2, _sum)
subtraction = _mixed(2, lambda x, y, mode: _sum(x, -y, mode))
multiplication = _mixed(2, lambda x, y, mode: x * y)
fusedMultiplyAdd = _mixed(3, lambda x, y, z, mode: _sum(x * y, z, mode))
