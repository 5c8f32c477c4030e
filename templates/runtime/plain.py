"""Kernels in NumPy: few elements at once, many in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .binary import Array
from .operands import truths
from .signature import Signature

# Lanes that are computed together: enough to make the overhead of NumPy and Python per step small, few enough that a
# step finds its operands in the cache.
BLOCK: Final = 1 << 16
# Elements of any variant that fit into one block.
AT_ONCE: Final = BLOCK // 4

# Variables, because Python's compiler would fold constants.
_half, _half_place, _least_normal, _least, _far = 0.5, 0.75 * 2.0**-52, 2.0**-1022, 5e-324, 2.0**60


def check_processor() -> None:
    """Raise RuntimeError where the processor does not compute as IEEE 754 specifies, where NumPy would compute other
    bits: another library may have set it to flush subnormal numbers, or to round otherwise than to nearest."""
    exact = 1.0 + 2.0**-52
    nearest = 1.0 + _half_place == exact and -1.0 - _half_place == -exact
    if not nearest or _least_normal * _half == 0.0 or _least * _far == 0.0:
        what = "flushes subnormal numbers" if nearest else "does not round to nearest"
        raise RuntimeError(
            f"the processor {what} here, as another library has set it (one compiled with -ffast-math?): NumPy would "
            "compute wrong bits. Restore it, or install ptxemu_native, which sets it by itself"
        )


def fill(function: Callable[..., Any], s: Signature, arrays: list[Array], results: int) -> None:
    """Fill the last `results` arrays, of bits, with the results of a function of lanes. The other arrays broadcast to
    their shape."""
    check_processor()
    shape = arrays[-1].shape
    at_once = BLOCK // s.lanes
    with np.errstate(all="ignore"):
        if arrays[-1].size <= at_once:
            given = zip(arrays[:-results], s.registers, strict=True)
            whole = ((x if x.shape == shape else np.broadcast_to(x, shape), t) for x, (_, t) in given)
            made = compute(function, s, [np.ascontiguousarray(x, t.bits).reshape(-1) for x, t in whole], results)
            for x, found in zip(arrays[-results:], made, strict=True):
                x[...] = found if np.shape(found) == () else found.reshape(shape)
            return
        with in_blocks(arrays, at_once, results) as blocks:
            for views in blocks if blocks.itersize else ():
                for x, found in zip(views[-results:], compute(function, s, views[:-results], results), strict=True):
                    x[...] = found


def compute(function: Callable[..., Any], s: Signature, operands: Sequence[Array], results: int) -> Sequence[Array]:
    """Return so many registers, the results of a function of lanes. All registers are contiguous and of one dimension;
    a result that depends on constants alone may be a scalar."""
    if s.has_truths:
        operands = [truths(x) if t.sort == "bool" else x for x, (_, t) in zip(operands, s.registers, strict=True)]
    if not s.flat:
        return s.apply(function, *operands)[:results]
    if s.lanes > 1:
        operands = [x.view(t.lane) for x, (_, t) in zip(operands, s.registers, strict=True)]
    made = function(*operands)
    found = made[:results] if type(made) is tuple else (made,)
    if s.lanes == 1:
        return found
    lanes = (operands[0].size,)
    whole = (x if np.shape(x) == lanes else np.broadcast_to(x, lanes) for x in found)
    return [np.ascontiguousarray(x).view(t.bits) for x, (_, t) in zip(whole, s.places[results - 1], strict=True)]


# Faster than a `with` statement.
compute_quietly = np.errstate(all="ignore")(compute)


def in_blocks(arrays: list[Array], size: int, results: int) -> np.nditer:
    """Return an iterator over the arrays in blocks: views of one dimension and at most `size` elements, contiguous, in
    the processor's byte order. Arrays broadcast to the last ones, which are to be filled."""
    reads = ["readonly", "overlap_assume_elementwise", "nbo", "contig", "aligned"]
    writes = ["writeonly", *reads[1:]]
    op_flags: Any = [*[reads] * (len(arrays) - results), *[writes] * results]
    flags: Any = ["external_loop", "buffered", "zerosize_ok", "copy_if_overlap"]
    return np.nditer(arrays, flags=flags, op_flags=op_flags, buffersize=size)
