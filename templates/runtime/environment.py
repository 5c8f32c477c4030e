"""The processor's floating-point environment: rounding direction and flushing, for what runs inside a `with`.

NumPy's loops obey the environment of their thread. The C library sets it, through ctypes; no layout is assumed: an
environment is what fegetenv stores after fesetround. Only flushing has no call of its own: where the stored bytes show
the control word of x86-64's SSE unit in its usual place, its two bits are set there.

Whether steering works is found out once, when it is first asked, by results: an environment that does not compute what
IEEE 754 fixes is not used. `STEERS` and `FLUSHES` say what came of it; arithmetic.py has other ways where they are
false. `FUSES` says the same of the one way in which NumPy reaches the processor's fused multiply-add, and `casts` of
integers of 64 bits made floats. `STUMBLES`, on which no result depends, is about speed: some processors take a hundred
times as long for products of subnormal numbers.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .binary import (
    BINARY32,
    BINARY64,
    Array,
    Direction,
    Format,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)

if TYPE_CHECKING:
    from .cases import Case

# What <fenv.h> calls the four directions, by processor.
_X86 = {roundTiesToEven: 0, roundTowardNegative: 0x400, roundTowardPositive: 0x800, roundTowardZero: 0xC00}
_ARM = {roundTiesToEven: 0, roundTowardPositive: 0x400000, roundTowardNegative: 0x800000, roundTowardZero: 0xC00000}
_CONSTANTS: Final = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM, "ARM64": _ARM}
# Longer than any fenv_t.
_LENGTH = 512
# Where a fenv_t of x86-64 on Linux keeps MXCSR, and the bits there that flush tiny results (FTZ) and operands (DAZ).
_MXCSR_WORD, _MXCSR_DEFAULT = 7, 0x1F80
_FLUSH_RESULTS, _FLUSH_OPERANDS = 0x8000, 0x40
Stored = ctypes.c_uint32 * (_LENGTH // 4)
# The environments by direction, whether tiny results are flushed, and whether subnormal operands are.
_Key = tuple[Direction, bool, bool]
_ORDINARY: Final = (roundTiesToEven, False, False)


class Nothing:
    """An environment where none can be set, or has to be."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...


_NOTHING: Final = Nothing()


class Environment:
    """`with environment:` sets it, and the ordinary one afterwards: reusable, but not to be nested."""

    def __init__(self, inside: Any, ordinary: Any, set_environment: Any) -> None:
        self.inside, self._ordinary, self._set = inside, ordinary, set_environment

    def __enter__(self) -> None:
        self._set(self.inside)

    def __exit__(self, *exception: object) -> None:
        self._set(self._ordinary)


def _processor() -> str:
    # As platform.machine(), which takes longer to import than all of this.
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def _found() -> tuple[dict[_Key, Environment], Any, Any]:
    """Return all environments, and the C library's fegetenv and fesetenv."""
    constants = _CONSTANTS.get(_processor())
    try:
        # PyDLL keeps the interpreter's lock: the calls take less time than giving it away.
        library = ctypes.PyDLL(None if sys.platform != "win32" else "ucrtbase")
        get, put, set_direction = library.fegetenv, library.fesetenv, library.fesetround
    except (OSError, AttributeError, TypeError):
        return {}, None, None
    if constants is None:
        return {}, None, None

    def stored() -> Any:
        buffer = Stored()
        get(buffer)
        return buffer

    before = stored()
    found = {}
    try:
        set_direction(constants[roundTiesToEven])
        plain = stored()
        flushing = sys.platform == "linux" and constants is _X86
        if flushing:
            # Another library may have left the unit flushing.
            plain[_MXCSR_WORD] &= ~(_FLUSH_RESULTS | _FLUSH_OPERANDS)
            flushing = plain[_MXCSR_WORD] & ~0x3F == _MXCSR_DEFAULT
        put(plain)
        for direction, constant in constants.items():
            if set_direction(constant) == 0:
                for ftz, daz in product((False, True), repeat=2) if flushing else [(False, False)]:
                    inside = stored()
                    inside[_MXCSR_WORD] |= _FLUSH_RESULTS * ftz | _FLUSH_OPERANDS * daz
                    found[direction, ftz, daz] = Environment(inside, plain, put)
    finally:
        put(before)
    return (found, get, put) if _ORDINARY in found else ({}, None, None)


