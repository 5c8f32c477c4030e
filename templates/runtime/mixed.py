"""Operations whose operands and result have several formats: the formatOf operations of IEEE 754-2019, 5.4.1.

They take operands, their formats, the format of the result, and the rest as those of arithmetic.py do. Where the
format of the result is the processor's and holds every operand, its own operation serves. Else operands are numbers of
float64 with at most 24 bits, so that products are exact; sums are rounded to odd, and all is rounded once more.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from . import arithmetic
from .binary import BINARY64, Array, Direction, Format, roundTiesToEven, roundTowardNegative
from .conversion import as_double
from .declared import Declared, encode
from .rounding import Operation, sum_to_odd

Number: TypeAlias = Format | Declared


def _mixed(own: Operation, count: int, computed: Callable[..., Array]) -> Operation:
    """An operation on `count` operands: `own` is that of one format, `computed` the one on float64."""

    @arithmetic.elementwise(count)
    def operation(*arguments: Any) -> Array:
        operands, (formats, f, mode, ftz, *more) = arguments[:count], arguments[count:]
        daz = bool(more and more[0])
        if _holds(f, formats):
            widened = (
                x if s == f else arithmetic.convert(x, s, f, roundTiesToEven, False, daz)
                for x, s in zip(operands, formats, strict=True)
            )
            return own(*widened, f, mode, ftz, daz)
        values = [as_double(x, s, daz) for x, s in zip(operands, formats, strict=True)]
        return _rounded(computed(*values, mode), f, mode, ftz)

    return operation


def _holds(f: Number, formats: tuple[Number, ...]) -> bool:
    """Is this a format of the processor's that has every number of the others?"""
    if not isinstance(f, Format) or f.native is None:
        return False
    return all(isinstance(s, Format) and s.precision <= f.precision and s.emax <= f.emax for s in formats)


def _rounded(value: Array, f: Number, mode: Direction, ftz: bool) -> Array:
    if isinstance(f, Declared):
        return encode(value, f, mode, ftz)
    return arithmetic.convert(value.view(np.uint64), BINARY64, f, mode, ftz)


def _sum(x: Array, y: Array, mode: Direction) -> Array:
    total = sum_to_odd(x, y)
    if mode == roundTowardNegative:
        # A sum of zero is -0 unless both summands are +0.
        np.copyto(total, -0.0, where=(total == 0) & (np.signbit(x) | np.signbit(y)))
    return total


addition = _mixed(arithmetic.addition, 2, _sum)
subtraction = _mixed(arithmetic.subtraction, 2, lambda x, y, mode: _sum(x, -y, mode))
multiplication = _mixed(arithmetic.multiplication, 2, lambda x, y, mode: x * y)
fusedMultiplyAdd = _mixed(arithmetic.fusedMultiplyAdd, 3, lambda x, y, z, mode: _sum(x * y, z, mode))
