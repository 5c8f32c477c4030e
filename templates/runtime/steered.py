"""The processor's own operations, steered: rounded in a direction, with and without subnormal numbers."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import environment
from .binary import Array, Direction, Format, roundTiesToEven
from .selection import canonicalise

# Operations that take some processors long where an operand or the result is subnormal.
_STUMBLING = (np.multiply, np.divide, np.sqrt)


def steered(
    ufunc: np.ufunc, operands: tuple[Array, ...], f: Format, mode: Direction, ftz: bool, daz: bool
) -> Array | None:
    """Return the result of the processor's own operation, steered; None where it has none, or none that can be
    steered."""
    if f.native is None or not environment.can(mode, ftz, daz):
        return None
    values = [operand.view(f.native) for operand in operands]
    if ufunc in _STUMBLING and f.carrier is not None and not (ftz or daz) and _stumbles(ufunc, values, f):
        # In the carrier nothing is subnormal. Products are exact there; quotients and roots, also those that become
        # subnormal, may be rounded twice (_rounds_twice_safely of arithmetic.py), as may anything in one direction.
        with environment.environment(mode):
            return canonicalise(in_carrier(ufunc, values, f.carrier, f.native), f)
    if mode == roundTiesToEven and not (ftz or daz):
        return canonicalise(ufunc(*values), f)
    with environment.environment(mode, ftz, daz):
        value = ufunc(*values)
    return canonicalise(value, f)


def in_carrier(ufunc: np.ufunc, values: Sequence[Array], carrier: np.dtype[Any], native: np.dtype[Any]) -> Array:
    """Return the results of an operation in a wider type, rounded there and back, in a fresh array. NumPy converts
    piece by piece, which takes less memory than converting all first."""
    return ufunc(*values, dtype=carrier, out=np.empty(values[0].shape, native), casting="same_kind")


def _stumbles(ufunc: np.ufunc, values: list[Array], f: Format) -> bool:
    """Return whether the processor would take long because operands or results of many lanes are subnormal; a sample
    tells."""
    if not environment.STUMBLES:
        return False
    sample = [value.flat[:256] for value in values]
    bits = np.concatenate([*sample, ufunc(*sample)]).view(f.unsigned)
    bits &= f.magnitude_mask
    bits -= f.unsigned.type(1)
    return bool(64 * np.count_nonzero(bits < f.fraction_mask) > bits.size)