_ENVIRONMENTS, fetch, put = _found()
# The ordinary environment, and how two directions are set, in the C library's form.
PLAIN: Final = _ENVIRONMENTS[_ORDINARY].inside if _ENVIRONMENTS else None


def _modes() -> tuple[Any, int, int] | None:
    """Return fegetmode, which reads the control bits alone and is much quicker than fegetenv; a mask of these bits in
    its 64; and their values in the ordinary environment. None where there is no such function."""
    is_x86_on_linux = (roundTiesToEven, True, True) in _ENVIRONMENTS
    fetch_modes = getattr(ctypes.PyDLL(None), "fegetmode", None) if is_x86_on_linux else None
    if fetch_modes is None:
        return None
    # Those of the old unit, and MXCSR's but for its flags.
    mask, before, modes = 0xFFFFFFC0_0000FFFF, Stored(), Modes()
    fetch(before)
    try:
        put(PLAIN)
        fetch_modes(modes)
    finally:
        put(before)
    return fetch_modes, mask, modes[0] & mask


Modes = ctypes.c_uint64 * 1
MODES: Final = _modes()


def environment(direction: Direction, ftz: bool = False, daz: bool = False) -> Environment | Nothing:
    """Return the environment that rounds in a direction; `ftz` makes tiny results zeros, `daz` subnormal operands.

    Only what `can` affirms is there, but to nearest without flushing, where NumPy computes by itself."""
    return _ENVIRONMENTS.get((direction, ftz, daz), _NOTHING)


@contextmanager
def ordinary() -> Iterator[None]:
    """Set the ordinary environment, to nearest without flushing, and restore the caller's afterwards."""
    if not _ENVIRONMENTS:
        yield
        return
    before = Stored()
    fetch(before)
    try:
        with _ENVIRONMENTS[_ORDINARY]:
            yield
    finally:
        put(before)


def enclosed(operation: Callable[..., Array], *operands: Array) -> tuple[Array, Array]:
    """Return the results of an operation rounded toward negative and toward positive, where directions can be
    steered."""
    down, up = _ENVIRONMENTS[roundTowardNegative, False, False], _ENVIRONMENTS[roundTowardPositive, False, False]
    try:
        put(down.inside)
        low = operation(*operands)
        put(up.inside)
        return low, operation(*operands)
    finally:
        put(PLAIN)


