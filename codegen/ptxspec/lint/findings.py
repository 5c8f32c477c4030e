"""Findings: the errors, warnings and notes of lint. The codes are stable and mean the same as in the reasons of a
query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ..catalog import Requirement
from ..catalog.likeness import suggest
from ..ptx.complaints import ERROR, NOTE, WARNING

# The codes, grouped by subject, as the manual lists them.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "The spelling": {
        "unknown-opcode": "There is no instruction of this name.",
        "unknown-modifier": "No instruction of the database has a modifier of this name.",
        "unknown-type": "PTX has no type of this name.",
        "missing-type": "The spelling has no type.",
        "illegal-type": "The instruction does not have this type, or has two types.",
        "illegal-modifier": "The instruction does not have this modifier for its type.",
        "missing-modifier": "A modifier is missing, such as a rounding mode.",
        "excluding-modifiers": "Two modifiers exclude each other.",
        "illegal-combination": "Each modifier is legal by itself, but not all of them together.",
        "repeated-modifier": "A modifier appears twice. The assembler accepts a few modifiers twice (a warning).",
        "misplaced-modifier": "A modifier must directly follow the opcode.",
        "modifier-order": "The modifiers are not in the order of NVIDIA's manual. The assembler accepts any order.",
        "ignored-modifier": "The assembler accepts a modifier that has no effect here.",
        "tolerated-spelling": "The assembler accepts a spelling that does not exist.",
        "assembler-crash": "The assembler accepts the spelling, but ends with an internal error.",
        "refused-by-assembler": "NVIDIA's manual lists the spelling, but the assembler accepts it on no target.",
        "undocumented": "The assembler accepts a spelling that NVIDIA's manual does not list.",
        "hazard": "The assembler accepts the spelling, but the machine code does something else.",
    },
    "The operands": {
        "operand-count": "Too many or too few operands.",
        "illegal-immediate": "The constant is not allowed: none is, it is an integer for 1.0, or it is out of range.",
        "illegal-operand": "The operand is not allowed: a vector, an address, a special or a negated register.",
        "illegal-register": "The operand is a register of a wrong type, or has a wrong constraint.",
        "undeclared-register": "The name is not declared as a register in the function.",
        "repeated-register": "The block has a register of this name already.",
        "illegal-destination": "The result must be one register, not a constant, a function, `_` or two predicates.",
        "syntax": "The assembler cannot parse this, and checks no more of the file.",
    },
    "Where it is used": {
        "ptx-too-old": "The instruction requires a newer PTX version than the module's.",
        "ptx-too-new": "The instruction ended with an older PTX version than the module's.",
        "target-too-old": "The instruction requires a newer target than the module's.",
        "target-specific": "Only a few targets support the instruction, and the module's is not one of them.",
        "target-too-new": "The instruction had ended before the module's target was introduced.",
        "target-unknown": "The PTX version does not support the target.",
        "unknown-guard": "One of these, under a condition that is not understood (a warning).",
    },
    "The file": {
        "unknown-ptx": "There is no such PTX version.",
        "unknown-target": "There is no such target.",
        "unterminated-comment": "A comment does not end.",
        "unterminated-string": "A string does not end.",
    },
    "Comments for lint": {
        "unused-ignore": "The comment ignores a code, but there is no such finding.",
        "unknown-ignore": "The comment ignores a code that does not exist, or names no code.",
    },
}
CODES = {code: meaning for group in GROUPS.values() for code, meaning in group.items()}
# These depend on the target and the PTX version: they may differ on another target.
BY_TARGET = frozenset(
    [
        "hazard",
        "ptx-too-old",
        "ptx-too-new",
        "target-too-old",
        "target-specific",
        "target-too-new",
        "target-unknown",
        "unknown-guard",
    ]
)


def unknown_code(code: str) -> tuple[str, str]:
    """Return the message and the help for a code that does not exist."""
    return f"unknown code '{code}'", suggest(code, CODES, otherwise="`ptxspec manual codes` lists them")


class Mend(NamedTuple):
    """A change that fixes a finding: `new` replaces the text from `start` to `end` of the file, which is `old` unless
    parts of it are escaped. `doubt` says what may be different afterwards; it is empty if nothing is."""

    start: int
    end: int
    old: str
    new: str
    doubt: str = ""


class Finding(NamedTuple):
    """A diagnostic about `length` characters. `help` says what to write instead, and `requires` is the requirement of
    an unavailable variant. `operand` is the operand's text with which the message begins, and `statement` the number of
    the statement. If findings in one statement are joined, `also` has the other messages and `marks` the other places
    in the line, with their lengths. `mend` is None if no change is known that fixes the finding."""

    file: str
    line: int
    column: int
    severity: str
    code: str
    message: str
    variant: str | None
    help: str = ""
    length: int = 1
    source: str = ""
    at: int = 0
    requires: Requirement | None = None
    operand: str = ""
    statement: int | None = None
    also: tuple[str, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()
    targets: tuple[str, ...] = ()
    mend: Mend | None = None

    @property
    def text(self) -> str:
        """The finding in one line."""
        also = f"; also: {'; '.join(self.also)}" if self.also else ""
        return f"{self.message}{also}; {self.help}" if self.help else self.message + also

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "severity": self.severity,
            "code": self.code,
            "message": self.text,
            "variant": self.variant,
            "targets": list(self.targets),
        }


def merged(found: Mapping[str, Iterable[Finding]]) -> list[Finding]:
    """Return the findings of several targets, each once, in the order of the text. A finding that does not hold for all
    targets names those for which it holds."""
    targets: dict[tuple[object, ...], list[str]] = {}
    first: dict[tuple[object, ...], Finding] = {}
    for target, findings in found.items():
        for f in findings:
            said = tuple(part.replace(target, "") for part in (f.message, f.help, *f.also))
            key: tuple[object, ...] = (f.line, f.column, f.length, f.code, f.severity, said)
            first.setdefault(key, f)
            targets.setdefault(key, []).append(target)
    named = []
    for f, where in zip(first.values(), map(tuple, targets.values()), strict=True):
        if len(where) < len(found):
            # The fix for some targets may be wrong for the others.
            f = f._replace(message=f"{f.message} (for {', '.join(where)})", mend=None)
        named.append(f._replace(targets=where))
    return sorted(named, key=lambda f: (f.line, f.column))


# The greatest number of messages about one statement; further ones are counted.
_MANY = 8
_GRAVITY = {ERROR: 0, WARNING: 1, NOTE: 2}


def joined(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield one finding for each statement, with all errors in it; the gravest comes first."""
    for statement, group in groupby(findings, key=lambda f: f.statement):
        if statement is None:
            yield from group
        else:
            yield _together(sorted(group, key=lambda f: _GRAVITY[f.severity]))


def _together(findings: Sequence[Finding]) -> Finding:
    first, *others = findings
    if not others:
        return first
    # The same message about several operands appears once.
    said: dict[str, list[Finding]] = {}
    for f in findings:
        said.setdefault(f.message.removeprefix(f.operand), []).append(f)
    messages = []
    for same in said.values():
        more = dict.fromkeys(f.operand for f in same[1:] if f.operand and f.operand != same[0].operand)
        messages.append(same[0].message + (f"; likewise {', '.join(more)}" if more else ""))
    marks = dict.fromkeys((f.at, f.length) for f in others if f.line == first.line and f.source == first.source)
    return first._replace(
        message=messages[0],
        also=(*messages[1:_MANY], *([f"and {len(messages) - _MANY} more"] if len(messages) > _MANY else [])),
        help="; ".join(dict.fromkeys(f.help for f in findings if f.help)),
        marks=tuple(marks),
        # A second change for the same code would be required as well.
        mend=first.mend if {f.mend for f in findings if f.code == first.code} == {first.mend} else None,
    )
