"""The machine code on a page: the machine instructions of each variant on each target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from .....model import MachineCode, MachineEvidence, Spec, runs
from .....read.notation import expand
from .about import About

_NAME = re.compile(r"^(?:@\S+ )?(\S+)")


@dataclass(frozen=True)
class Code:
    """The machine code of variants on some targets. `names` are the instructions' names in a few words; `lines` are the
    instructions if they are recorded in full, else empty."""

    targets: str
    count: int
    beyond: int
    names: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """A listing of variants. `operands` is set if spellings alone do not distinguish them from others."""

    forms: Sequence[str]
    operands: int | None
    codes: Sequence[Code]


@dataclass(frozen=True)
class Section:
    """The section. `stale`: the variants or their requirements have changed since. `folded`: there are too many entries
    to show at once."""

    assembler: str
    disassembler: str
    stale: bool
    entries: Sequence[Listing]
    folded: bool


def section(about: About) -> Section | None:
    spec, opcode = about.spec, about.instruction.opcode
    evidence = spec.machine
    if evidence is None or opcode not in evidence.opcodes:
        return None
    ambiguous = {v.spelling for v in about.instruction.variants if about.write.operands(v) is not None}
    entries = [
        Listing(
            found.forms,
            found.operands if _names_any(spec, opcode, found.forms, ambiguous) else None,
            [_code(spec, evidence, c) for c in found.codes],
        )
        for found in evidence.opcodes[opcode]
    ]
    stale = evidence.asked.get(opcode) != spec.asked(opcode)
    return Section(evidence.assembler, evidence.disassembler, stale, entries, folded=len(entries) > 24)


def size(about: About) -> int:
    """Return the number of entries: one for each group of variants and targets."""
    evidence = about.spec.machine
    entries = evidence.opcodes.get(about.instruction.opcode, ()) if evidence else ()
    return sum(len(e.codes) for e in entries)


def _names_any(spec: Spec, opcode: str, forms: Sequence[str], spellings: Set[str]) -> bool:
    """Return whether one of some notations stands for one of the spellings."""
    if not spellings:
        return False
    texts = (form.removeprefix(opcode) for form in forms)
    return any(".".join((opcode, *names)) in spellings for text in texts for names in expand(text, spec.notation))


def _code(spec: Spec, evidence: MachineEvidence, c: MachineCode) -> Code:
    lines = c.text.split("; ") if c.text else []
    # If there are too many, the text counts each instead.
    whole = len(lines) == c.count
    names = ", ".join(_counted(_named(lines))) if whole else c.text
    return Code(_targets(spec, evidence, c.targets), c.count, c.beyond, names, lines if whole else ())


def _named(lines: Iterable[str]) -> list[str]:
    return [m[1].removesuffix(".*") for line in lines if (m := _NAME.match(line))]


def _counted(names: Sequence[str]) -> list[str]:
    """Return the names in order, with the length of each run of equal names."""
    found: list[tuple[str, int]] = []
    for name in names:
        before = found.pop() if found and found[-1][0] == name else (name, 0)
        found.append((name, before[1] + 1))
    return [f"{n} {name}" if n > 1 else name for name, n in found]


def _targets(spec: Spec, evidence: MachineEvidence, on: Sequence[str]) -> str:
    """Return targets as architectures: all kinds of an architecture that support the variants have the same machine
    code."""
    plain = {t: spec.targets[t].base or t for t in on}
    told = []
    for run in runs(on, evidence.targets):
        few = len(run) < 3
        told += [plain[t] for t in run] if few else [f"{plain[run[0]]} to {plain[run[-1]]}"]
    return ", ".join(told)
