"""What the claim of a variant rests on, in words."""

from __future__ import annotations

from ..model import Instruction, Recording, Spec, Variant

CLAIMS = {
    "exact": "IEEE 754 and the manual fix every bit, but for NaNs and what is named as open",
    "unjudged": "IEEE 754 and the manual fix every bit, and nobody outside has judged it",
    "measured": "every recorded bit of that target is the emulator's",
    "bounded": "the manual bounds the error; the emulator rounds correctly",
    "unspecified": "nobody promises anything",
}

# Who judges, outside of this project, by the names that instruction files give them.
JUDGES = {
    "MPFR": "MPFR",
    "definition": "its definition, written anew",
    "ptxas folding": "what ptxas makes of constants",
    "NVIDIA host code": "NVIDIA's headers on the host",
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
    judges = list(dict.fromkeys(j.by for j in instruction.judged if j.selector.matches(v)))
    judged = f"tests judge it by {' and '.join(JUDGES[j] for j in judges)}" if judges else "no test judges it"
    open = " and ".join(n.open for n in instruction.notes if n.open and n.selector.matches(v))
    told = f"IEEE 754 and the manual; {judged}"
    return f"{told}; open, and here our reading: {open}" if open else told


def recorded(spec: Spec, v: Variant) -> list[tuple[Recording, str]]:
    """The recordings that have a variant, each with how the emulator stands to it."""
    return [(r, found) for r in spec.recordings if (found := r.finding(v))]
