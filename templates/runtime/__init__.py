"""PTX floating-point instructions on NumPy arrays, bit for bit.

    >>> import numpy as np, ptxemu
    >>> ptxemu.execute("add.rz.f32", np.float32(1), np.float32(2**-24))
    np.float32(1.0)

The package needs NumPy and nothing else; its folder can be copied into another project as it is.
"""

from .kernel import Kernel, OperandError, compile, execute
from .lookup import UnknownTargetError, UnknownVariantError, Variant, variants

__all__ = [
    "Kernel",
    "OperandError",
    "UnknownTargetError",
    "UnknownVariantError",
    "Variant",
    "compile",
    "execute",
    "variants",
]
