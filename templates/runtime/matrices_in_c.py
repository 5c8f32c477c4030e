"""The functions of the extension `ptxemu_native` on matrices, if it is installed.

Its module of matrices has the digest of the C that it was built from, as those of opcodes do. A module built from other
C is not used; NumPy computes instead."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from .native import PACKAGE, _say
from .tensor_cores import NATIVE

_NAME = f"{PACKAGE}.matrices"
# The core dimensions of operands and results, and their types.
_SIGNATURES = {
    "sums": ("(m,k),(m,k),(k,n),(k,n),(m,n),(o,f)->(m,n)", "f8 i4 f8 i4 u4 i8 u4"),
    "chain": ("(m,k),(k,n),(m,n)->(m,n)", "f8 f8 f8 f8"),
}


@cache
def ufunc(name: str) -> np.ufunc | None:
    """Return the generalized ufunc of that name; None where there is none."""
    module = _module()
    if module is None:
        return None
    signature, names = _SIGNATURES[name]
    types = [np.dtype(t) for t in names.split()]
    found: np.ufunc = module.ufunc(name, len(types) - 1, 1, bytes(t.num for t in types), signature)
    return found


@cache
def _module() -> Any:
    """Return the module; None where there is none, or one built from other C."""
    try:
        found = importlib.import_module(_NAME)
    except ImportError as e:
        if e.name not in (PACKAGE, _NAME):
            _say(f"cannot be loaded ({e})")
        return None
    if found.digest != NATIVE:
        _say("was built from another specification")
        return None
    return found
