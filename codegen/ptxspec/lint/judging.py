"""The assembler's verdict on one instruction, from the database alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..catalog import Requirement
from ..query.alike import advice
from ..query.database import Database, Variant
from ..query.verdicts import Reason, refusals, why_not
from . import operands as kinds
from .findings import ERROR, NOTE, WARNING

Shape = tuple[str, ...]
WHOLE = -1


class Complaint(NamedTuple):
    """`name` is the index of the modifier or type meant, `operand` that of the operand; WHOLE for neither. `requires`
    is what the variant needs, where it is not available."""

    severity: str
    code: str
    message: str
    help: str = ""
    name: int = WHOLE
    operand: int = WHOLE
    requires: Requirement | None = None


class Judgement(NamedTuple):
    """`variant` is the spelling as the manual writes it, where it exists; `form` is false for what is none of ours."""

    variant: str | None
    complaints: tuple[Complaint, ...]


NOT_OURS = Judgement(None, ())

# Other machines' assembly has names such as .s, .d and .w, but none of these.
_LIKE_A_TYPE = re.compile(r"b?f\d+(?:x\d+)?").fullmatch

# What the assembler says of operands that are no registers, wherever they are sources.
_SOURCES = {
    kinds.VECTOR: ("illegal-operand", "a vector is not taken here", "name one register"),
    kinds.ADDRESS: ("illegal-operand", "memory is not read here", "load the value into a register first"),
    kinds.NEGATED: ("illegal-operand", "a register is not negated here", "negate it by an instruction of its own"),
    kinds.DISCARD: ("syntax", "`_` is no source operand", "name a register"),
    kinds.SINK: ("syntax", "a source operand is one register", "name one register"),
    kinds.PAIR: ("syntax", "a source operand is one register", "name one register"),
    kinds.OVERFLOW: ("illegal-immediate", "no double has this value", "write 0, or between 2.3e-308 and 1.7e308"),
    kinds.SPECIAL: ("illegal-operand", "{operand} is a special register, which is not read here",
        "move it into a register first, and convert that"),
    kinds.UNDECLARED: ("undeclared-register", "no register {operand} is declared here", "declare it before, by .reg"),
    kinds.PART: ("illegal-operand", "{operand} is a part of a register that is no vector", "name the register alone"),
    kinds.MALFORMED: ("syntax", "no operand", "write registers or constants (1.0, 0f3F800000) with commas between"),
}  # fmt: skip
_DESTINATIONS = {
    kinds.FLOAT: ("illegal-destination", "the result needs a register", "name a register"),
    kinds.CONSTANT: ("illegal-destination", "the result needs a register", "name a register"),
    kinds.SUM: ("illegal-destination", "the result needs a register", "name a register"),
    kinds.VECTOR: ("illegal-destination", "the result is no vector", "name one register"),
    kinds.ADDRESS: ("illegal-destination", "the result is not stored", "name a register and store that"),
    kinds.NEGATED: ("illegal-destination", "the result is not negated", "negate it by an instruction of its own"),
    kinds.DISCARD: ("illegal-destination", "the result is not discarded; the assembler stops here", "name a register"),
    kinds.PAIR: ("illegal-destination", "there is no second result", "name one register"),
    kinds.OVERFLOW: ("illegal-destination", "the result needs a register", "name a register"),
    kinds.SPECIAL: ("illegal-destination", "{operand} is a special register, which is not written", "name a register"),
    # As a source the assembler takes one.
    kinds.FUNCTION: ("illegal-destination", "{operand} is a function", "name a register"),
    **{k: _SOURCES[k] for k in (kinds.UNDECLARED, kinds.PART, kinds.MALFORMED)},
}  # fmt: skip


class Judge:
    """Judges instructions; the same one is judged once.

    `pairs`: complain of each instruction where the PTX version does not know the target. A module's own header has that
    complaint already."""

    def __init__(self, db: Database, pairs: bool = True) -> None:
        self.db = db
        self.pairs = pairs
        assembler = db.data["assembler"]
        self.types = db.types
        self.modifiers = db.modifiers
        self.other_types = db.other_types
        self.repeatable = frozenset(assembler["repeatable"])
        self.leading = frozenset(assembler["leading"])
        self.immediates = frozenset(assembler["immediates"])
        self.registers = {t: tuple(f".{r}" for r in rs) for t, rs in assembler["registers"].items()}
        self.constraints = {f'"{c}"': tuple(f".{r}" for r in rs) for c, rs in assembler["constraints"].items()}
        self.ignored = [frozenset(group) for group in assembler["ignored"]]
        self._ignored_names = frozenset().union(*self.ignored)
        self._known: dict[tuple[str, Shape | None, str | None, str | None, bool], Judgement] = {}

    def judge(
        self, head: str, shape: Shape | None, target: str | None, ptx: str | None, lenient: bool = False
    ) -> Judgement:
        """`head` is the spelling without spaces; `shape` the kinds of all operands, the destination's first, None where
        they are not known. `lenient`: what has no PTX name at all is another machine's."""
        key = (head, shape, target, ptx, lenient)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[key] = self._judge(head, shape, target, ptx, lenient)
        return found

    def _judge(self, head: str, shape: Shape | None, target: str | None, ptx: str | None, lenient: bool) -> Judgement:
        opcode, *names = head.split(".")
        types = [n for n in names if n in self.types or n in self.other_types]
        if self.db.is_elsewhere(opcode, names):
            return NOT_OURS
        known = self.types | self.modifiers | self.other_types
        if lenient and known.isdisjoint(names) and not any(map(_LIKE_A_TYPE, names)):
            return NOT_OURS
        if not all(names):
            message = "a name is missing behind a dot"
            return NOT_OURS if lenient else Judgement(None, (Complaint(ERROR, "syntax", message, "remove the dot"),))
        spelled = self._spelling(opcode, names)
        effective = tuple(n for n in dict.fromkeys(names) if not self._is_ignored(opcode, n))
        count = None if shape is None else max(0, len(shape) - 1)
        variant, more = self._variant(opcode, effective, count)
        spelled += more
        errors = [c for c in spelled if c.severity == ERROR]
        if variant is None and shape and kinds.MALFORMED in shape:
            # Without the commas where they belong the operands cannot be counted.
            errors += [Complaint(ERROR, *_SOURCES[k], operand=i) for i, k in enumerate(shape) if k == kinds.MALFORMED]
            return Judgement(None, tuple(errors))
        if variant is None:
            if not errors:
                spelled.append(self._why_not(opcode, names, effective, types, count, target, ptx))
            return Judgement(None, tuple(c for c in spelled if c.severity == ERROR))
        complaints = spelled + self._refusals(variant, target, ptx)
        complaints += self._operands(variant, shape or ())
        if not any(c.severity == ERROR for c in complaints):
            complaints += self._notes(variant, effective)
        return Judgement(variant.spelling, tuple(complaints))

    def _refusals(self, variant: Variant, target: str | None, ptx: str | None) -> list[Complaint]:
        refused = refusals(self.db, variant, target, ptx)
        if not self.pairs:
            refused = tuple(r for r in refused if r.code != "target-unknown")
        names = variant.spelling.split(".")[1:]
        help = advice(self.db, variant.opcode, names, variant.operands, target, ptx) if refused else ""
        return [Complaint(ERROR, r.code, r.message, help, requires=variant.requires) for r in refused]

    # Names

    def _is_ignored(self, opcode: str, name: str) -> bool:
        return name in self._ignored_names and name not in self.db.opcodes[opcode].names

    def _spelling(self, opcode: str, names: Sequence[str]) -> list[Complaint]:
        """What the assembler says of names by themselves, whatever they are together."""
        found = []
        for i, n in enumerate(names):
            if n in names[:i]:
                if n in self.repeatable and n in self.db.opcodes[opcode].names:
                    message = f".{n} stands twice; the assembler does not mind"
                    found.append(Complaint(WARNING, "repeated-modifier", message, "write it once", i))
                    continue
                found.append(Complaint(ERROR, "repeated-modifier", f".{n} stands twice", "write it once", i))
            elif n in self.leading and n in self.db.opcodes[opcode].names and i:
                message = f".{n} must follow the opcode at once"
                found.append(Complaint(ERROR, "misplaced-modifier", message, f"begin with {opcode}.{n}", i))
            elif self._is_ignored(opcode, n):
                same = next(g for g in self.ignored if n in g)
                other = next((m for m in names[:i] if m in same), None)
                if other is not None:
                    message = f".{other} and .{n} exclude each other, and do nothing in {opcode}"
                    found.append(Complaint(ERROR, "excluding-modifiers", message, "remove both", i))
                else:
                    message = f"{opcode} has no .{n}; the assembler takes it, and it does nothing"
                    found.append(Complaint(WARNING, "ignored-modifier", message, "remove it", i))
        return found

    def _variant(self, opcode: str, names: Sequence[str], count: int | None) -> tuple[Variant | None, list[Complaint]]:
        wanted = frozenset(names)
        found = self.db.find(opcode, names, count)
        if found is not None:
            return found, []
        for t in self.db.opcodes[opcode].data["assembler"]["tolerated"]:
            if sorted(wanted) in t["names"] and count in (None, t["operands"]):
                # It needs what the spellings need that it stands for.
                types = self.db.split(names)[1]
                stands_for = [v for v in self.db.opcodes[opcode].variants if v.types == types and v.names > wanted]
                if stands_for:
                    spelled = ".".join((opcode, *names))
                    listed = ", ".join(v.spelling for v in stands_for if v.advisable)
                    message, help = f"{spelled}: {t['note']}", f"write one of {listed}" if listed else ""
                    complaint = Complaint(WARNING, "tolerated-spelling", message, help)
                    return stands_for[0]._replace(spelling=spelled), [complaint]
        return None, []

    def _why_not(
        self,
        opcode: str,
        names: Sequence[str],
        effective: Sequence[str],
        types: Sequence[str],
        count: int | None,
        target: str | None,
        ptx: str | None,
    ) -> Complaint:
        spelling = ".".join((opcode, *effective))
        unknown = [n for n in effective if n not in self.types and n not in self.modifiers]
        has = ", ".join(f".{'.'.join(t)}" for t in self.db.opcodes[opcode].types)
        if not types and not unknown:
            reason = Reason("missing-type", f"{spelling} has no type; {opcode} has {has}")
        elif not self.other_types.isdisjoint(types):
            asked = "".join(f".{t}" for t in types)
            reason = Reason(
                "illegal-type", f"{opcode} has no {asked}; its floating-point types are {has}, one at a time"
            )
        else:
            reason = why_not(self.db, spelling, count)[0]
        index = WHOLE
        if reason.code in ("unknown-modifier", "unknown-type", "illegal-modifier"):
            own = {n for v in self.db.opcodes[opcode].variants if v.types == tuple(types) for n in v.names}
            index = next((i for i, n in enumerate(names) if n in effective and n not in own), WHOLE)
        elif reason.code == "illegal-type" and types:
            index = next((i for i, n in enumerate(names) if n in self.other_types), names.index(types[-1]))
        help = advice(self.db, opcode, effective, count, target, ptx)
        return Complaint(ERROR, reason.code, reason.message, help, index)

    # Operands and notes

    def _operands(self, variant: Variant, shape: Shape) -> list[Complaint]:
        found = []
        for i, (kind, type_) in enumerate(zip(shape, self._types(variant, len(shape)), strict=True)):
            said = (_DESTINATIONS if i == 0 else _SOURCES).get(kind) or self._register(variant, kind, type_)
            if said is None and i and kind in (kinds.FLOAT, kinds.CONSTANT):
                if type_ not in self.immediates:
                    message = f"{variant.spelling} takes no constants"
                    said = ("illegal-immediate", message, "move the constant into a register first")
                elif kind == kinds.CONSTANT:
                    message = f"{variant.spelling} takes no integer constants"
                    said = ("illegal-immediate", message, "write it as a floating-point number, as in 1.0")
            if said is not None:
                found.append(Complaint(ERROR, *said, operand=i))
        return found

    def _types(self, variant: Variant, count: int) -> list[str]:
        """The type of each of the operands."""
        return [variant.result, *(s.type for s in variant.sources for _ in range(s.registers))][:count]

    def _register(self, variant: Variant, kind: str, type_: str) -> tuple[str, str, str] | None:
        """What the assembler says of a register of another type, where its declaration or constraint is known."""
        taken = self.registers.get(type_, ())
        is_ = self.constraints.get(kind) or ((kind,) if kind.startswith(".") else taken)
        if not taken or not set(taken).isdisjoint(is_):
            return None
        wanted = " or ".join(taken)
        takes = f"{variant.spelling} takes {wanted} here"
        if kind.startswith("."):
            return "illegal-register", f"{{operand}} is a {kind} register; {takes}", f"name a register of {wanted}"
        letters = [c for c, rs in self.constraints.items() if set(rs) <= set(taken)]
        help = f"write {' or '.join(letters)}" if letters else f"name a register of {wanted}"
        return "illegal-register", f"{{operand}} has the constraint {kind}, of {' or '.join(is_)}; {takes}", help

    def _notes(self, variant: Variant, names: Sequence[str]) -> list[Complaint]:
        found = []
        if variant.manual is None:
            message = f"the manual does not list {variant.spelling}; the assembler takes it"
            found.append(Complaint(NOTE, "undocumented", message))
        spelled = ".".join((variant.opcode, *names))
        if spelled != variant.spelling:
            message = f"the manual writes {variant.spelling}"
            found.append(Complaint(NOTE, "modifier-order", message, "the assembler takes any order"))
        return found
