"""Programs rewritten: for NumPy, where each call is a pass over arrays, and for C, where it is a line.

No rewriting changes a bit of a result. Those that rely on encodings apply only to formats like IEEE 754's.
"""

from __future__ import annotations

from dataclasses import replace

from ..semantics.program import Program, live
from .canonicalising import without_first_canonicalising, without_second_canonicalising
from .clamping import clamping
from .comparing import comparing
from .converting import converting_late, without_quotients, without_widening
from .flushing import flushing_late, flushing_operands
from .propagating import passing, propagation, replacement, with_corrections

# Functions that only `for_arrays` calls.
OF_ARRAYS = ("convertBounded", "replace")


def for_arrays(program: Program) -> Program:
    """Return a program with the same results that makes fewer passes over its operands."""
    lets, results = without_second_canonicalising(program.lets, program.results)
    lets = converting_late(without_first_canonicalising(lets, results))
    lets = with_corrections(flushing_late(lets, results), results, propagation, replacement)
    lets, results = flushing_operands(lets, results)
    lets, results = comparing(clamping(lets), results)
    return replace(program, lets=live(lets, results), results=results)


def for_lanes(program: Program) -> Program:
    """Return a program with the same results in fewer lines, without the functions of `OF_ARRAYS`."""
    lets, results = without_second_canonicalising(program.lets, program.results)
    lets = without_quotients(without_widening(without_first_canonicalising(lets, results), short=True))
    lets = with_corrections(flushing_late(lets, results), results, propagation)
    lets, results = comparing(clamping(lets), results)
    return passing(replace(program, lets=live(lets, results), results=results))
