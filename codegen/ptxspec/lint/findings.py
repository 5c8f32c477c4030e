"""What lint has to say about a place in a file. The codes are stable; those of a query's reasons mean the same here."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..catalog import Requirement

CODES = {
    # The spelling
    "unknown-opcode": "There is no instruction of this name.",
    "unknown-modifier": "No instruction of the database has a modifier of this name.",
    "unknown-type": "The spelling has no type, and a name that is neither a type nor a modifier.",
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
    # The operands
    "operand-count": "Too many or too few operands.",
    "illegal-immediate": "A constant where the assembler takes none, an integer for 1.0, or one out of range.",
    "illegal-operand": "What the instruction does not take: a vector, an address, a special register, a negation.",
    "illegal-register": "A register of a type, or of a constraint, that the instruction does not take there.",
    "undeclared-register": "A name that is not declared as a register in the function.",
    "illegal-destination": "The result must be one register: no constant, no function, no `_`, no second predicate.",
    "syntax": "The assembler cannot read this and stops judging the file here.",
    # Where it is used
    "ptx-too-old": "The module's PTX version is older than the instruction.",
    "ptx-too-new": "The instruction ended with an older PTX version.",
    "target-too-old": "The module's target is older than the instruction.",
    "target-specific": "The instruction is there for few targets only, and the module's is none of them.",
    "target-too-new": "The instruction had ended before the target came.",
    "target-unknown": "The PTX version does not know the target.",
    # The file
    "unknown-ptx": "There is no such PTX version.",
    "unknown-target": "There is no such target.",
    "unterminated-comment": "A comment does not end.",
    "unterminated-string": "A string does not end.",
    # What the file says to lint
    "unused-ignore": "A comment ignores a code where nothing of this code is found.",
    "unknown-ignore": "A comment ignores a code that does not exist, or names none.",
}


class Finding(NamedTuple):
    """One diagnostic. `length` characters are meant; `help` says what to write instead, `requires` what the variant
    needs where it is not available."""

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

    def as_json(self) -> dict[str, Any]:
        message = f"{self.message}; {self.help}" if self.help else self.message
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "severity": self.severity,
            "code": self.code,
            "message": message,
            "variant": self.variant,
        }
