"""What a target's special function unit computes, for kernels: unit.py and units.py are loaded when the first of them
is called, since most never are."""

from __future__ import annotations

from .binary import Array


def unit(x: Array, name: str) -> Array:
    """What the unit of that name in units.py makes of `x`."""
    from . import unit, units

    return unit.unit(x, getattr(units, name))
