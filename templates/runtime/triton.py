"""Inline assembly in Triton's interpreter: with TRITON_INTERPRET=1, `tl.inline_asm_elementwise` runs here after a call
of `ptxemu.triton.install()`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .assembly import of_template
from .functions import Function, function
from .rows import target_named

_REGISTER = 4  # bytes of the registers that narrower elements are packed into


def install(target: str | None = None) -> None:
    """Make Triton's interpreter run inline assembly, with the behaviour of a target. Raises ImportError without Triton,
    and UnknownTargetError. PTX that cannot be run raises StatementError when a kernel reaches it."""
    named = target and target_named(target)
    interpreter = import_module("triton.runtime.interpreter")

    def create_inline_asm(
        _: Any, asm: str, constraints: str, values: Sequence[Any], types: Sequence[Any], is_pure: bool, pack: int
    ) -> _Results:
        scalars = [getattr(t, "element_ty", t) for t in types]
        dtypes = [interpreter._get_np_dtype(t) for t in scalars]
        arrays = run(asm, constraints, [v.data for v in values], dtypes, pack, named)
        return _Results([interpreter.TensorHandle(x, t) for x, t in zip(arrays, scalars, strict=True)])

    interpreter.InterpreterBuilder.create_inline_asm = create_inline_asm


class _Results:
    """Results with the method that the interpreter calls."""

    def __init__(self, results: Sequence[Any]) -> None:
        self._results = results

    def get_result(self, number: int) -> Any:
        return self._results[number]


def run(
    asm: str,
    constraints: str,
    arrays: Sequence[NDArray[Any]],
    dtypes: Sequence[np.dtype[Any]],
    pack: int = 1,
    target: str | None = None,
) -> list[NDArray[Any]]:
    """Return the results of inline assembly for arrays of one shape, `pack` elements at a time, as arrays of these
    dtypes. Elements of less than four bytes share a register, the first lowest. Raises StatementError, and ValueError
    for constraints of another number of registers."""
    made, given, taken = _compiled(asm, constraints, target)
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    size = int(np.prod(shape, dtype=int))
    registers = [r for x in arrays for r in _registers(np.broadcast_to(x, shape).ravel(), pack)]
    counts = [pack // _together(d, pack) for d in dtypes]
    for what, wanted, listed in (("inputs", len(registers), taken), ("outputs", sum(counts), given)):
        if wanted != len(listed):
            raise ValueError(f"{wanted} {what} come in registers of their own, and {constraints!r} has {len(listed)}")
    operands = [r.astype(f"u{width}") for r, width in zip(registers, taken, strict=True)]
    results = made(*operands) if operands else made()
    bits = iter(results if isinstance(results, tuple) else (results,))
    groups = -(-size // pack)
    found = []
    for count, dtype in zip(counts, dtypes, strict=True):
        words = [np.broadcast_to(_as_bits(next(bits)), groups) for _ in range(count)]
        word = f"u{dtype.itemsize * _together(dtype, pack)}"
        elements = np.stack([w.astype(word) for w in words], axis=-1).view(f"u{dtype.itemsize}").reshape(-1)[:size]
        found.append((elements != 0 if dtype == np.bool_ else elements.view(dtype)).reshape(shape))
    return found


@lru_cache(256)
def _compiled(asm: str, constraints: str, target: str | None) -> tuple[Function, list[int], list[int]]:
    """Return the function, and the bytes of the registers that it writes and reads."""
    made, arguments = function(asm, target, constraints=constraints), of_template("", constraints).arguments
    widths = [int(a.type[1:] or 32) // 8 for a in arguments]
    given = [w for w, a in zip(widths, arguments, strict=True) if a.writes]
    return made, given, [w for w, a in zip(widths, arguments, strict=True) if a.reads]


def _together(dtype: np.dtype[Any], pack: int) -> int:
    """Return the number of elements in a register."""
    return min(max(_REGISTER // dtype.itemsize, 1), pack)


def _registers(x: NDArray[Any], pack: int) -> list[NDArray[Any]]:
    """Return the registers that contain an array, `pack` elements in each lane; the last lane is padded with zeros."""
    together = _together(x.dtype, pack)
    padded = np.concatenate([x, np.zeros(-x.size % pack, x.dtype)])
    words = padded.view(f"u{x.dtype.itemsize * together}").reshape(-1, pack // together)
    return [np.ascontiguousarray(words[:, i]) for i in range(pack // together)]


def _as_bits(x: Any) -> NDArray[Any]:
    found = np.asarray(x)
    return found.view(f"u{found.dtype.itemsize}")
