"""The errors of any statement, whichever instruction it is: in its guard, in undeclared operands, in addresses, and in
vectors and their lengths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..catalog.explaining import unmet
from ..catalog.outside import Outside, OutsideOperands
from ..ptx import constants, operands as kinds
from ..ptx.operands import Operand, split
from ..ptx.registers import Registers
from ..ptx.scanning import HOLE, Instruction, Other, Problem
from ..query.database import Database

_GUARD = re.compile(r"@\s*+!?\s*+(?P<name>[%\w$]++)", re.ASCII)
_NAME = re.compile(r"(?<![\w.$%])(?:%{0,2}(?!_\b)[A-Za-z_$][\w$]*+|[%$]\d++)", re.ASCII)
# The begin of an address by a name, and the names in braces.
_ADDRESS = re.compile(rf"(?:^|,)\s*+\[\s*+(?P<name>{_NAME.pattern})\s*+(?P<behind>[-+\]]|\.\s*+[A-Za-z]\w*+)", re.ASCII)
_ADDED = re.compile(rf"\s*+(?P<name>{_NAME.pattern})\s*+[-+\]]", re.ASCII)
_IN_BRACES = re.compile(r"\{[^{}]*+\}")
_WHOLE_NAME = re.compile(rf"{_NAME.pattern}(?!\s*+[.\[])", re.ASCII)
# The longest label: how far the search goes back from its colon.
_LONGEST = 4096
_LABEL_BACKWARDS = re.compile(r"\s*+(?P<name>[%\w$]++)", re.ASCII)
_NOT_WRITTEN = (kinds.FUNCTION, kinds.VARIABLE, *kinds.SPECIALS)
_HELP = "name a register"
# Functions that OptiX has, which no module declares.
_OF_OPTIX = "_optix_"
# The types of registers that cannot be addresses. Of the constraints f and d, compilers make bits.
_NO_ADDRESS = re.compile(r"\.(?:f|v\d|pred|b128)")
_UNKNOWN = (kinds.UNDECLARED, kinds.BEYOND)
# Other kinds of names are right anywhere, except as targets of branches.
_REMARKABLE = frozenset([*_UNKNOWN, *_NOT_WRITTEN])
# Kinds that may be a predicate.
_PREDICATES = (".pred", kinds.PREDICATE_SPECIAL, kinds.REGISTER)
_NOTHING = OutsideOperands()


class Labels:
    """The labels of a text. They are searched for when first needed, as they may follow the statements that name
    them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._names: frozenset[str] | None = None

    def __contains__(self, name: str) -> bool:
        if self._names is None:
            self._names = frozenset(self._found())
        return name in self._names

    def _found(self) -> Iterator[str]:
        text, at = self._text, -1
        while (at := text.find(":", at + 1)) >= 0:
            if m := _LABEL_BACKWARDS.match(text[max(0, at - _LONGEST) : at][::-1]):
                yield m["name"][::-1]


def guard(text: str, statement: int, registers: Registers, labels: Labels) -> Problem | None:
    """Return the error in the guard of a statement."""
    m = _GUARD.match(text, statement)
    if m is None:
        return None
    name, start = m["name"], m.start("name")
    kind = registers.kind(name)
    if kind in _UNKNOWN:
        return _unknown(name, start, kind, labels)
    if kind in _PREDICATES:
        return None
    code = "illegal-register" if kind[0] in '."' else "illegal-operand"
    return Problem(start, len(name), code, f"{name} is not a predicate", "name a register of .pred")


def names(item: Other, registers: Registers, labels: Labels, outside: Mapping[str, Outside]) -> Iterator[Problem]:
    """Yield the errors in the names among the operands of an instruction that the database does not have."""
    opcode = item.text.partition(".")[0].strip()
    places = outside[opcode].operands if opcode in outside else _NOTHING
    remarkable = places.only_labels or not _REMARKABLE.isdisjoint(map(registers.kind, _NAME.findall(item.operands)))
    if not remarkable or HOLE in item.operands:
        return
    for m in _NAME.finditer(item.operands):
        name, start = m[0], item.operands_start + m.start()
        kind = registers.kind(name)
        if kind in _UNKNOWN:
            if not (places.labels and name in labels) and not name.startswith(_OF_OPTIX):
                yield _unknown(name, start, kind, labels)
        elif places.only_labels and kind != kinds.REGISTER:
            yield Problem(
                start, len(name), "illegal-operand", f"{name} is not a label", "name a label of this function"
            )
        elif places.written and not item.operands[: m.start()].strip(" \t\n{") and kind in _NOT_WRITTEN:
            yield Problem(start, len(name), "illegal-destination", f"{name} is not a register", _HELP)
        elif kind == kinds.FUNCTION and item.operands[: m.start()].rstrip().endswith("["):
            yield Problem(start, len(name), "illegal-operand", f"{name} is a function, not an address", _HELP)


