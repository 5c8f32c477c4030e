"""Berkeley SoftFloat 3e on arrays of bit patterns: the C functions that the package softfloatpy is made of.

They are called from a loop in C, which is compiled here: one in Python would take far longer than they do.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from families import approximates, operation, rounding, type_of
from numpy.typing import NDArray
from ptxemu import Variant

# Structures as SoftFloat's: not every machine passes them as it passes the integers in them.
LOOPS = r"""
#include <stddef.h>
#include <stdint.h>
#define LOOPS(bits) \
    typedef struct { uint##bits##_t v; } f##bits; \
    void loop1_##bits(f##bits f(f##bits), size_t n, const f##bits *a, f##bits *to) \
    { for (size_t i = 0; i < n; i++) to[i] = f(a[i]); } \
    void loop2_##bits(f##bits f(f##bits, f##bits), size_t n, const f##bits *a, const f##bits *b, f##bits *to) \
    { for (size_t i = 0; i < n; i++) to[i] = f(a[i], b[i]); } \
    void loop3_##bits(f##bits f(f##bits, f##bits, f##bits), size_t n, const f##bits *a, const f##bits *b, \
                      const f##bits *c, f##bits *to) \
    { for (size_t i = 0; i < n; i++) to[i] = f(a[i], b[i], c[i]); }
LOOPS(16)
LOOPS(32)
LOOPS(64)
"""
FUNCTIONS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "rcp": "div", "sqrt": "sqrt", "fma": "mulAdd"}
MODES = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}
ONE = {"f16": 0x3C00, "f32": 0x3F80_0000, "f64": 0x3FF0_0000_0000_0000}


@dataclass(frozen=True)
class Library:
    functions: ctypes.CDLL
    loops: ctypes.CDLL
    mode: ctypes.c_uint8


@cache
def library() -> Library | str:
    """SoftFloat, or what brings it where it is not."""
    try:
        from softfloatpy import _core
    except ImportError:
        return "pip install -e '.[benchmark]' brings it"
    try:
        functions = ctypes.CDLL(_core.__file__)
        mode = ctypes.c_uint8.in_dll(functions, "softfloat_roundingMode")
    except (OSError, ValueError):
        return "softfloatpy keeps its functions to itself on this system"
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = Path(folder, "loops.so")
        compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
        command = [*compiler, "-x", "c", "-", "-O2", "-shared", "-fPIC", "-o", str(made)]
        try:
            subprocess.run(command, input=LOOPS, capture_output=True, text=True, check=True)
            return Library(functions, ctypes.CDLL(str(made)), mode)
        except (OSError, subprocess.CalledProcessError):
            return f"it takes a C compiler, and {compiler[0]} is none; CC names another"


def call(v: Variant, columns: Sequence[NDArray[Any]]) -> Callable[[], NDArray[Any]] | None:
    """Return a function that computes a variant on these operands, or None where SoftFloat has none or is missing."""
    type_, name = type_of(v), FUNCTIONS.get(operation(v))
    if type_ not in ONE or name is None or approximates(v):
        return None
    found = library()
    if isinstance(found, str):
        return None
    if operation(v) == "rcp":
        columns = [np.full_like(columns[0], ONE[type_]), *columns]
    result = np.empty_like(columns[0])
    loop = getattr(found.loops, f"loop{len(columns)}_{result.itemsize * 8}")
    function = ctypes.cast(getattr(found.functions, f"{type_}_{name}"), ctypes.c_void_p)
    size = ctypes.c_size_t(result.size)
    # These keep the arrays that they point to.
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*columns, result)]

    def run() -> NDArray[Any]:
        found.mode.value = MODES[rounding(v)]
        loop(function, size, *pointers)
        return result

    return run
