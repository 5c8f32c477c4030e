"""Kernels in C as ufuncs, which NumPy calls on arrays of any layout sooner than Python can look at them.

A ufunc casts what it is given, so that whoever calls one here has looked at the types. Its loop, `LOOP` of
native/kernel.h, leaves the processor's flags as they were, and NumPy finds nothing to warn of."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

# The place of PyUFunc_FromFuncAndData in what NumPy exports to C.
_PLACE: Final = 1
# A ufunc reads its loops, types and names where they were registered, for as long as it is there: one for each place of
# a loop, its types and operands. A library is never unloaded.
_held: dict[tuple[int, bytes, int], tuple[Any, ...]] = {}
_ufuncs: dict[tuple[int, bytes, int], np.ufunc] = {}


@cache
def _register() -> Any:
    """NumPy's function; None where it is not found."""
    try:
        capsule = import_module("numpy._core._multiarray_umath")._UFUNC_API
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    except (ImportError, AttributeError, ValueError):
        return None
    text, number = ctypes.c_char_p, ctypes.c_int
    parameters = [ctypes.c_void_p, ctypes.c_void_p, text, number, number, number, number, text, text, number]
    return ctypes.PYFUNCTYPE(ctypes.py_object, *parameters)(table[_PLACE])


def registered(loop: Any, types: Sequence[np.dtype[Any]], sources: int, name: str) -> np.ufunc | None:
    """A ufunc of one loop, on `sources` operands and results of NumPy's own types; None where there can be none."""
    register = _register()
    if register is None or loop is None or not all(is_own(t) for t in types):
        return None
    address, numbers = ctypes.cast(loop, ctypes.c_void_p).value or 0, bytes(t.num for t in types)
    key = address, numbers, sources
    if key not in _ufuncs:
        made = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(None), numbers, name.encode(), b""
        # Another thread may have come first.
        loops, data, read, called, text = _held.setdefault(key, made)
        ufunc: np.ufunc = register(loops, data, read, 1, sources, len(types) - sources, -1, called, text, 0)
        _ufuncs.setdefault(key, ufunc)
    return _ufuncs[key]


def is_own(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == 1


def as_own(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What bits of a type are in a ufunc: the type itself, if it is NumPy's own."""
    return dtype if is_own(dtype) else np.dtype(f"u{dtype.itemsize}")
