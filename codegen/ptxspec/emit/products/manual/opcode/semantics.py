"""The semantics of an instruction: its code, the code of its modifiers, and equivalent functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .....check.checking import Checked
from .....check.relations import relation
from .....model import ROUNDINGS, Code, HardwarePath, Implied, Instruction, Spec, Variant
from ....lowering import rounds
from .about import About
from .highlight import highlighted


@dataclass(frozen=True)
class Stage:
    """The code of a modifier, which acts around an instruction's own, as a page shows it."""

    title: str
    summary: str
    code: Code
    shown: Markup


@dataclass(frozen=True)
class Semantics:
    """The section. `body` is the instruction's own code as shown. `roundings` are the directions in which operations
    round, each with its modifiers; `default` ends the sentence about them. `hardware` are the paths of the machine
    code, each with its targets."""

    body: Markup
    stages: Sequence[Stage]
    hardware: Sequence[tuple[HardwarePath, str, Markup]]
    roundings: Sequence[tuple[str, str]]
    default: str
    implied: Sequence[Implied]
    compared: Sequence[tuple[str, str]]


def section(about: About) -> Semantics:
    spec, i = about.spec, about.instruction
    # The names that the page explains. The code asks by a group's name which of its members a variant has.
    names = {n for v in i.variants for n in (*v.modifiers, *v.type_names)}
    names |= {group for group, members in spec.groups.items() if not names.isdisjoint(members)}
    explained = frozenset(names)
    return Semantics(
        body=highlighted(i.semantics, explained),
        stages=_stages(spec, i, explained),
        hardware=[(p, _recorded(spec, i, p), highlighted(p.code, explained)) for p in i.hardware],
        roundings=_roundings(spec, i),
        default=_default_rounding(spec, about.checked),
        implied=[n for n in spec.implied if any(_implies(spec, n, v) for v in i.variants)],
        compared=[(c.selector.text, relation(spec.functions, c)) for c in i.compared],
    )


def _stages(spec: Spec, instruction: Instruction, explained: frozenset[str]) -> list[Stage]:
    """Return the code around the body, in the order in which it acts."""
    used = [m for m in spec.modifiers.values() if any(m.name in v.modifiers for v in instruction.variants)]
    stages = []
    for title, attribute in (
        ("reads the operands a, b and c before any other step", "raw"),
        ("changes each operand x", "operand"),
        ("changes the result d", "result"),
        ("may replace the result d", "override"),
    ):
        for m in used:
            code: Code | None = getattr(m, attribute)
            if code is not None:
                formats = instruction.acts_on.get(m.name, ())
                only = f" that is {' or '.join(formats)}" if formats else ""
                stages.append(Stage(f".{m.name} {title}{only}", m.summary, code, highlighted(code, explained)))
    return stages


def _recorded(spec: Spec, instruction: Instruction, path: HardwarePath) -> str:
    """Return the targets where a path is followed because all of its units are known there."""
    alike = [p for p in instruction.hardware if p.selector.text == path.selector.text]
    known = [t for t in spec.targets if spec.known_path(alike, t) is path]
    return ", ".join(known) or "none yet"


def _implies(spec: Spec, implied: Implied, v: Variant) -> bool:
    """Return whether a variant behaves as if it had the modifier and exists on one of those targets."""
    first, last = (spec.targets[t].order for t in implied.within)
    here = [t.name for t in spec.targets.values() if first <= t.order <= last]
    return implied.is_about(v) and any(spec.catalog.takes(v.requires, t) for t in here)


def _roundings(spec: Spec, instruction: Instruction) -> list[tuple[str, str]]:
    """Return the directions in which the instruction's operations round, each with its modifiers."""
    found: dict[str, list[str]] = {}
    for v in instruction.variants:
        asked = [n for n in v.modifiers if spec.modifiers[n].mode]
        if asked:
            mode = str(spec.modifiers[asked[0]].mode)
            found.setdefault(mode, [])
            if asked[0] not in found[mode]:
                found[mode].append(asked[0])
    return [(mode, " ".join(f".{n}" for n in names)) for mode, names in found.items()]


def _is_approximate(spec: Spec, v: Variant) -> bool:
    return any(spec.modifiers[m].approximate for m in v.modifiers)


def _default_rounding(spec: Spec, checked: Checked) -> str:
    """Return the end of the sentence about the directions. It covers variants that round and that the manual lists,
    without approximations and short spellings."""
    exact = [
        v
        for v, programs in checked.programs.items()
        if v.listed and not v.means and rounds(programs[None]) and not _is_approximate(spec, v)
    ]
    types = list(dict.fromkeys(v.type_names[0] for v in exact))
    free = list(dict.fromkeys(v.type_names[0] for v in exact if not any(spec.modifiers[m].mode for m in v.modifiers)))
    if not free:
        return "there is no default"
    if free == types:
        return f"the default is {ROUNDINGS[0]}"
    verb = "has" if len(free) == 1 else "have"
    return f"only {' and '.join(f'.{t}' for t in free)} {verb} a default, {ROUNDINGS[0]}"
