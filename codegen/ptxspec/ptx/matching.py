"""The operands of a statement against the signature of its variant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..catalog.explaining import WHOLE
from . import constants, operands as kinds
from .complaints import ERROR, Complaint
from .operands import Shape


class SourceOperand(Protocol):
    """A source operand: its type, and the number of its registers, in braces or one by one."""

    @property
    def type(self) -> str: ...
    @property
    def registers(self) -> int: ...
    @property
    def braced(self) -> bool: ...
    @property
    def negatable(self) -> bool: ...


class Matched(Protocol):
    """A variant. `result` and `second` are types: a second result may only be omitted if the first has the same type.
    `result_registers` is the number of its lanes in p0|p1, else 1."""

    @property
    def opcode(self) -> str: ...
    @property
    def spelling(self) -> str: ...
    @property
    def result(self) -> str: ...
    @property
    def result_registers(self) -> int: ...
    @property
    def second(self) -> str | None: ...
    @property
    def sources(self) -> Sequence[SourceOperand]: ...


class Rules(Protocol):
    """The rules of the assembler: for every instruction, for one opcode, and for a variant."""

    @property
    def assembler(self) -> Mapping[str, Any]: ...
    def has_two_results(self, opcode: str) -> bool: ...
    def has_vectors_elsewhere(self, opcode: str) -> bool: ...
    def unpacks(self, opcode: str) -> bool: ...
    def operand_rules(self, v: Any) -> Iterable[Mapping[str, Any]]: ...


# A code, a message and its help.
_Said = tuple[str, str, str]

_CONSTANTS = (constants.INTEGER, constants.SINGLE, constants.DOUBLE)
_ADDRESS = "address"
_NO_NUMBERS: dict[str, _Said] = {
    constants.OVERFLOW: ("illegal-immediate", "the value is out of range for a double",
        "write 0, or between 2.3e-308 and 1.7e308"),
    constants.INTEGER_OVERFLOW: ("illegal-immediate", "the value is out of range for an integer of 64 bits",
        "write an integer of 64 bits, and do not divide by 0"),
    constants.MIXED: ("illegal-immediate", "a floating-point number is not allowed where integers are computed",
        "write all as floating-point numbers, as in 1.0 + 1.0, or all as integers"),
}  # fmt: skip
_NAMES: dict[str, _Said] = {
    kinds.UNDECLARED: ("undeclared-register", "{operand} is not declared here", "declare it first, with .reg"),
    kinds.PART: (
        "illegal-operand",
        "{operand} is not an element of a vector",
        "name a register, or an element of a vector, as in v.x",
    ),
    kinds.BEYOND: ("undeclared-register", "the asm statement has no operand {operand}", "the first one is number 0"),
    kinds.MALFORMED: (
        "syntax",
        "this is not an operand",
        "write registers or constants (1.0, 0f3F800000), separated by commas",
    ),
}
# The assembler's errors for source operands that are not registers.
_SOURCES: dict[str, _Said] = {
    kinds.VECTOR: ("illegal-operand", "a vector is not allowed here", "name one register"),
    kinds.ADDRESS: ("illegal-operand", "an address is not allowed here", "load the value into a register first"),
    kinds.NEGATED: ("illegal-operand", "a register cannot be negated here", "negate it with a separate instruction"),
    kinds.INVERTED: ("illegal-operand", "a register cannot be negated here", "negate it with a separate instruction"),
    kinds.DISCARD: ("syntax", "`_` cannot be a source operand", "name a register"),
    kinds.SUM: ("illegal-operand", "{operand} is an address, which is not allowed here",
        "load the value into a register first"),
    kinds.PAIR: ("syntax", "a source operand must be one register", "name one register"),
    kinds.VARIABLE: ("illegal-operand", "{operand} is a variable, which cannot be read here",
        "load the value into a register first"),
    **dict.fromkeys(kinds.SPECIALS, ("illegal-operand", "{operand} is a special register, which cannot be read here",
        "move it into a register first, and convert that")),
    **_NO_NUMBERS,
    **_NAMES,
}  # fmt: skip
# The kinds of names that are wrong in any instruction.
_UNKNOWN = (kinds.BEYOND, kinds.UNDECLARED)
# The sorts of constants that accept a name that is not a register's.
_NAMED = {
    **{kind: frozenset([kind]) for kind in (kinds.SPECIAL, kinds.WIDE_SPECIAL, kinds.PREDICATE_SPECIAL)},
    kinds.NARROW_SPECIAL: frozenset([kinds.SPECIAL, kinds.NARROW_SPECIAL]),
    kinds.ANY_SPECIAL: frozenset([kinds.SPECIAL, kinds.NARROW_SPECIAL, kinds.WIDE_SPECIAL]),
    kinds.VARIABLE: frozenset(["variable"]),
    kinds.SUM: frozenset(["variable", "sum"]),
}
# The sizes in which instructions may read special registers.
_READ_AS = {
    kinds.SPECIAL: "32 bits",
    kinds.NARROW_SPECIAL: "16 or 32 bits",
    kinds.WIDE_SPECIAL: "64 bits",
    kinds.ANY_SPECIAL: "16, 32 or 64 bits",
    kinds.PREDICATE_SPECIAL: "a predicate",
}
_NO_CONSTANT = ("illegal-operand", "{operand} must be a constant here", "write an integer, as in 0x96")
_HELD = (*kinds.SPECIALS, kinds.VARIABLE, kinds.SUM, kinds.NEGATED, kinds.INVERTED, kinds.FUNCTION)
_FUNCTION = ("illegal-operand", "{operand} is a function, which cannot be read here", "name a register")
# Nothing can be added to these.
_NO_BASES: dict[str, _Said] = {
    kinds.FUNCTION: (
        "illegal-operand",
        "{operand} is a function, to which nothing can be added",
        "name the function alone",
    ),
    kinds.UNDECLARED: _NAMES[kinds.UNDECLARED],
}
_IN_VECTORS = {kinds.FUNCTION: _FUNCTION, kinds.SUM: _NAMES[kinds.MALFORMED]}
_NOT_PACKED_ALONE = (kinds.FUNCTION, kinds.SUM, kinds.EXPRESSION, kinds.DISCARD)
_NO_REGISTER = ("illegal-destination", "the result must be a register", "name a register")
_NEEDS_BOTH = ("illegal-destination", "the second result cannot be left out", "write both, as in d|q")
_DESTINATIONS: dict[str, _Said] = {
    **dict.fromkeys((*_CONSTANTS, *_NO_NUMBERS, kinds.SUM), _NO_REGISTER),
    kinds.VECTOR: ("illegal-destination", "the result cannot be a vector", "name one register"),
    kinds.ADDRESS: ("illegal-destination", "the result cannot be in memory", "name a register and store that"),
    kinds.NEGATED: ("illegal-destination", "the result cannot be negated", "negate it with a separate instruction"),
    kinds.INVERTED: ("illegal-destination", "the result cannot be negated", "negate it with a separate instruction"),
    kinds.DISCARD: (
        "illegal-destination",
        "the result cannot be discarded; the assembler stops here",
        "name a register",
    ),
    kinds.PAIR: ("illegal-destination", "there is no second result", "name one register"),
    **dict.fromkeys(
        kinds.SPECIALS,
        ("illegal-destination", "{operand} is a special register, which cannot be written", "name a register"),
    ),
    kinds.FUNCTION: ("illegal-destination", "{operand} is a function", "name a register"),
    kinds.VARIABLE: ("illegal-destination", "{operand} is a variable", "name a register and store that"),
    **_NAMES,
}


def count(shapes: Sequence[Shape], unpacks: bool = False) -> int:
    """Return the number of source registers in a statement; if it unpacks, in the statement that packs the same."""
    if unpacks:
        return len(shapes[0]) - 1
    return sum(len(s) - 1 if _kind(s) == kinds.VECTOR else 1 for s in shapes[1:])


def in_braces(shape: Shape) -> Shape:
    """Return the shape of a register that is declared as a vector, written as its registers in braces."""
    if not isinstance(shape, str) or not shape.startswith(".v"):
        return shape
    lanes, type = shape.split()
    return (kinds.VECTOR, *[type] * int(lanes[2:]))


def packed_of_one(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Return the shapes with a vector of one operand replaced by that operand: packing it changes nothing."""
    vectors = [i for i, s in enumerate(shapes) if _kind(s) == kinds.VECTOR]
    if len(shapes) != 2 or len(vectors) != 1:
        return shapes
    (place,) = vectors
    parts = shapes[place][1:]
    if len(parts) != 1 or parts[0] in _NOT_PACKED_ALONE:
        return shapes
    return (*shapes[:place], parts[0], *shapes[place + 1 :])


