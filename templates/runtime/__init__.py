"""PTX floating-point instructions on NumPy arrays, bit for bit.

    >>> import numpy as np, ptxemu
    >>> ptxemu.execute("add.rz.f32", np.float32(1), np.float32(2**-24))
    np.float32(1.0)
    >>> f = ptxemu.function("mul.f32 t, a, a;  fma.rn.f32 d, b, b, t;")
    >>> f(np.float32(3), np.float32(4))
    np.float32(25.0)

    >>> ptxemu.execute("add.f16", 1.5, 1)
    np.float16(2.5)

Every result is what NVIDIA's PTX ISA manual and IEEE 754 specify; a kernel's `claim` says how faithful it is to
hardware. The code of each instruction is generated from its description in the project ptxspec,
spec/instructions/OPCODE.yaml, which names the section of NVIDIA's manual. A comment behind a line of code names the
line of the description that it comes from.

NumPy is the only dependency, and the folder can be copied into another project as it is. Where the extension
`ptxemu_native` that was generated with it is installed, kernels run in C.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .kernels import Kernel, compile, execute
from .lanes import pack, unpack
from .native import COMMAND
from .operands import OperandError
from .rows import UnknownTargetError, UnknownVariantError, Variant, variants

if TYPE_CHECKING:
    from .functions import Function, function
    from .memory import AddressError
    from .steps import StatementError
    from .tensor import NoRuleError, mma
    from .threads import ThreadKernel, kernel
    from .traced_sums import mma_steps
    from .warp import Fragment, Fragments, fragments, ldmatrix

__all__ = [
    "AddressError",
    "Fragment",
    "Fragments",
    "Function",
    "Kernel",
    "NoRuleError",
    "OperandError",
    "StatementError",
    "ThreadKernel",
    "UnknownTargetError",
    "UnknownVariantError",
    "Variant",
    "compile",
    "execute",
    "fragments",
    "function",
    "kernel",
    "ldmatrix",
    "mma",
    "mma_steps",
    "pack",
    "unpack",
    "variants",
]


# Imported on first use: the modules that read PTX take as long to import as the rest.
_HOMES = {
    "AddressError": "memory",
    "Fragment": "warp",
    "Fragments": "warp",
    "Function": "functions",
    "NoRuleError": "tensor",
    "StatementError": "steps",
    "ThreadKernel": "threads",
    "fragments": "warp",
    "function": "functions",
    "kernel": "threads",
    "ldmatrix": "warp",
    "mma": "tensor",
    "mma_steps": "traced_sums",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name == "warm":
        raise AttributeError(f"nothing is compiled at call time any more: `{COMMAND}` builds the kernels in C")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
