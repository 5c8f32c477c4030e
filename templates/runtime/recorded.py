"""The functions of a target's special function unit, for kernels. unit.py and units.py are imported at the first call,
since most programs never need them."""

from __future__ import annotations

from .binary import Array


def unit(x: Array, name: str) -> Array:
    """Return the results of the unit of that name in units.py."""
    from . import unit, units

    return unit.unit(x, getattr(units, name))
