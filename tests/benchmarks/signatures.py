"""`python signatures.py VARIANT/OPERANDS...`: measure kernels whose operands and results have types of their own.

Random bits in every register, one thread, out= given. Prints a JSON list with an object for each variant: its
"spelling"; "ns" per lane; "add", the ratio to numpy.add on as many float32 numbers; "own" and "ml_dtypes", those to
NumPy's astype and to ml_dtypes' on the same operands, where one does the same, or null. All are medians of processor
time, over rounds in which everything was called in turn.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
from numpy.typing import NDArray
from ptxemu import Variant
from timing import in_turn

Array = NDArray[Any]
LANES = 1 << 20
NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64"} | {
    f"{sign}{width}": f"{name}{width}" for sign, name in (("s", "int"), ("u", "uint")) for width in (8, 16, 32, 64)
}
EXTENSIONS = {"bf16": ml_dtypes.bfloat16, "e4m3x2": ml_dtypes.float8_e4m3fn, "e5m2x2": ml_dtypes.float8_e5m2}
# Sources that ml_dtypes rounds to float32 first, and then once more: 401604606 becomes the bfloat16 number that is
# further away.
ROUNDED_TWICE = {"f64", "s32", "u32", "s64", "u64"}
# Roundings that astype has too, by whether integers come of floats or not.
ASTYPE = {True: {"rzi"}, False: {"rn", "satfinite"}}


def types(v: Variant) -> list[str]:
    """Return the types that the spelling ends in."""
    return [n for n in v.spelling.split(".") if n in ptxemu.index.TYPES]


def registers(kernel: ptxemu.Kernel) -> list[Array]:
    signature, found = kernel._signature, []
    rng = np.random.default_rng(2026)
    for _, t in signature.registers:
        bits = rng.integers(0, 256, LANES // signature.lanes * t.bits.itemsize, np.uint8)
        found.append(bits < 128 if t.sort == "bool" else bits.view(t.bits))
    return found


def astype(v: Variant) -> tuple[str, Callable[[], object]] | None:
    """Return whose conversion does the same but for numbers out of range, NumPy's (`own`) or that of `ml_dtypes`, and a
    call of it; None where neither does."""
    if v.operands > 2 or len(types(v)) != 2 or not v.spelling.startswith("cvt."):
        return None
    result, source = types(v)
    names = set(v.spelling.split(".")[1:]) - {result, source}
    to_integer = result[0] in "su" and source[0] not in "su"
    if names - ASTYPE[to_integer] or source not in NUMPY:
        return None
    rng = np.random.default_rng(2026)
    dtype = np.dtype(NUMPY[source])
    x = rng.integers(0, 256, LANES * dtype.itemsize, np.uint8).view(dtype)
    if result in NUMPY and v.operands == 1:
        out = np.empty(LANES, NUMPY[result])
        return "own", lambda: np.copyto(out, x, casting="unsafe")
    if result in EXTENSIONS and source not in ROUNDED_TWICE:
        narrow = np.empty(LANES, EXTENSIONS[result])
        return "ml_dtypes", lambda: np.copyto(narrow, x, casting="unsafe")
    return None


def measured(v: Variant) -> dict[str, Any]:
    kernel = ptxemu.compile(v.spelling, v.operands)
    given = registers(kernel)
    made = [np.empty(given[0].shape, t.bits) for _, t in kernel._signature.places[0]]
    x, y, z = (np.ones(LANES, np.float32) for _ in range(3))
    out: Any = tuple(made) if len(made) > 1 else made[0]
    functions: list[Callable[[], object]] = [lambda: kernel(*given, out=out, threads=1), lambda: np.add(x, y, out=z)]
    other = astype(v)
    functions += [other[1]] if other else []
    taken = in_turn(*functions, rounds=7, seconds=0.01, clock=time.thread_time)
    ratios = [median(k / o for k, o in zip(taken[0], times, strict=True)) for times in taken[1:]]
    found = {
        "spelling": v.spelling,
        "ns": median(taken[0]) / LANES * 1e9,
        "add": ratios[0],
        "own": None,
        "ml_dtypes": None,
    }
    return found | ({other[0]: ratios[1]} if other else {})


def main(asked: list[str]) -> None:
    known = {f"{v.spelling}/{v.operands}": v for v in ptxemu.variants()}
    with np.errstate(all="ignore"):
        json.dump([measured(known[name]) for name in asked], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
