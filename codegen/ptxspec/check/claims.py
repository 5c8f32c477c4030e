"""The basis for a variant's claim, in words.

Queries import this module: of the model it needs the names only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model import Instruction, RegisteredRecording, Spec, Variant

CLAIMS = {
    "exact": "IEEE 754 and NVIDIA's manual fix every bit, except those of NaNs and of results that a note calls open",
    "unjudged": "IEEE 754 and NVIDIA's manual fix every bit, but no outside judge has confirmed the result",
    "measured": "every recorded bit of that target equals the emulator's",
    "reported": "equal on all operands to a published model that its author compared with GPUs of that target",
    "bounded": "NVIDIA's manual bounds the error; the emulator rounds correctly, or follows hardware within the bound",
    "unspecified": "nothing is promised, or the hardware that the emulator follows exceeds the bound of NVIDIA's "
    "manual",
}

# The claims of variants whose every bit is fixed, whether or not somebody judged them.
FIXED = ("exact", "unjudged")

# The judges outside of this project, by their names in spec/observed/judged/.
JUDGES = {
    "MPFR": "MPFR",
    "definition": "its definition, written independently",
    "ptxas folding": "ptxas's constant folding",
    "NVIDIA host code": "NVIDIA's headers on the host",
}
# The command that records who judged what.
JUDGE_AGAIN = "pytest -m exhaustive --record-judged"


def claim_basis(instruction: Instruction, v: Variant) -> str:
    """Return the basis of a claim that rests on no recording."""
    return basis_text(
        claim=v.claim,
        listed=v.listed,
        bounds=[bound(a.bound, a.kind, a.range, a.section) for a in instruction.accuracy if a.selector.matches(v)],
        judges=v.judges,
        open=[n.open for n in instruction.notes if n.open and n.selector.matches(v)],
        since=next((r.since for r in instruction.recipes if r.since and r.selector.matches(v)), ""),
    )


def basis_text(
    claim: str, listed: bool, bounds: Iterable[str], judges: Sequence[str], open: Sequence[str], since: str
) -> str:
    if claim == "bounded":
        return "the bound in NVIDIA's manual: " + "; ".join(bounds)
    if claim == "unspecified":
        return "nothing: NVIDIA's manual " + ("gives no bound" if listed else "does not list the spelling")
    by = " and ".join(JUDGES[j] for j in judges)
    judged = f"tests compare it with {by}" if judges else "no test compares it with an outside judge"
    if judges and claim == "unjudged":
        judged = f"its program has changed since tests compared it with {by}: run `{JUDGE_AGAIN}`"
    told = f"IEEE 754 and NVIDIA's manual; {judged}"
    if since:
        told += f"; on older targets, and without a target, the bits differ from those on {since} and newer"
    return f"{told}; open, so this is our reading: {' and '.join(dict.fromkeys(open))}" if open else told


def bound(bound: str, kind: str, range: str, section: str) -> str:
    return f"{bound} {kind}{f' for operands {range}' if range else ''} ({section})"


def recorded(spec: Spec, v: Variant) -> list[tuple[RegisteredRecording, str]]:
    """Return the recordings that have a variant, each with the emulator's agreement."""
    return [(r, found) for r in spec.recordings if (found := r.finding(v))]


def followed(spec: Spec, v: Variant) -> list[tuple[list[str], str, str]]:
    """Return the targets on which the emulator follows a published model of the hardware, or has all of its results;
    the claim there, which is empty if it is the variant's own; and the basis in words."""
    found: dict[tuple[str, str], list[str]] = {}
    if v.claim == "exact" or not spec.may_follow(v):
        return []
    inferred = spec.inferred_on(v)
    for target in spec.targets:
        if spec.catalog.takes(v.requires, target) and (said := _followed(spec, v, target, target in inferred)):
            found.setdefault(said, []).append(target)
    return [(targets, claim, told) for (claim, told), targets in found.items()]


def basis_on(spec: Spec, v: Variant, target: str | None) -> str:
    """Return the basis of the claim on a target that rests on no recording."""
    own = claim_basis(spec.instructions[v.opcode], v)
    found = ((claim, told) for targets, claim, told in followed(spec, v) if target in targets)
    claim, told = next(found, ("", ""))
    return told if claim else "; ".join(filter(None, (own, told)))


def _followed(spec: Spec, v: Variant, target: str, is_inferred: bool) -> tuple[str, str] | None:
    claim = spec.claim(v, target)
    if claim == "reported" and (reporter := spec.reporter(v, target)):
        return claim, f"{reporter.text}; not measured by us"
    broken = spec.exceeded(v, target) if claim == "unspecified" else None
    if claim == "measured" or (not is_inferred and not broken):
        return None
    path = spec.known_path(spec.instructions[v.opcode].hardware_paths(v), target)
    why = (
        [f"{i.told} ({i.source})" for u in path.units for _, i in filter(None, [spec.inferred(u, target)])]
        if path
        else []
    )
    told = "the emulator follows a published model, by inference: "
    told += "; ".join(why) or "its author did not compare this variant on this target"
    if broken and (e := broken.exceeded):
        which = bound(broken.bound, broken.kind, broken.range, broken.section)
        told += f"; it exceeds the bound of {which}: {e.worst(v.result.kind.width)}, with an error of {e.error}"
        return claim, told
    return "", told