def product_sum(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z of float64 arrays of one shape, fresh, rounded once in the direction set, if `FUSES`.

    NumPy's vector loops compute the real part of a product of complex numbers, (x - i) (y + iz), as the exact x y less
    the rounded -z. A single product is left to other loops; it gets company."""
    size = max(x.size, 2)
    first, second = np.empty(size, np.complex128), np.empty(size, np.complex128)
    first.real[: x.size], first.imag = x.ravel(), -1
    second.real[: x.size], second.imag[: x.size] = y.ravel(), z.ravel()
    first *= second
    return first.real[: x.size].reshape(x.shape).copy()


# The self-test, by cases.py, which is loaded with the first question

_ORDER: Final = (roundTiesToEven, roundTowardNegative, roundTowardPositive, roundTowardZero)


def _in_pieces(x: Array, y: Array, z: Array) -> Array:
    """Return `product_sum` in pieces that fill no vector, and of one that leaves something over."""
    edges = (0, 1, 3, 6, 11, 18, x.size)
    return np.concatenate([product_sum(x[i:j], y[i:j], z[i:j]) for i, j in pairwise(edges)])


def _fused(f: Format) -> Iterator[Case]:
    """Yield cases of `product_sum`, rounded once, at every place of an array."""
    if f is BINARY32:
        return
    u, largest, smallest = 2.0**-f.fraction_bits, float(np.finfo(f.native).max), 2.0 ** (f.emin - f.fraction_bits)
    small = 2.0 ** (f.emin * 2 // 3)
    yield _in_pieces, (1 + u, 1 - u, -1), (-(u**2),) * 4
    yield _in_pieces, (1 + u, 1 + u, -1 - 2 * u), (u**2,) * 4
    yield product_sum, (largest, 2, -largest), (largest,) * 4
    yield product_sum, (small, small, 1), (1, 1, 1 + u, 1)
    yield product_sum, (small, -small, smallest), (smallest, 0.0, smallest, 0.0)
    yield product_sum, (1 + u, smallest, 0), (smallest, smallest, 2 * smallest, smallest)
    yield product_sum, (1, 1, -1), (0.0, -0.0, 0.0, 0.0)
    yield product_sum, (-0.0, 1, -0.0), (-0.0,) * 4


def _computes(cases: Callable[[Format], Iterator[Case]], ftz: bool, daz: bool) -> bool:
    # Long enough that the vector loops and what they leave over both run.
    length = 67
    for f in (BINARY32, BINARY64):
        for operation, operands, results in cases(f):
            arrays = [np.full(length, operand, f.native) for operand in operands]
            for direction, result in zip(_ORDER, results, strict=True):
                with environment(direction, ftz, daz):
                    computed = operation(*arrays)
                if computed.tobytes() != np.full(length, result, computed.dtype).tobytes():
                    return False
    return True


def _stumbles() -> bool:
    """Return whether subnormal operands take far longer than others."""
    ones = np.ones(4096, np.float32)

    def seconds(x: float) -> float:
        operand, taken = np.full_like(ones, x), []
        for _ in range(3):
            start = time.perf_counter()
            np.multiply(operand, ones, out=operand)
            taken.append(time.perf_counter() - start)
        return min(taken)

    return seconds(2.0**-140) > 8 * seconds(1)


def _everywhere() -> set[tuple[bool, ...]]:
    """Return the ways of flushing results and operands for which all directions have environments."""
    return {key[1:] for key in _ENVIRONMENTS if all((d, *key[1:]) in _ENVIRONMENTS for d in _ORDER)}


def _steers() -> bool:
    from .cases import always, gradual

    return (False, False) in _everywhere() and all(_computes(cases, False, False) for cases in (always, gradual))


def _flushes() -> bool:
    if not (_this.STEERS and {(True, False), (True, True)} <= _everywhere()):
        return False
    from .cases import always, flushed_operands, flushed_results, kept_operands

    of_operands = ((False, kept_operands), (True, flushed_operands))
    return all(_computes(cases, True, daz) for daz, own in of_operands for cases in (always, flushed_results, own))


def _fuses() -> bool:
    return _this.STEERS and _computes(_fused, False, False)


# Most kernels ask none of these, and the answers take as long as importing several modules.
STEERS: bool
FLUSHES: bool
FUSES: bool
STUMBLES: bool
_QUESTIONS: Final = {"STEERS": _steers, "FLUSHES": _flushes, "FUSES": _fuses, "STUMBLES": _stumbles}
_this: Final = sys.modules[__name__]


def __getattr__(name: str) -> bool:
    if name not in _QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with np.errstate(all="ignore"), ordinary():
        answer = _QUESTIONS[name]()
    # Another thread may have come first.
    return bool(globals().setdefault(name, answer))


@cache
def casts() -> bool:
    """Return whether integers of 64 bits become floats in any direction that `environment` sets, if it STEERS."""
    from .cases import of_long_integers

    with np.errstate(all="ignore"), ordinary():
        return _computes(of_long_integers, False, False)


@cache
def marks() -> bool:
    """Return whether NumPy makes the least integer of every number that is out of range of 64 bits, and of NaN."""
    numbers = [2.0**63, 2.0**64, 2.0**100, -(2.0**64), -(2.0**100), float("inf"), float("-inf"), float("nan")]
    with np.errstate(all="ignore"):
        # Long enough that the vector loops and what they leave over both run.
        found = [np.resize(np.array(numbers, f), n).astype(np.int64) for f in (np.float32, np.float64) for n in (1, 67)]
    return all((x == np.iinfo(np.int64).min).all() for x in found)


def can(direction: Direction, ftz: bool = False, daz: bool = False) -> bool:
    """Return whether NumPy computes in this direction, with this flushing, where `environment` sets it."""
    if ftz or daz:
        return direction in _ORDER and _this.FLUSHES
    return direction == roundTiesToEven or (direction in _ORDER and _this.STEERS)