class Specials:
    """A check of the special registers that statements read against their requirements."""

    def __init__(self, db: Database) -> None:
        self._db = db
        names = "|".join(name.removeprefix("%") for name in db.special_registers)
        self._name = re.compile(rf"%(?:{names})(?![\w$])")

    def problems(
        self, text: str, start: int, registers: Registers, target: str | None, ptx: str | None
    ) -> Iterator[Problem]:
        """Yield the errors in a part of a statement, which starts at `start`: special registers that the target or the
        PTX version does not have."""
        for m in self._name.finditer(text):
            if registers.home(m[0]) is not None:
                continue
            requires = self._db.special_registers[m[0]].requires
            for reason in unmet(self._db, m[0], requires, target, ptx):
                if reason.code != "target-unknown":
                    yield Problem(start + m.start(), len(m[0]), reason.code, reason.message)


def places(item: Instruction | Other, registers: Registers) -> Iterator[Problem]:
    """Yield the errors in the operands of an instruction that none has: vectors within vectors, and addresses that are
    neither a name nor a name and an integer, or that are registers of numbers."""
    if HOLE in item.operands:
        return
    for braces in _IN_BRACES.finditer(item.operands) if registers.has_vectors else ():
        for m in _WHOLE_NAME.finditer(item.operands, *braces.span()):
            if registers.kind(m[0]).startswith(".v"):
                start, message = item.operands_start + m.start(), f"{m[0]} is a vector, which cannot be part of another"
                yield Problem(start, len(m[0]), "illegal-operand", message, "name an element, as in v.x")
    for m in _ADDRESS.finditer(item.operands) if "[" in item.operands else ():
        name, behind, kind = m["name"], m["behind"], registers.kind(m["name"])
        start, at = item.operands_start + m.start("name"), item.operands_start + m.start("behind")
        if kind == constants.INTEGER or kinds.may_be_constant(kind, name):
            continue
        if behind == "-":
            help = f"add a negative number, as in [{name}+-4]"
            yield Problem(at, 1, "syntax", "nothing can be subtracted from an address", help)
        elif behind[0] == ".":
            help = f"move {name}{behind} into a register first"
            yield Problem(at, len(behind), "syntax", "an address cannot be an element of a vector", help)
        elif _NO_ADDRESS.match(kind):
            message = f"{name} is a {kind} register, which cannot be an address"
            yield Problem(start, len(name), "illegal-register", message, "name a register of .b64 or .b32")
        elif (
            behind == "+"
            and (added := _ADDED.match(item.operands, m.end()))
            and _is_no_integer(registers.kind(added["name"]))
        ):
            start, message = item.operands_start + added.start("name"), "only an integer can be added to an address"
            help = "name an integer, or compute the address in a register first"
            yield Problem(start, len(added["name"]), "syntax", message, help)


def _is_no_integer(kind: str) -> bool:
    """Return whether a name of this kind is certainly not an integer. Of the constraint C, compilers make any text."""
    return kind in _NOT_WRITTEN or (kind[0] in '."' and kind != '"C"')


def lengths(item: Instruction | Other, registers: Registers, outside: Mapping[str, Outside]) -> Iterator[Problem]:
    """Yield the errors in the lengths of the vectors of an instruction."""
    # Instructions of the database with vectors have one source.
    is_move = isinstance(item, Instruction)
    written = item.head if isinstance(item, Instruction) else item.text
    may_be_vectors = ".v" in written or (not is_move and ("{" in item.operands or registers.has_vectors))
    if not may_be_vectors or HOLE in item.operands:
        return
    head = "".join(written.split())
    opcode, *names = head.split(".")
    said = next((int(n[1:]) for n in names if n in ("v2", "v4", "v8")), 0)
    about = outside[opcode].operands if opcode in outside else _NOTHING
    places = (0, 1) if is_move else about.vectors
    if not places or not (said or about.single):
        return
    operands = [registers.known(o) for o in split(item.operands)]
    if is_move and len(operands) != 2:
        message = f"{head} takes 1 source operand, not {len(operands) - 1}"
        yield Problem(item.start, len(written), "operand-count", message, f"write {head} d, a")
    for i in places:
        if i >= len(operands):
            break
        length = _length(operands[i].kind, operands[i])
        is_spread = is_move and i == 1 and length == 1 and operands[i].kind != kinds.VECTOR
        if length not in (0, max(said, 1)) and not is_spread:
            wanted = f"{said} registers are required here" if said else "one register is required here"
            help = f"write {said} in braces" if said else "write it alone, or write the length, as in .v2"
            start, long = item.operands_start + operands[i].start, len(operands[i].text)
            yield Problem(start, long, "illegal-operand", f"{wanted}, not {length}", help)


def _length(kind: str, operand: Operand) -> int:
    """Return how many registers an operand is; 0 if unknown."""
    if kind == kinds.VECTOR:
        return len(operand.parts)
    if kind.startswith(".v"):
        return int(kind[2])
    return 1 if kind[0] in '."' else 0


def _unknown(name: str, start: int, kind: str, labels: Labels) -> Problem:
    if kind == kinds.BEYOND:
        message, help = f"the asm statement has no operand {name}", "the first one is number 0"
    elif name in labels:
        return Problem(start, len(name), "illegal-operand", f"{name} is a label, which is not allowed here", _HELP)
    else:
        message, help = f"{name} is not declared here", "declare it first"
    return Problem(start, len(name), "undeclared-register", message, help)
