"""Kernels compiled before they are called, many in one go."""

from __future__ import annotations

from collections.abc import Iterator

from .accelerator import Wanted, natives
from .index import CATALOG, OPCODES
from .kernel import Kernel, compile
from .lookup import rows_of
from .surroundings import undisturbed
from .switch import is_forbidden


def warm(*what: str | Kernel, target: str | None = None) -> list[Kernel]:
    """Compile kernels to C now, rather than when they are called: those of a whole opcode, of a variant, or what
    `compile` and `function` have returned.

        >>> ptxemu.warm("fma", "add.rz.f32", ptxemu.function("add.f32 d, a, b;"))  # doctest: +SKIP

    Returns those that run in C from now on: none where there is no compiler, which is said in a line on stderr, or
    where PTXEMU_ACCELERATOR is 0. What was compiled is kept in the user's cache for the next process. `target` is as
    `compile` takes it; of an opcode the variants are compiled that it has. Raises UnknownVariantError and
    UnknownTargetError."""
    asked = [kernel for one in what for kernel in _kernels(one, target)]
    if is_forbidden():
        return []
    of_opcodes = [kernel for kernel in asked if kernel._wanted is not None]
    found = undisturbed(natives, ([Wanted(*kernel._wanted) for kernel in of_opcodes if kernel._wanted],))
    for kernel, native in zip(of_opcodes, found, strict=True):
        kernel._adopt(native)
    for kernel in asked:
        if kernel._wanted is None:
            kernel._adopt(kernel._compiled())
    return [kernel for kernel in asked if kernel.is_in_c]


def _kernels(what: str | Kernel, target: str | None) -> Iterator[Kernel]:
    if isinstance(what, Kernel):
        yield what
    elif what in OPCODES:
        for row in rows_of(what):
            if target not in CATALOG.targets or CATALOG.takes(row.requires, target):
                yield compile(row.variant.spelling, row.operands, target)
    else:
        yield compile(what, None, target)
