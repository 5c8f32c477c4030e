"""What the emitters of functions share: which an opcode needs, one per different program, and where lines come from."""

from __future__ import annotations

from dataclasses import dataclass

from ..check.checking import Checked
from ..model import Variant
from ..semantics.functions import TABLE
from ..semantics.program import Let, Program

# The functions that IEEE 754 only recommends, and that no processor has: much code, or approximations.
ELEMENTARY = frozenset(name for name, f in TABLE.items() if f.clause == "9.2")


@dataclass(frozen=True)
class Line:
    """A line of a function, and the line of the specification that it comes from."""

    text: str
    source: str


def source_of(let: Let) -> str:
    return f"{let.path.rpartition('/')[2]}:{let.mark.line}"


@dataclass(frozen=True)
class Shared:
    """A program under the name of its function. `serves`: a line per spelling, with the targets behind it."""

    name: str
    program: Program
    serves: list[str]


def shared(checked: Checked) -> dict[int, Shared]:
    """By the id of the program: variants that compute the same share the object."""
    found: dict[int, Shared] = {}
    # A function is named after the first variant that it serves: those without a target come first.
    for first in (True, False):
        for variant, programs in checked.programs.items():
            for target, program in programs.items():
                if first == (target is None):
                    function = found.setdefault(id(program), Shared(_name(variant, target), program, []))
                    function.serves.append(f"{variant.spelling}{' on ' + target if target else ''}")
    return {key: Shared(f.name, f.program, _merged(f.serves)) for key, f in found.items()}


def _name(variant: Variant, target: str | None) -> str:
    return variant.identifier + (f"_{target}" if target else "")


def _merged(serves: list[str]) -> list[str]:
    """One line per spelling, with the targets behind it."""
    targets: dict[str, list[str]] = {}
    for s in serves:
        spelling, _, target = s.partition(" on ")
        targets.setdefault(spelling, []).extend([target] if target else [])
    return [s + (f" on {', '.join(t)}" if t else "") for s, t in targets.items()]
