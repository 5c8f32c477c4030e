"""What the claim of a variant rests on, in words.

Queries import this module: of the model it needs the names only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import Instruction, Recording, Spec, Variant

CLAIMS = {
    "exact": "IEEE 754 and the manual fix every bit, but for NaNs and what is named as open",
    "unjudged": "IEEE 754 and the manual fix every bit, and nobody outside has judged it",
    "measured": "every recorded bit of that target is the emulator's",
    "reported": "equal on all operands to a published model that its author compared with GPUs of that target",
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
    return basis_text(
        claim=v.claim,
        listed=v.listed,
        bounds=[bound(a.bound, a.kind, a.range, a.section) for a in instruction.accuracy if a.selector.matches(v)],
        judges=judges(instruction, v),
        open=[n.open for n in instruction.notes if n.open and n.selector.matches(v)],
    )


def basis_text(claim: str, listed: bool, bounds: Iterable[str], judges: Sequence[str], open: Sequence[str]) -> str:
    if claim == "bounded":
        return "the manual's bound: " + "; ".join(bounds)
    if claim == "unspecified":
        return "nothing: the manual " + ("gives no bound" if listed else "does not list the spelling")
    judged = f"tests judge it by {' and '.join(JUDGES[j] for j in judges)}" if judges else "no test judges it"
    told = f"IEEE 754 and the manual; {judged}"
    return f"{told}; open, and here our reading: {' and '.join(dict.fromkeys(open))}" if open else told


def bound(bound: str, kind: str, range: str, section: str) -> str:
    return f"{bound} {kind}{f' for operands {range}' if range else ''} ({section})"


def judges(instruction: Instruction, v: Variant) -> list[str]:
    """Who judges a variant, by the names that instruction files give them."""
    return list(dict.fromkeys(j.by for j in instruction.judged if j.selector.matches(v)))


def recorded(spec: Spec, v: Variant) -> list[tuple[Recording, str]]:
    """The recordings that have a variant, each with how the emulator stands to it."""
    return [(r, found) for r in spec.recordings if (found := r.finding(v))]


def reported(
    published: Mapping[str, Any], inferred: Mapping[str, Sequence[str]], spelling: str, target: str
) -> tuple[str, str]:
    """The claim that a published model makes of a variant on a target, if it does, and what to say of it; both are from
    the data, which has the models and where they are followed by inference."""
    for name, p in published.items():
        if any(r["variant"] == spelling and target in r["targets"] for r in p["reports"].values()):
            source = f"{name} by {p['author']} ({p['source']}, commit {p['commit'][:12]}, {p['licence']})"
            return "reported", f"all 2^32 results of {source}; {p['judged']}; no measurement of ours"
    if target in inferred.get(spelling, ()):
        return "", "the emulator follows a published model, by inference: its author did not compare this there"
    return "", ""
