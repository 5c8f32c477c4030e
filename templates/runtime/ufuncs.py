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

# The places of PyUFunc_FromFuncAndData and PyUFunc_RegisterLoopForType in what NumPy exports to C.
_MAKE: Final = 1
_ADD: Final = 2
# A ufunc reads its loops, types and names where they were registered, for as long as it is there: one for each place of
# a loop, its types and operands. A library is never unloaded.
_held: dict[tuple[int, tuple[int, ...], int], tuple[Any, ...]] = {}
_ufuncs: dict[tuple[int, tuple[int, ...], int], np.ufunc] = {}


@cache
def _functions() -> tuple[Any, Any] | None:
    """Return NumPy's two functions; None where they are not found."""
    try:
        capsule = import_module("numpy._core._multiarray_umath")._UFUNC_API
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    except (ImportError, AttributeError, ValueError):
        return None
    any_pointer, text, number, thing = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.py_object
    make = ctypes.PYFUNCTYPE(
        thing, any_pointer, any_pointer, text, number, number, number, number, text, text, number
    )  # fmt: skip
    add = ctypes.PYFUNCTYPE(number, thing, number, any_pointer, any_pointer, any_pointer)
    return make(table[_MAKE]), add(table[_ADD])


def registered(loop: Any, types: Sequence[np.dtype[Any]], sources: int, name: str) -> np.ufunc | None:
    """Return a ufunc of one loop, on `sources` operands and results of NumPy's types or of others that are registered
    with it, as ml_dtypes' are; None where there can be none."""
    functions = _functions()
    if functions is None or loop is None or not all(t.isbuiltin for t in types):
        return None
    make, add = functions
    address, numbers = ctypes.cast(loop, ctypes.c_void_p).value or 0, tuple(t.num for t in types)
    key = address, numbers, sources
    if key not in _ufuncs:
        # A ufunc is made with NumPy's own types. The loop reads what is as wide.
        own = bytes(t.num if _is_own(t) else np.dtype(f"u{t.itemsize}").num for t in types)
        made = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(None), own, name.encode(), b""
        # Another thread may have come first.
        loops, data, read, called, text = _held.setdefault(key, made)
        ufunc: np.ufunc = make(loops, data, read, 1, sources, len(types) - sources, -1, called, text, 0)
        others = [t.num for t in types if not _is_own(t)]
        if others:
            add(ufunc, others[0], address, (ctypes.c_int * len(numbers))(*numbers), None)
        _ufuncs.setdefault(key, ufunc)
    return _ufuncs[key]


def _is_own(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == 1
