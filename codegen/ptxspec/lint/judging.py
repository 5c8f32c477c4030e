"""The assembler's verdict on one instruction, from the database alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..ptx import operands as kinds
from ..ptx.complaints import ERROR, NOTE, WARNING, WHOLE, Complaint
from ..ptx.matching import Matcher, count, unreadable
from ..ptx.operands import Shape
from ..query.alike import advice
from ..query.database import Database, Variant
from ..query.verdicts import Reason, forms_text, refusals, why_not
from .rules import DatabaseRules


class Judgement(NamedTuple):
    """`variant` is the spelling as the manual writes it, where it exists."""

    variant: str | None
    complaints: tuple[Complaint, ...]


NOT_OURS = Judgement(None, ())

# Other machines' assembly has names such as .s, .d and .w, but none of these.
_LIKE_A_TYPE = re.compile(r"b?f\d+(?:x\d+)?").fullmatch


class InstructionJudge:
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
        self.matcher = Matcher(DatabaseRules(db))
        self.ignored = [frozenset(group) for group in assembler["ignored"]]
        self._ignored_names = frozenset().union(*self.ignored)
        self._known: dict[tuple[str, tuple[Shape, ...] | None, str | None, str | None, bool], Judgement] = {}

    def judge(
        self,
        head: str,
        shapes: tuple[Shape, ...] | None,
        target: str | None,
        ptx: str | None,
        lenient: bool = False,
    ) -> Judgement:
        """`head` is the spelling without spaces; `shapes` the kinds of all operands, the result's first, None where
        they are not known. `lenient`: what has no PTX name at all is another machine's."""
        key = (head, shapes, target, ptx, lenient)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[key] = self._judge(head, shapes, target, ptx, lenient)
        return found

    def _judge(
        self, head: str, shapes: tuple[Shape, ...] | None, target: str | None, ptx: str | None, lenient: bool
    ) -> Judgement:
        opcode, *names = head.split(".")
        types = [n for n in names if n in self.types or n in self.other_types]
        if self.db.is_elsewhere(opcode, names) or self.matcher.is_elsewhere(opcode, shapes):
            return NOT_OURS
        known = self.types | self.modifiers | self.other_types
        if lenient and known.isdisjoint(names) and not any(map(_LIKE_A_TYPE, names)):
            return NOT_OURS
        if not all(names):
            message = "a name is missing behind a dot"
            return NOT_OURS if lenient else Judgement(None, (Complaint(ERROR, "syntax", message, "remove the dot"),))
        spelled = self._spelling(opcode, names)
        effective = self._effective(opcode, names)
        registers = None if shapes is None else count(shapes, self.matcher.unpacks(opcode, shapes))
        variant, more = self._variant(opcode, effective, registers, target, ptx)
        spelled += more
        errors = [c for c in spelled if c.severity == ERROR]
        if variant is None and shapes and kinds.MALFORMED in shapes:
            return Judgement(None, (*errors, *unreadable(shapes)))
        if variant is None:
            if not errors:
                spelled.append(self._why_not(opcode, names, effective, types, registers, target, ptx))
            return Judgement(None, tuple(c for c in spelled if c.severity == ERROR))
        complaints = spelled + self._refusals(variant, target, ptx)
        complaints += self.matcher.complaints(variant, shapes or ())
        if not any(c.severity == ERROR for c in complaints):
            complaints += self._notes(variant, effective, target, ptx)
        return Judgement(variant.spelling, tuple(complaints))

    def _refusals(self, variant: Variant, target: str | None, ptx: str | None) -> list[Complaint]:
        refused = refusals(self.db, variant, target, ptx)
        if not self.pairs:
            refused = tuple(r for r in refused if r.code != "target-unknown")
        names = variant.spelling.split(".")[1:]
        help = advice(self.db, variant.opcode, names, variant.operands, target, ptx) if refused else ""
        return [Complaint(ERROR, r.code, r.message, help, requires=variant.requires) for r in refused]

    # Names

    def _effective(self, opcode: str, names: Sequence[str]) -> tuple[str, ...]:
        """Each name once, types as often as they stand."""
        found, seen = [], set()
        for n in names:
            if n not in seen or n in self.types or n in self.other_types:
                seen.add(n)
                if not self._is_ignored(opcode, n):
                    found.append(n)
        return tuple(found)

    def _is_ignored(self, opcode: str, name: str) -> bool:
        return name in self._ignored_names and name not in self.db.opcodes[opcode].names

    def _spelling(self, opcode: str, names: Sequence[str]) -> list[Complaint]:
        """What the assembler says of names by themselves, whatever they are together."""
        found = []
        first: dict[str, int] = {}
        for i, n in enumerate(names):
            if n in self.types or n in self.other_types:
                continue
            if first.setdefault(n, i) < i:
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
                other = min(same & first.keys(), key=first.__getitem__)
                if other != n:
                    message = f".{other} and .{n} exclude each other, and do nothing in {opcode}"
                    found.append(Complaint(ERROR, "excluding-modifiers", message, "remove both", i))
                else:
                    message = f"{opcode} has no .{n}; the assembler takes it, and it does nothing"
                    found.append(Complaint(WARNING, "ignored-modifier", message, "remove it", i))
        return found

    def _variant(
        self, opcode: str, names: Sequence[str], count: int | None, target: str | None, ptx: str | None
    ) -> tuple[Variant | None, list[Complaint]]:
        wanted = frozenset(names)
        found = self.db.find(opcode, names, count)
        if found is not None:
            return found, []
        for t in self.db.opcodes[opcode].data["assembler"]["tolerated"]:
            if sorted(names) in t["names"] and count in (None, t["operands"]):
                # It needs what the spellings need that it stands for.
                types = self.db.split(names)[1]
                stands_for = [v for v in self.db.opcodes[opcode].variants if v.types == types and v.names > wanted]
                if stands_for:
                    spelled = ".".join((opcode, *names))
                    fitting = (v for v in stands_for if self.db.takes(v, target, ptx))
                    listed = ", ".join(v.spelling for v in fitting if self.db.is_advisable(v, target, ptx))
                    message, help = f"{spelled}: {t['note']}", f"write one of {listed}" if listed else ""
                    kind = (ERROR, "assembler-crash") if t.get("crash") else (WARNING, "tolerated-spelling")
                    complaint = Complaint(*kind, message, help)
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
        has = forms_text(self.db.opcodes[opcode], types)
        if not types and not unknown:
            reason = Reason("missing-type", f"{spelling} has no type; {opcode} has {has}")
        elif not self.other_types.isdisjoint(types):
            asked = "".join(f".{t}" for t in types)
            reason = Reason("illegal-type", f"{opcode} has no {asked}; it has {has}")
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

    # Where it is right

    def _notes(self, variant: Variant, names: Sequence[str], target: str | None, ptx: str | None) -> list[Complaint]:
        found = []
        hazard = self.db.hazard(variant, target, ptx)
        if hazard is not None:
            message = f"{variant.spelling} is a hazard{f' on {target}' if target else ''}. {hazard.rstrip('.')}"
            found.append(Complaint(WARNING, "hazard", message))
        if variant.manual is None:
            message = f"the manual does not list {variant.spelling}; the assembler takes it"
            found.append(Complaint(NOTE, "undocumented", message))
        spelled = ".".join((variant.opcode, *names))
        if spelled != variant.spelling:
            message = f"the manual writes {variant.spelling}"
            found.append(Complaint(NOTE, "modifier-order", message, "the assembler takes any order"))
        return found
