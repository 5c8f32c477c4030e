"""When the kernels in C compute arithmetic operations in binary32 instead of binary64."""

from __future__ import annotations

from ..model import Kind
from ..rewrite.formats import is_native
from ..semantics.program import Apply, Program
from .lowering import ELEMENTARY, applications


def is_eased(program: Program) -> bool:
    """Return whether a program of binary32 is computed in binary64 only because of subnormal numbers. Programs with
    units or elementary functions are not: those take longer than that."""
    every = list(applications(program))
    single = all(_is_single(x.kind) for x in (program.results[0], *program.inputs))
    return single and any(map(is_direct, every)) and not any(a.model or a.function in ELEMENTARY for a in every)


def is_direct(t: Apply) -> bool:
    """Return whether operations.h has this operation twice, in binary64 and in binary32."""
    twice = t.function in ("multiplication", "division", "squareRoot", "fusedMultiplyAdd")
    # For the others, binary32 cannot tell which results are tiny.
    able = not t.ftz or t.function == "fusedMultiplyAdd"
    return twice and able and not (t.mixed or t.passes_nans) and _is_single(t.kind)


def _is_single(kind: Kind) -> bool:
    return is_native(kind) and kind.width == 32