def _kind(shape: Shape) -> str:
    return shape if isinstance(shape, str) else shape[0]


def _constrained(shape: Shape, part: int) -> list[str]:
    """Return the constraint of an operand, or of a part of one; empty if it has none."""
    kinds_of_it = [shape] if isinstance(shape, str) else shape[1:] if part == WHOLE else shape[1 + part : 2 + part]
    return [kind for kind in kinds_of_it if kind.startswith('"')]


def mixed(parts: Sequence[str], operand: int) -> list[Complaint]:
    """Return the complaint about a vector whose registers are neither bits nor of one sort; signedness does not
    matter."""
    sorts = {"integer" if kind[1] in "su" else kind for kind in parts if kind.startswith(".") and kind[1] != "b"}
    if len(sorts) < 2:
        return []
    message = "the registers of a vector must have one type, or be bits"
    return [Complaint(ERROR, "illegal-register", message, "declare them with the same type", operand=operand)]


def unreadable(shapes: Sequence[Shape]) -> list[Complaint]:
    """Return the complaints about unreadable operands: without the commas between them the others cannot be counted."""
    said = _SOURCES[kinds.MALFORMED]
    return [Complaint(ERROR, *said, operand=i) for i, s in enumerate(shapes) if s == kinds.MALFORMED]


