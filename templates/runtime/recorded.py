"""The functions of a target's special function unit, for kernels: unit.py and units.py are loaded when the first of
them is called, since most never are."""

from __future__ import annotations

from .binary import Array


def unit(x: Array, name: str) -> Array:
    """Return the results of the unit of that name in units.py."""
    from . import unit, units

    return unit.unit(x, getattr(units, name))
