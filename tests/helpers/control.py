"""The processor's control bits, as another library may leave them."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# What <fenv.h> calls the directions on x86-64, and where Linux keeps the word with the bits that flush.
DIRECTIONS = {"to nearest": 0, "toward negative": 0x400, "toward positive": 0x800, "toward zero": 0xC00}
_WORD, _FLUSHING = 7, 0x8040

needs_x86 = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="control bits are those of x86-64 on Linux"
)


@contextmanager
def left(direction: str = "to nearest", flushing: bool = False) -> Iterator[None]:
    """Leave the processor rounding in a direction, and flushing subnormal numbers or not."""
    library = ctypes.PyDLL(None)
    before = (ctypes.c_uint32 * 64)()
    library.fegetenv(before)
    try:
        library.fesetround(DIRECTIONS[direction])
        inside = (ctypes.c_uint32 * 64)()
        library.fegetenv(inside)
        inside[_WORD] |= _FLUSHING * flushing
        library.fesetenv(inside)
        yield
    finally:
        library.fesetenv(before)