def unknown_names(shapes: Sequence[Shape]) -> list[Complaint]:
    """Return the complaints about operands that the asm statement does not have, and about unknown names."""
    found = []
    for i, shape in enumerate(shapes):
        parts = [(WHOLE, shape)] if isinstance(shape, str) else enumerate(shape[1:])
        found += [Complaint(ERROR, *_NAMES[k], operand=i, part=p) for p, k in parts if k in _UNKNOWN]
    return found


class Matcher:
    """A check of operands against a variant, as the assembler makes it."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        assembler = rules.assembler
        self._registers: dict[str, Any] = assembler["registers"]
        self._constants: dict[str, Any] = assembler["constants"]
        self._letters = {f'"{c}"': tuple(f".{r}" for r in rs) for c, rs in assembler["constraints"].items()}
        self._free: frozenset[str] = frozenset()

    def unpacks(self, opcode: str, shapes: Sequence[Shape] | None) -> bool:
        """Return whether a statement is in the opposite direction, with a vector as its result."""
        return shapes is not None and [_kind(s) for s in shapes[:1]] == [kinds.VECTOR] and self._rules.unpacks(opcode)

    def is_elsewhere(self, opcode: str, shapes: Sequence[Shape]) -> bool:
        """Return whether operands are those of other instructions with this name."""
        others = self._rules.has_vectors_elsewhere(opcode)
        kinds_of_all = [_kind(s) for s in shapes]
        # A register may be declared as a vector.
        return others and any(k.startswith(".v") for k in kinds_of_all)

    def complaints(self, v: Matched, shapes: Sequence[Shape], free: frozenset[str] = frozenset()) -> list[Complaint]:
        """Return the complaints about operands. `shapes` are the kinds of all operands, the result's first. `free` are
        the constraints of operands that the asm statement has but does not use: if one of them fits, it may be what was
        meant, and no other fix is given."""
        self._free = free
        found = self._complaints(v, shapes)
        wrong = {kind for c in found if c.operand != WHOLE for kind in _constrained(shapes[c.operand], c.part)}
        if len(wrong) > 1:
            # An operand in a wrong place may belong in another one.
            self._free = free | wrong
            found = self._complaints(v, shapes)
        if any(c.code == "undeclared-register" for c in found):
            # If the list of operands is too short, all of those that it has may be in wrong places.
            found = [c._replace(help="") if c.code == "illegal-register" else c for c in found]
        return found

    def _complaints(self, v: Matched, shapes: Sequence[Shape]) -> list[Complaint]:
        if self.unpacks(v.opcode, shapes):
            return self._unpacking(v, shapes)
        found = self._result(v, shapes[0]) if shapes else []
        wanted = [s for s in v.sources for _ in range(1 if s.braced else s.registers)]
        # At different lengths, a vector is in a wrong place, and nothing after it can be matched.
        for i, (source, shape) in enumerate(zip(wanted, shapes[1:], strict=False), 1):
            is_vector = _kind(shape) == kinds.VECTOR
            if is_vector and source.braced:
                found += self._vector(v, source, shape, i)
                continue
            said = self._source(v, source, shape)
            if source.braced:
                message = f"a vector of {source.registers} registers is required here"
                said = "illegal-operand", message, "write them in braces"
            is_base = _kind(shape) == kinds.SUM and shape[1] in _NO_BASES
            is_inside = is_base or (source.negatable and _kind(shape) == kinds.INVERTED)
            part = 0 if is_inside else WHOLE
            found += [Complaint(ERROR, *said, operand=i, part=part)] if said else []
            if is_vector or source.braced:
                break
        return found

    def _unpacking(self, v: Matched, shapes: Sequence[Shape]) -> list[Complaint]:
        """Return the complaints about a statement in the opposite direction: the vector that is the source of `v` is
        the result."""
        lanes, (vector, *sources) = v.sources[0], shapes
        if len(sources) != 1:
            registers = ", ".join(f"d{i}" for i in range(len(vector) - 1))
            message = f"{v.spelling} unpacks one operand, not {len(sources) or 'none'}"
            return [Complaint(ERROR, "operand-count", message, f"write {v.spelling} {{{registers}}}, a")]
        if not lanes.braced:
            return [Complaint(ERROR, *_DESTINATIONS[kinds.VECTOR], operand=0)]
        if sources and _kind(sources[0]) == kinds.VECTOR:
            message = "one operand must be a vector, and the other a register"
            return [Complaint(ERROR, "illegal-operand", message, "write one of the two as a register", operand=1)]
        parts = [kind for kind in vector[1:] if kind != kinds.DISCARD]
        found = [] if parts else [Complaint(ERROR, *_NO_REGISTER, operand=0)]
        for i, kind in enumerate(vector[1:]):
            said = None if kind == kinds.DISCARD else self._destination(v, kind, lanes.type)
            found += [Complaint(ERROR, *said, operand=0, part=i)] if said else []
        found = found or mixed(parts, 0)
        said = self._unpacked(v, sources[0]) if sources else None
        return [*found, *([Complaint(ERROR, *said, operand=1)] if said else [])]

    def _unpacked(self, v: Matched, shape: Shape) -> _Said | None:
        """Return the error in an operand that is unpacked: it must be a register or a constant of the type in the
        spelling."""
        written = v.spelling.rpartition(".")[2]
        kind = _kind(shape)
        if kind in (*_CONSTANTS, kinds.FUNCTION):
            return self._constant(v, kind, written)
        if self._is_named(v, kind, written):
            return None
        return _SOURCES.get(kind) or self._register(v, kind, v.result)

    def _result(self, v: Matched, shape: Shape) -> list[Complaint]:
        has_two = v.second is not None or v.result_registers > 1
        types = [v.result, v.second or v.result]
        needs_two = v.second not in (None, v.result)
        parts = shape[1:] if _kind(shape) == kinds.PAIR else ()
        if parts and (has_two or parts[1] == kinds.DISCARD):
            # A second result may be discarded even if there is none.
            said = [
                None if p == kinds.DISCARD else self._destination(v, p, t) for p, t in zip(parts, types, strict=True)
            ]
            said[1] = _NEEDS_BOTH if needs_two and parts[1] == kinds.DISCARD else said[1]
            return [Complaint(ERROR, *s, operand=0, part=i) for i, s in enumerate(said) if s]
        if needs_two:
            return [Complaint(ERROR, *_NEEDS_BOTH, operand=0)]
        # The result may be discarded if some variant of the opcode has two results.
        if shape == kinds.DISCARD and self._rules.has_two_results(v.opcode):
            return []
        whole = self._destination(v, shape, v.result)
        return [Complaint(ERROR, *whole, operand=0)] if whole else []

    def _destination(self, v: Matched, shape: Shape, type: str) -> _Said | None:
        return _DESTINATIONS.get(_kind(shape)) or self._register(v, _kind(shape), type)

    def _source(self, v: Matched, source: SourceOperand, shape: Shape) -> _Said | None:
        kind = _kind(shape)
        if kind == kinds.INVERTED and source.negatable:
            kind = shape[1]
            if kind == kinds.FUNCTION:
                return _FUNCTION
        if kind in (*_CONSTANTS, kinds.FUNCTION):
            return self._constant(v, kind, source.type)
        held = self._taken(v, "registers", source.type, self._registers.get(source.type))
        if held is not None and not held and (kind[0] in '."' or kind in _HELD):
            return _NO_CONSTANT
        if kind == kinds.SUM and shape[1] in _NO_BASES:
            return _NO_BASES[shape[1]]
        if (kind == kinds.SUM and shape[1] != kinds.VARIABLE) or self._is_named(v, kind, source.type):
            return None
        if kind in _READ_AS and self._reads_special(v):
            return "illegal-operand", f"{{operand}} is read as {_READ_AS[kind]}", "use a type of that size"
        return _SOURCES.get(kind) or self._register(v, kind, source.type)

    def _reads_special(self, v: Matched) -> bool:
        """Return whether an instruction reads special registers with some of its types."""
        rules = (rule.get("constants", {}) for rule in self._rules.operand_rules(v))
        return any(not _READ_AS.keys().isdisjoint(taken) for types in rules for taken in types.values())

    def _vector(self, v: Matched, source: SourceOperand, shape: Shape, operand: int) -> list[Complaint]:
        if len(shape) - 1 != source.registers:
            message = f"a vector of {source.registers} registers is required here, not of {len(shape) - 1}"
            return [Complaint(ERROR, "illegal-operand", message, operand=operand)]
        found = []
        for i, kind in enumerate(shape[1:]):
            # The types of integers and special registers depend on the operands beside them.
            if kind not in (constants.INTEGER, *kinds.SPECIALS):
                said = _IN_VECTORS.get(kind) or self._source(v, source, kind)
                found += [Complaint(ERROR, *said, operand=operand, part=i)] if said else []
        return found or mixed(shape[1:], operand)

    def _is_named(self, v: Matched, kind: str, type: str) -> bool:
        """Return whether an operand is a name that is not a register's, and that the assembler accepts."""
        taken = self._taken(v, "constants", type, self._constants.get(type))
        return kind in _NAMED and not _NAMED[kind].isdisjoint(taken or ())

    def _constant(self, v: Matched, kind: str, type: str) -> _Said | None:
        taken = self._taken(v, "constants", type, self._constants.get(type))
        if taken is None or (_ADDRESS if kind == kinds.FUNCTION else kind) in taken:
            return None
        if kind == kinds.FUNCTION:
            return _FUNCTION
        taken = [t for t in taken if t in _CONSTANTS]
        if not taken:
            return (
                "illegal-immediate",
                f"{v.spelling} takes no constants here",
                "move the constant into a register first",
            )
        if constants.DOUBLE in taken and kind == constants.INTEGER:
            help = "write it as a floating-point number, as in 1.0"
            return "illegal-immediate", f"{v.spelling} takes no integer constants here", help
        form = {"integer": "an integer", "single": "bits, as in 0f3F800000", "double": "a double, as in 1.0"}
        help = f"write {' or '.join(form[t] for t in taken)}"
        return "illegal-immediate", f"{v.spelling} does not take a constant of this kind here", help

    def _register(self, v: Matched, kind: str, type: str) -> _Said | None:
        """Return the complaint about a register of another type, if its declaration or constraint is known."""
        taken = self.registers(v, type)
        is_ = self._letters.get(kind) or ((kind,) if kind.startswith(".") else taken)
        if not taken or not set(taken).isdisjoint(is_):
            return None
        wanted = " or ".join(taken)
        takes = f"{v.spelling} takes {wanted} here"
        if kind.startswith("."):
            return "illegal-register", f"{{operand}} is a {kind} register; {takes}", f"name a register of {wanted}"
        letters = [c for c, rs in self._letters.items() if set(rs) <= set(taken)]
        # A letter for the type itself accepts a variable of the type; a letter for its bits does not.
        letters = [c for c in letters if f".{type.lstrip('.')}" in self._letters[c]] or letters
        fitting = any(not set(taken).isdisjoint(self._letters[c]) for c in self._free if c in self._letters)
        # There is one fix, or none. An operand that is not a number in C may be anything: an address, packed values, a
        # scale. An operand that must be bits, such as random bits, may be at another place in the list.
        is_number = any(r.startswith(".f") for r in is_) and not re.fullmatch(r"\.?b\d+", type)
        help = f"write {letters[0]}" if len(letters) == 1 and is_number and not fitting else ""
        return "illegal-register", f"{{operand}} has the constraint {kind} ({' or '.join(is_)}); {takes}", help

    def registers(self, v: Matched, type: str) -> tuple[str, ...]:
        """Return the types of registers that an operand of a type may have; empty if they are unknown."""
        return tuple(f".{r}" for r in self._taken(v, "registers", type, self._registers.get(type, ())))

    def constants(self, v: Matched, type: str) -> tuple[str, ...] | None:
        """Return the sorts of numbers that a source operand of a type accepts, or None if they are unknown."""
        taken = self._taken(v, "constants", type, self._constants.get(type))
        return None if taken is None else tuple(sort for sort in taken if sort in _CONSTANTS)

    def _taken(self, v: Matched, what: str, type: str, usual: Any) -> Any:
        """Return what operands of a type accept: according to the instruction's file, else `usual`, as for every
        instruction."""
        own = (rule.get(what, {}) for rule in self._rules.operand_rules(v))
        return next((found[type] for found in own if type in found), usual)
