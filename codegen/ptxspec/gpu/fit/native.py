"""A unit in C before it is in the specification, for whole sweeps: NumPy takes several times as long."""

from __future__ import annotations

import ctypes
import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from ...emit import units
from ...model import UnitModel
from .arrays import Array
from .observed import emulated


def function(model: UnitModel, emulator: ModuleType) -> Callable[[Array], Array]:
    """What the unit makes of an array of encodings: in C where there is some for it and a compiler, else in NumPy. Both
    are compared wherever a sweep finds a difference, and in the tests."""
    u = emulated(model, emulator)

    def in_numpy(x: Array) -> Array:
        found: Array = emulator.unit.unit(x, u)
        return found

    return _in_c(model, emulator) or in_numpy


def _in_c(model: UnitModel, emulator: ModuleType) -> Callable[[Array], Array] | None:
    if not units.has_c(model):
        return None
    compiling = importlib.import_module(f"{emulator.__name__}.compiling")
    each = f"for (size_t i = 0; i < n; i++) d[i] = unit_{model.identifier}(x[i]);"
    text = f"""#include "formats.h"
#include "kernel.h"
#include "unit.h"
{units.in_c(model)}
EXPORTED void run(size_t n, const uint32_t *restrict x, uint32_t *restrict d) {{
    {each}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = compiling.once(text, str(Path(folder) / "unit.so"), f"the unit {model.unit}", ctypes.CDLL).run
        except (compiling.Failure, OSError):
            return None

    def in_c(x: Array) -> Array:
        operands = np.ascontiguousarray(x)
        found = np.empty_like(operands)
        run(ctypes.c_size_t(found.size), ctypes.c_void_p(operands.ctypes.data), ctypes.c_void_p(found.ctypes.data))
        return found

    return in_c
