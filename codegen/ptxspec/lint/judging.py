"""The assembler's verdict on one instruction, from the database alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..catalog.explaining import WHOLE, Advice, Reason, advice, explain, foreign_types, refusals
from ..catalog.likeness import are_near, is_other_function, nearest
from ..ptx import operands as kinds
from ..ptx.complaints import ERROR, NOTE, WARNING, Complaint
from ..ptx.matching import Matcher, count, in_braces, packed_of_one, unknown_names, unreadable
from ..ptx.operands import Shape
from ..query.database import Database, Variant
from .matrices import MatrixJudge
from .rules import DatabaseRules


class Judgement(NamedTuple):
    """The verdict on an instruction. `variant` is its spelling in NVIDIA's manual if it exists, and `found` the
    database's entry."""

    variant: str | None
    complaints: tuple[Complaint, ...]
    found: Variant | None = None


NOT_OURS = Judgement(None, ())
# A PTX instruction that the database does not have.
ELSEWHERE = Judgement(None, ())

# Other machines' assembly has names such as .s, .d, .w and .s0, but none of these.
_LIKE_A_TYPE = re.compile(
    r"[bsu]?fp?\d+(?:x\d+)?|b?float\d*|double|half|u?int\d+|i8|[bisu]\d{2,3}", re.IGNORECASE
).fullmatch
# C and other machines add letters at the ends of an opcode: fmaf, fadd.
_BY_OTHERS = re.compile(r"f?(\w+?)f?")


def misspelt(db: Database, opcode: str, names: Sequence[str], target: str | None, ptx: str | None) -> str | None:
    """Return the opcode of the database that was meant by one that PTX does not have, with its type if that completes
    it. None if it is unclear, empty if it means a function that PTX does not have. Vector units of other machines have
    opcodes that begin with v, and the same types."""
    if not any(names):
        glued = ((o, t) for o in db.opcodes for t in db.types if opcode == o + t)
        return next((_spelt(db, o, t, target, ptx) for o, t in glued), None)
    if not any(n in db.types or n in db.other_types for n in names):
        return None
    lower = opcode.lower()
    if is_other_function(lower, db.opcodes):
        return ""
    exchanged = [o for o in db.opcodes if sorted(o) == sorted(lower)]
    if exchanged or lower[0] == "v":
        return exchanged[0] if exchanged else None
    bare = _BY_OTHERS.fullmatch(lower)
    if bare and bare[1] in db.opcodes:
        return bare[1]
    return next((o for o in nearest(lower, db.opcodes, len(db.opcodes)) if are_near(lower, o)), None)


def _spelt(db: Database, opcode: str, type: str, target: str | None, ptx: str | None) -> str:
    """Return an opcode with its type if that is a complete spelling on current targets and on this one, else the
    opcode."""
    v = db.find(opcode, [type], None)
    if v is None or not db.catalog.is_current(v.requires):
        return opcode
    return v.spelling if db.takes(v, target, ptx) and db.is_advisable(v, target, ptx) else opcode


def _as_declared(c: Complaint, shapes: Sequence[Shape]) -> str:
    """Return the message of a complaint about one register of a vector, with the type of the vector."""
    shape = shapes[c.operand] if c.operand >= 0 else ""
    return (
        c.message.replace(f"is a {shape.split()[-1]} ", f"is a {shape} ")
        if isinstance(shape, str) and shape
        else c.message
    )


_Key = tuple[str, tuple[Shape, ...] | None, str | None, str | None, bool, frozenset[str]]


# Only the author of an unknown name knows what was meant.
GUESS = "if that was meant"


def _complaint(reason: Reason, help: str, name: int = WHOLE) -> Complaint:
    return Complaint(ERROR, reason.code, reason.message, help, name)


def _advised(reason: Reason, told: Advice, name: int = WHOLE) -> Complaint:
    doubt = GUESS if told.is_guess else ""
    return _complaint(reason, str(told), name)._replace(write=told.write, doubt=doubt)


