"""Kernels: what operands they take, in which representation, and what comes of them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from . import (
    arithmetic,  # noqa: F401  # what kernels call: loaded with the package, so that a first call need not
    comparison,  # noqa: F401
    environment,
    formats,
)
from .binary import Array, Format
from .index import TYPES
from .lookup import Row, UnknownTargetError, UnknownVariantError, counted, find
from .running import in_blocks, on_threads

if TYPE_CHECKING:
    from .accelerator import Native

SWITCH = "PTXEMU_ACCELERATOR"


class OperandError(TypeError):
    """Operands of a number, kind or shape that the variant does not take."""


def compile(spelling: str, operands: int | None = None, target: str | None = None) -> Kernel:
    """The kernel of a variant. Modifiers may stand in any order.

    `operands` is the number of source operands; without it the fewest with which the spelling exists. `target`
    ("sm_90") picks the behaviour of that target where it is known to differ; without it, the behaviour documented for
    current ones. Raises UnknownVariantError, and UnknownTargetError where the target does not have the variant, with
    the nearest variants."""
    if not isinstance(spelling, str):
        raise UnknownVariantError(f"a spelling is text such as 'add.f32', not {spelling!r}")
    if not (operands is None or isinstance(operands, (int, np.integer))):
        raise UnknownVariantError(f"{spelling}: the number of operands is one such as 2, not {operands!r}")
    if not (target is None or isinstance(target, str)):
        raise UnknownTargetError(f"a target is text such as 'sm_90', not {target!r}")
    return _compile(spelling, operands, target)


@lru_cache(maxsize=4096)
def _compile(spelling: str, operands: int | None, target: str | None) -> Kernel:
    return Kernel(find(spelling, operands, target), target)


def execute(spelling: str, *arrays: Any, out: Any = None, target: str | None = None, threads: int | None = 1) -> Any:
    """Run a variant on its operands, whose number picks the variant; as `compile(...)(...)`."""
    return compile(spelling, len(arrays), target)(*arrays, out=out, threads=threads)


class Kernel:
    """A variant that can be called on arrays.

    Operands are NumPy arrays or scalars that broadcast as ufuncs' do: bit patterns (uint16, uint32, uint64) or the
    native type (float16, float32, float64, ml_dtypes.bfloat16); types with two lanes take bit patterns. All operands
    are of the same representation and the result comes in it, a predicate's as bool. NumPy's error state stays as it
    was."""

    def __init__(self, row: Row, target: str | None) -> None:
        self.variant = row.variant
        self.target = target
        self._row = row
        format_name, self._lanes = TYPES[row.type]
        self._format: Format = getattr(formats, format_name)
        self._bits = np.dtype(f"u{self._format.width * self._lanes // 8}")

    @property
    def operands(self) -> int:
        return self.variant.operands

    @property
    def claim(self) -> str:
        return self.variant.claim

    def __repr__(self) -> str:
        return f"<ptxemu kernel {self._row}{' on ' + self.target if self.target else ''}>"

    @cached_property
    def _function(self) -> Callable[..., Array]:
        module = importlib.import_module(f".instructions.{self._row.opcode}", __package__)
        choice: dict[str | None, Callable[..., Array]] = module.KERNELS[self.variant.spelling, self.operands]
        return choice.get(self.target, choice[None])

    def __getstate__(self) -> dict[str, Any]:
        # C that is loaded here is not loaded elsewhere.
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    @cached_property
    def _native(self) -> Native | None:
        """The function in C, where the accelerator has it."""
        if not is_accelerated():
            return None
        from .accelerator import native

        row = self._row
        return native(row.variant.spelling, row.opcode, self._function, self._format, self.operands, row.predicate)

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = 1) -> Any:
        """Compute the result, into `out` where given, on a number of threads (None: as many as there are processors).

        `out` is as NumPy's ufuncs take it: an array of the result's type in any byte order, or a tuple of one; operands
        broadcast to its shape, where that is larger than theirs; it may be an operand, or overlap one.
        Threads pay on some hundred thousand elements and more, most with the accelerator; without it they wait for the
        interpreter at times. Beside operands and result at most 32 MB are taken for each thread.
        Raises OperandError (a TypeError), ValueError for shapes and for a number of threads below 1, TypeError for one
        that is not an integer."""
        if len(arrays) != self.operands:
            raise OperandError(f"{self._row} takes {counted(self.operands)}, {len(arrays)} came")
        operands = [self._as_bits(x, f"operand {'abc'[i]}") for i, x in enumerate(arrays)]
        representation = arrays[0].dtype.newbyteorder("=")
        for i, x in enumerate(arrays[1:], 1):
            if x.dtype.newbyteorder("=") != representation:
                message = f"{self._row}: operand a is {representation}, operand {'abc'[i]} is {x.dtype}"
                raise OperandError(message + "; all must be of one representation")
        try:
            shape = np.broadcast_shapes(*(x.shape for x in operands))
        except ValueError:
            shapes = ", ".join(str(x.shape) for x in operands)
            raise ValueError(f"{self._row}: operands of shapes {shapes} do not broadcast") from None
        given = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        made = np.dtype(bool) if self._row.predicate else representation
        result = np.empty(shape, made) if given is None else self._checked_out(given, shape, made)
        bits = result if self._row.predicate else result.view(self._bits_as(result))
        on_threads(self._run, [*operands, bits], self._lanes, threads, self._row)
        return result[()] if given is None and not shape else result

    def _as_bits(self, x: Any, what: str) -> Array:
        if not isinstance(x, (np.ndarray, np.generic)):
            raise OperandError(
                f"{self._row}: {what} is a {type(x).__name__}; expected a NumPy array or scalar of {self._accepted()}"
            )
        array = np.asarray(x)
        bits = self._bits_as(array)
        if array.dtype == bits:
            return array
        if self._lanes == 1 and _is_native(array.dtype, self._format):
            return array.view(bits)
        raise OperandError(f"{self._row}: {what} is {array.dtype}; expected {self._accepted()}")

    def _bits_as(self, array: Array) -> np.dtype[Any]:
        """The type of bits in an array's byte order."""
        return self._bits if array.dtype.isnative else self._bits.newbyteorder("S")

    def _accepted(self) -> str:
        native = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32", (11, 52): "float64"}
        name = native.get((self._format.exponent_bits, self._format.fraction_bits))
        if self._lanes > 1:
            return f"{self._bits} (the bits of {self._lanes} lanes)"
        return f"{name} or {self._bits} (bits)" if name else f"{self._bits} (bits)"

    def _checked_out(self, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if not isinstance(out, np.ndarray) or (out.dtype != dtype and out.dtype.newbyteorder("=") != dtype):
            came = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
            raise OperandError(f"{self._row}: out is {came}; the result is {dtype}")
        if out.shape != shape and not _broadcasts(shape, out.shape):
            raise ValueError(f"{self._row}: out has shape {out.shape}; the result has {shape}")
        if not out.flags.writeable:
            raise ValueError(f"{self._row}: out is read-only")
        return out

    def _run(self, arrays: list[Array], block: int) -> None:
        """Fill the last array, by C all at once, by NumPy in blocks of so many lanes."""
        function, lanes = self._function, self._format.unsigned
        with np.errstate(all="ignore"), environment.ordinary():
            # One element is not worth a compiler.
            native = self._native if arrays[-1].size > 1 else None
            if native is not None and native.takes(arrays):
                native(arrays, self._lanes)
                return
            contiguous = self._lanes > 1 or native is not None
            with in_blocks(arrays, block // self._lanes, contiguous) as blocks:
                for views in blocks if blocks.itersize else ():
                    if native is not None:
                        native(views, self._lanes)
                        continue
                    *operands, result = views
                    if self._lanes > 1:
                        operands, result = [x.view(lanes) for x in operands], result.view(lanes)
                    result[...] = function(*operands)


def is_accelerated() -> bool:
    """Is there to be C? Raises ValueError for a bad value of the environment variable that says so."""
    value = os.environ.get(SWITCH, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"the environment variable {SWITCH} is {value!r}; 1 is on, 0 is off")
    return value == "1" if value else find_spec("ziglang") is not None


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    axes = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(length in (1, wanted) for length, wanted in axes)


def _is_native(dtype: np.dtype[Any], f: Format) -> bool:
    if f.exponent_bits == 8 and f.fraction_bits == 7:
        return dtype.name == "bfloat16" and dtype.itemsize == 2
    fields: Iterable[tuple[type, int, int]] = ((np.float16, 5, 10), (np.float32, 8, 23), (np.float64, 11, 52))
    return any(dtype.type is t and (f.exponent_bits, f.fraction_bits) == (e, n) for t, e, n in fields)
