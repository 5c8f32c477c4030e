"""Findings: what lint says about a place in a file. The codes are stable; those of a query's reasons mean the same
here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ..catalog import Requirement
from ..catalog.likeness import suggest
from ..ptx.complaints import ERROR, NOTE, WARNING

# By what they are about, as the manual lists them.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "The spelling": {
        "unknown-opcode": "There is no instruction of this name.",
        "unknown-modifier": "No instruction of the database has a modifier of this name.",
        "unknown-type": "No type of PTX's, of a spelling or of what is declared.",
        "missing-type": "The spelling has no type.",
        "illegal-type": "The instruction does not have this type, or has two types.",
        "illegal-modifier": "The instruction does not have this modifier for its type.",
        "missing-modifier": "A modifier is required, a rounding for instance.",
        "excluding-modifiers": "Two modifiers exclude each other.",
        "illegal-combination": "Each modifier is right by itself, all together are not.",
        "repeated-modifier": "A modifier stands twice; the assembler takes a few so (a warning).",
        "misplaced-modifier": "A modifier must follow the opcode at once.",
        "modifier-order": "The modifiers stand in another order than in the manual; the assembler does not mind.",
        "ignored-modifier": "The assembler takes a modifier that does nothing here.",
        "tolerated-spelling": "The assembler takes a spelling that does not exist.",
        "assembler-crash": "The assembler takes the spelling, and ends with an error of its own.",
        "refused-by-assembler": "The manual lists the spelling, and the assembler takes it nowhere.",
        "undocumented": "The assembler takes a spelling that the manual does not list.",
        "hazard": "The assembler takes the spelling, and its machine code does something else.",
    },
    "The operands": {
        "operand-count": "Too many or too few operands.",
        "illegal-immediate": "A constant where the assembler takes none, an integer for 1.0, or one out of range.",
        "illegal-operand": "What the instruction does not take: a vector, an address, a special register, a negation.",
        "illegal-register": "A register of a type, or of a constraint, that the instruction does not take there.",
        "undeclared-register": "A name that is not declared as a register in the function.",
        "illegal-destination": "The result must be one register: no constant, function, `_` or second predicate.",
        "syntax": "The assembler cannot read this and stops judging the file here.",
    },
    "Where it is used": {
        "ptx-too-old": "The module's PTX version is older than the instruction.",
        "ptx-too-new": "The instruction ended with an older PTX version.",
        "target-too-old": "The module's target is older than the instruction.",
        "target-specific": "The instruction is there for few targets only, and the module's is none of them.",
        "target-too-new": "The instruction had ended before the target came.",
        "target-unknown": "The PTX version does not know the target.",
        "unknown-guard": "One of these, where a condition around the code is not understood (a warning).",
    },
    "The file": {
        "unknown-ptx": "There is no such PTX version.",
        "unknown-target": "There is no such target.",
        "unterminated-comment": "A comment does not end.",
        "unterminated-string": "A string does not end.",
    },
    "What the file says to lint": {
        "unused-ignore": "A comment ignores a code where nothing of this code is found.",
        "unknown-ignore": "A comment ignores a code that does not exist, or names none.",
    },
}
CODES = {code: meaning for group in GROUPS.values() for code, meaning in group.items()}
# These depend on what is judged for, so that they may be there for another target.
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
    """What mends a finding: `new` in the place of what stands from `start` to `end` of the file, which is `old` where
    nothing in it is escaped. `doubt` says what may be different then; it is empty where nothing is."""

    start: int
    end: int
    old: str
    new: str
    doubt: str = ""


class Finding(NamedTuple):
    """A diagnostic. `length` characters are meant; `help` says what to write instead, `requires` what the variant needs
    where it is not available. `operand` is the text of the operand that the message begins with, `statement` the number
    of the statement that it is about. Of several in one that are joined, `also` has the other messages and `marks` the
    other places in the line, with their lengths. `mend` is None where no change of the text is known to mend it."""

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
    """Return the findings of several targets, each once, in the order of the text. What does not hold for all of them
    names those that it holds for."""
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
            # What mends it for some targets may be wrong for the others.
            f = f._replace(message=f"{f.message} (for {', '.join(where)})", mend=None)
        named.append(f._replace(targets=where))
    return sorted(named, key=lambda f: (f.line, f.column))


# The most messages about one statement; further ones are counted.
_MANY = 8
_GRAVITY = {ERROR: 0, WARNING: 1, NOTE: 2}


def joined(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield one finding for each statement, with all that is wrong in it; the gravest comes first."""
    for statement, group in groupby(findings, key=lambda f: f.statement):
        if statement is None:
            yield from group
        else:
            yield _together(sorted(group, key=lambda f: _GRAVITY[f.severity]))


def _together(findings: Sequence[Finding]) -> Finding:
    first, *others = findings
    if not others:
        return first
    # What is said of several operands in the same words is said once.
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
        # Another change for the same code would have to be made as well.
        mend=first.mend if {f.mend for f in findings if f.code == first.code} == {first.mend} else None,
    )