def _mended(names: Sequence[str], reasons: Sequence[Reason]) -> Sequence[str]:
    """Return the names of a spelling with the wrong ones replaced by those that the reasons suggest."""
    instead = {r.name: r.write for r in reasons}
    return [instead.get(i) or n for i, n in enumerate(names)]


class InstructionJudge:
    """A judge of instructions. It remembers its verdicts."""

    def __init__(self, db: Database) -> None:
        self.db = db
        assembler = db.data["assembler"]
        self.types = db.types
        self.modifiers = db.modifiers
        self.other_types = db.other_types
        self.repeatable = frozenset(assembler["repeatable"])
        self.leading = frozenset(assembler["leading"])
        self.leading_on = {name: frozenset(opcodes) for name, opcodes in assembler["leading_on"].items()}
        self.matcher = Matcher(DatabaseRules(db))
        self.ignored = [frozenset(group) for group in assembler["ignored"]]
        self._ignored_names = frozenset().union(*self.ignored)
        self._known: dict[_Key, Judgement] = {}
        self.matrices = MatrixJudge(db)

    def judge(
        self,
        head: str,
        shapes: tuple[Shape, ...] | None,
        target: str | None,
        ptx: str | None,
        lenient: bool = False,
        free: frozenset[str] = frozenset(),
    ) -> Judgement:
        """Return the verdict on an instruction. `head` is the spelling without spaces; `shapes` are the kinds of all
        operands, the result's first, None if they are unknown. `lenient`: an instruction without any PTX name is
        another machine's. `free`: the kinds of operands that an asm statement has but does not use."""
        key = (head, shapes, target, ptx, lenient, free)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[key] = self._judge(*key)
        return found

    def _packs(self, opcode: str, spelling: str) -> bool:
        """Return whether a spelling is that of a variant that packs the registers of a vector."""
        about = self.db.opcodes.get(opcode)
        if about is None or "unpacks" not in about.data:
            return False
        return any(v.spelling == spelling and any(s.braced for s in v.sources) for v in about.variants)

    def _judge(
        self,
        head: str,
        shapes: tuple[Shape, ...] | None,
        target: str | None,
        ptx: str | None,
        lenient: bool,
        free: frozenset[str],
    ) -> Judgement:
        opcode, *names = head.split(".")
        types = [n for n in names if n in self.types or n in self.other_types]
        if lenient and not any(map(self._is_like_ptx, names)):
            return NOT_OURS
        if not all(names):
            message = "a name is missing after a dot"
            is_ours = types or not lenient
            return Judgement(None, (Complaint(ERROR, "syntax", message, "remove the dot"),)) if is_ours else NOT_OURS
        if opcode in self.matrices.opcodes:
            return Judgement(*self.matrices.complaints(head, shapes, target, ptx)) if names else NOT_OURS
        if self.db.is_elsewhere(opcode, names):
            return self._elsewhere(shapes or ()) if names else NOT_OURS
        if shapes is not None and self.matcher.is_elsewhere(opcode, shapes):
            return self._of_vectors(head, shapes, target, ptx, lenient, free) if names else NOT_OURS
        if shapes is not None and self._packs(opcode, head):
            shapes = packed_of_one(shapes)
        if foreign := tuple(foreign_types(self.db, opcode, names)):
            # Such a type belongs to another instruction, about which no more is known.
            mended = ".".join((opcode, *_mended(names, foreign)))
            return Judgement(None, tuple(_complaint(r, r.help, r.name)._replace(write=mended) for r in foreign))
        spelled = self._spelling(opcode, names)
        effective = self._effective(opcode, names)
        registers = None if shapes is None else count(shapes, self.matcher.unpacks(opcode, shapes))
        variant, more = self._variant(opcode, effective, registers, target, ptx)
        spelled += more
        errors = [c for c in spelled if c.severity == ERROR]
        if variant is None:
            # Without the commas between them operands cannot be counted.
            counted = None if shapes is None or kinds.MALFORMED in shapes else registers
            if counted == registers or self._variant(opcode, effective, None, target, ptx)[0] is None:
                errors += self._why_not(opcode, names, effective, counted, target, ptx)
            return Judgement(None, (*errors, *unreadable(shapes or ())))
        complaints = spelled + self._refusals(variant, target, ptx)
        complaints += self.matcher.complaints(variant, shapes or (), free)
        if not any(c.severity == ERROR for c in complaints):
            complaints += self._notes(variant, effective, target, ptx)
        return Judgement(variant.spelling, tuple(complaints), variant)

    def _elsewhere(self, shapes: Sequence[Shape]) -> Judgement:
        """Return the verdict on another instruction, of which only the names of operands can be checked."""
        complaints = unknown_names(shapes)
        return Judgement(None, tuple(complaints)) if complaints else ELSEWHERE

    def _of_vectors(
        self,
        head: str,
        shapes: Sequence[Shape],
        target: str | None,
        ptx: str | None,
        lenient: bool,
        free: frozenset[str],
    ) -> Judgement:
        """Return the verdict on an instruction with registers that are vectors. Each is checked like its registers in
        braces."""
        found = self._judge(head, tuple(map(in_braces, shapes)), target, ptx, lenient, free)
        wrong = [c._replace(part=WHOLE) for c in found.complaints if c.severity == ERROR]
        if wrong and found.variant is None and len(shapes) == 2:
            place = next(i for i, shape in enumerate(shapes) if in_braces(shape) != shape)
            message, help = f"{{operand}} is a vector; {head} takes one register here", "name an element, as in v.x"
            return Judgement(None, (Complaint(ERROR, "illegal-operand", message, help, operand=place),))
        wrong = [c._replace(message=_as_declared(c, shapes)) for c in wrong[:1]]
        return Judgement(None, tuple(wrong)) if wrong else ELSEWHERE

    def _refusals(self, variant: Variant, target: str | None, ptx: str | None) -> list[Complaint]:
        # The assembler does not crash on a spelling that it refuses. An unsupported target is reported in the header
        # only.
        refused = sorted(refusals(self.db, variant, target, ptx), key=lambda r: r.code == "assembler-crash")
        refused = [r for r in refused if r.code != "target-unknown"]
        # A tolerated spelling is not in the database.
        names = variant.spelling.split(".")[1:]
        told = advice(self.db, variant.opcode, names, variant.operands, target, ptx) if refused else Advice("")
        # The first PTX version that supports it may depend on the target.
        needs = variant.requires._replace(ptx=self.db.catalog.window(variant.requires, target)[0])
        return [_advised(r, told)._replace(requires=needs) for r in refused]

    # Names

    def apart(self, head: str) -> Complaint | None:
        """Return the complaint about a modifier that must directly follow the opcode, and does not in `head`."""
        opcode, *names = head.split(".")
        first = names[0].strip() if names else ""
        if opcode == opcode.rstrip() or not self._is_leading(opcode.rstrip().lower(), first):
            return None
        opcode = opcode.rstrip().lower()
        message = f".{first} must directly follow the opcode, without a space"
        write = ".".join((opcode, *map(str.strip, names)))
        return Complaint(ERROR, "misplaced-modifier", message, f"write {opcode}.{first}", 0, write=write)

    def _is_leading(self, opcode: str, name: str) -> bool:
        """Return whether a modifier must directly follow an opcode."""
        return name in self.leading or opcode in self.leading_on.get(name, ())

    def _is_like_ptx(self, name: str) -> bool:
        known = name in self.types or name in self.modifiers or name in self.other_types
        lower = name.lower()
        return known or lower in self.types or lower in self.other_types or _LIKE_A_TYPE(name) is not None

    def _once(self, names: Sequence[str]) -> Iterator[str]:
        """Yield each name once, and types as often as they occur."""
        seen = set()
        for n in names:
            if n not in seen or n in self.types or n in self.other_types:
                seen.add(n)
                yield n

    def _effective(self, opcode: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names that have an effect, without ineffective repetitions."""
        return tuple(n for n in self._once(names) if not self._is_ignored(opcode, n))

    def _is_ignored(self, opcode: str, name: str) -> bool:
        return name in self._ignored_names and name not in self.db.opcodes[opcode].names

    def _spelling(self, opcode: str, names: Sequence[str]) -> list[Complaint]:
        """Return the assembler's complaints about single names."""
        found = []
        first: dict[str, int] = {}
        once = ".".join((opcode, *self._once(names)))
        for i, n in enumerate(names):
            if n in self.types or n in self.other_types:
                continue
            if first.setdefault(n, i) < i:
                if n in self.repeatable and n in self.db.opcodes[opcode].names:
                    message = f".{n} appears twice; the assembler accepts it"
                    found.append(Complaint(WARNING, "repeated-modifier", message, "write it once", i, write=once))
                    continue
                message = f".{n} appears twice"
                found.append(Complaint(ERROR, "repeated-modifier", message, "write it once", i, write=once))
            elif i and self._is_leading(opcode, n) and n in self.db.opcodes[opcode].names:
                message = f".{n} must directly follow the opcode"
                write = ".".join((opcode, n, *names[:i], *names[i + 1 :]))
                found.append(
                    Complaint(ERROR, "misplaced-modifier", message, f"begin with {opcode}.{n}", i, write=write)
                )
            elif self._is_ignored(opcode, n):
                same = next(g for g in self.ignored if n in g)
                other = min(same & first.keys(), key=first.__getitem__)
                if other != n:
                    message = f".{other} and .{n} exclude each other, and have no effect in {opcode}"
                    write = ".".join((opcode, *self._effective(opcode, names)))
                    found.append(Complaint(ERROR, "excluding-modifiers", message, "remove both", i, write=write))
                else:
                    message = f"{opcode} has no .{n}; the assembler accepts it, but it has no effect"
                    write = ".".join((opcode, *self._effective(opcode, names)))
                    found.append(Complaint(WARNING, "ignored-modifier", message, "remove it", i, write=write))
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
                # Its requirement is that of the spellings that it abbreviates.
                types = self.db.split(names)[1]
                same_types = self.db.opcodes[opcode].by_types.get(types, ())
                stands_for = [v for v in same_types if v.names > wanted]
                if stands_for:
                    spelled = ".".join((opcode, *names))
                    fitting = (v for v in stands_for if self.db.takes(v, target, ptx))
                    listed = [v.spelling for v in fitting if self.db.is_advisable(v, target, ptx)]
                    message, help = f"{spelled}: {t['note']}", f"write one of {', '.join(listed)}" if listed else ""
                    kind = (ERROR, "assembler-crash") if t.get("crash") else (WARNING, "tolerated-spelling")
                    complaint = Complaint(*kind, message, help, write=listed[0] if len(listed) == 1 else "")
                    return stands_for[0]._replace(spelling=spelled), [complaint]
        return None, []

    def _why_not(
        self,
        opcode: str,
        names: Sequence[str],
        effective: Sequence[str],
        count: int | None,
        target: str | None,
        ptx: str | None,
    ) -> list[Complaint]:
        why = explain(self.db, ".".join((opcode, *effective)), count, target, ptx)
        places = (WHOLE if r.name == WHOLE else names.index(effective[r.name]) for r in why.reasons)
        return [_advised(r, why.advice, i) for r, i in zip(why.reasons, places, strict=True)]

    # Notes on correct instructions

    def _notes(self, variant: Variant, names: Sequence[str], target: str | None, ptx: str | None) -> list[Complaint]:
        found = []
        hazard = self.db.catalog.hazard_text(variant, target, ptx)
        if hazard is not None:
            message = f"{variant.spelling} is a hazard{f' on {target}' if target else ''}. {hazard.rstrip('.')}"
            found.append(Complaint(WARNING, "hazard", message))
        if variant.manual is None:
            message = f"NVIDIA's manual does not list {variant.spelling}; the assembler accepts it"
            found.append(Complaint(NOTE, "undocumented", message))
        spelled = ".".join((variant.opcode, *names))
        if spelled != variant.spelling:
            message = f"NVIDIA's manual writes {variant.spelling}"
            help = "the assembler accepts any order"
            found.append(Complaint(NOTE, "modifier-order", message, help, write=variant.spelling))
        return found
