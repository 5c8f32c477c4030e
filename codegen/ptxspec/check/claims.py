"""What the claim of a variant rests on, in words."""

from __future__ import annotations

from ..model import Instruction, Recording, Spec, Variant

CLAIMS = {
    "exact": "IEEE 754 and the manual fix every bit, but for NaNs and what is named as open",
    "measured": "every recorded bit of that target is the emulator's",
    "bounded": "the manual bounds the error; the emulator rounds correctly",
    "unspecified": "nobody promises anything",
}


def basis(instruction: Instruction, v: Variant) -> str:
    """What a claim rests on where no recording is."""
    if v.claim == "bounded":
        bounds = [a for a in instruction.accuracy if a.selector.matches(v)]
        return "the manual's bound: " + "; ".join(
            f"{a.bound} {a.kind}{f' for operands {a.range}' if a.range else ''} ({a.section})" for a in bounds
        )
    if v.claim == "unspecified":
        return "nothing: the manual " + ("gives no bound" if v.listed else "does not list the spelling")
    open = " and ".join(n.open for n in instruction.notes if n.open and n.selector.matches(v))
    judged = "IEEE 754 and the manual; tests judge it by MPFR and the manual's rules"
    return f"{judged}; open, and here our reading: {open}" if open else judged


def recorded(spec: Spec, v: Variant) -> list[tuple[Recording, str]]:
    """The recordings that have a variant, each with how the emulator stands to it."""
    return [(r, found) for r in spec.recordings if (found := r.finding(v))]
