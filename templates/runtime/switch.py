"""The environment variable PTXEMU_ACCELERATOR: whether kernels run in C, and since when.

1 is on: a kernel is compiled when it is first called on more than one element. 0 is off. Unset, it is on where the
wheel `ziglang`, which is a C compiler, is installed; elsewhere a kernel that NumPy has spent some time on is compiled
in the background, if there is a compiler."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Final

SWITCH: Final = "PTXEMU_ACCELERATOR"


def is_accelerated() -> bool:
    """Return whether kernels are compiled when they are first called. Raises ValueError for a bad value of the
    variable."""
    value = _value()
    return value == "1" if value else _has_wheel()


def is_forbidden() -> bool:
    return _value() == "0"


def is_left_to_time() -> bool:
    """Return whether kernels are compiled once they have taken some time."""
    return not (_value() or _has_wheel())


@cache
def is_shipped() -> bool:
    """Return whether there are kernels that were compiled elsewhere."""
    return find_spec("ptxemu_native") is not None


def _value() -> str:
    value = os.environ.get(SWITCH, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"the environment variable {SWITCH} is {value!r}; 1 is on, 0 is off")
    return value


@cache
def _has_wheel() -> bool:
    return find_spec("ziglang") is not None
