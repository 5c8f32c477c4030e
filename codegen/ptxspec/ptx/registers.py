"""The registers that a text declares, block by block, and the kinds of the names among the operands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..catalog.special import FIELDS, SpecialRegister
from . import constants, operands as kinds
from .operands import Operand
from .scanning import COMMENT, HOLE

_REG = re.compile(r"\.reg\b\s*(?:\.align\s+\d+\s*)?(?P<type>(?:\.v\d\s*)?\.(?!v\d\b)\w+)\s*(?P<names>[^;()]*)")
_NAME = re.compile(r"([%\w$]+)(?:\s*<\s*(\w+)\s*>)?")
_HEAD = re.compile(r"\.(?:func|entry)\b")
_LITERAL = re.compile(r'"[^"]*"')
_INNER = re.compile(r"\{[^{}]*\}|\([^()]*\)")
_IDENTIFIER = re.compile(
    r"(?<![.\w$%])(?P<name>(?!_\b)[A-Za-z_%$][\w$%]*)(?P<count>\s*<\s*\w+\s*>)?(?P<array>\s*\[)?", re.ASCII
)
_PARAMETER = re.compile(r"\.reg\b\s*(?:\.align\s+\d+\s*)?(?P<type>(?:\.v\d\s*)?\.(?!v\d\b)\w+)\s+(?P<name>[%\w$]+)")
_PART = re.compile(r"[.\[].*", re.DOTALL)
_ARGUMENT = re.compile(r"[%$][0-9]{1,4}")
_DIGITS = "0123456789"
_COUNT = re.compile(r"0|[1-9][0-9]{0,9}|0[xX][\da-fA-F]{1,9}")
# Names in these may be names of constants.
_COMPUTED = (kinds.NEGATED, kinds.INVERTED, kinds.SUM, kinds.EXPRESSION)
# No program nests blocks this deep.
_DEEPEST = 1000
# The prefix of the kind of special registers with fields.
_VECTOR = "vector "
# The kinds of special registers, by the bits of operands that may read them.
_SPECIAL = {
    (1,): kinds.PREDICATE_SPECIAL,
    (32,): kinds.SPECIAL,
    (64,): kinds.WIDE_SPECIAL,
    (16, 32): kinds.NARROW_SPECIAL,
    (16, 32, 64): kinds.ANY_SPECIAL,
}
# Variables with elements.
_ARRAY = "array"
# The parts of a register by the number of its lanes.
_LANES = {"2": ".x.y.r.g", "4": ".x.y.z.w.r.g.b.a"}
_MANY = 100_000

# The names of registers, variables and functions in one block: for %f<9>, `%f<` has the count and the type. Of names
# with numbers, such as %f2 and %f7, `%f>` has the lowest number.
Block = dict[str, tuple[int | None, str]]


class Registers:
    """The meanings of the names in one text. If a declaration may have been missed, names are unknown.

    `special` are the names that have a meaning without a declaration. `constraints` are the letters of the operands %0,
    %1 and so on of inline assembly, or their types. `whole`: the text has no placeholders, so undeclared names are
    declared nowhere."""

    def __init__(self, special: Block, constraints: Sequence[str | None] = (), whole: bool = True) -> None:
        self._special = special
        self._constraints = constraints
        self._whole = whole
        self._blocks: list[Block] = [{}]
        self._opened = 0
        self._numbers = [0]  # of the open blocks
        self._pending: Block | None = None  # the registers of a function whose body follows
        self._body: int | None = None  # the depth of the function's body
        self._lost = False
        self.has_vectors = False  # whether some register is declared as a vector
        self._known: dict[str, str] = {}

    def take(self, text: str | None) -> None:
        """Record a declaration, a function's head or braces; None for text that was not read."""
        self._known.clear()
        if text is None:
            self._lost = True
        elif text[0] in "{}":
            self._braces(text)
        else:
            self._declare(text)

    def repeated(self, directive: str) -> Iterator[tuple[str, int]]:
        """Yield the names in a declaration of registers that their block has already, with their offsets. Outside of
        braces, a text may be of several functions, and a placeholder may close a block."""
        if self._lost or not self._whole or len(self._blocks) < 2:
            return
        m = _REG.match(re.sub(COMMENT, lambda c: " " * len(c[0]), directive))
        new: Block = {}
        for one in _NAME.finditer(m.string, *m.span("names")) if m else ():
            name = one[0].replace("%%", "%")
            if _has(new, name) or _has(self._blocks[-1], name):
                yield one[0], one.start()
            _add(new, kinds.REGISTER, name)

    def known(self, operand: Operand) -> Operand:
        """Return an operand with the known kinds of the names of registers in it."""
        if operand.kind == kinds.REGISTER:
            return operand._replace(kind=self.kind(operand.text))
        if not operand.parts:
            return operand
        parts = tuple(map(self.known, operand.parts))
        if operand.kind in _COMPUTED and all(p.kind == constants.INTEGER for p in parts):
            return operand._replace(kind=kinds.computed(operand.text), parts=())
        if operand.kind == kinds.SUM and all(p.kind == constants.INTEGER for p in parts[1:]):
            parts = parts[:1]
        elif operand.kind in (kinds.SUM, kinds.EXPRESSION):
            return _no_constant(operand, parts)
        # The assembler adds to a register of any type; a variable is declared elsewhere.
        if operand.kind == kinds.SUM and parts[0].kind == kinds.REGISTER and parts[0].text[0] not in "%$":
            parts = (parts[0]._replace(kind=kinds.VARIABLE),)
        return operand._replace(parts=parts)

    def _declare(self, directive: str) -> None:
        text = re.sub(COMMENT, " ", directive).replace("%%", "%")
        is_register, is_head = text.startswith(".reg"), _HEAD.search(text) is not None
        if HOLE in text:
            # A variable with an unknown name is certainly not a known register.
            self._lost |= is_register or is_head
        elif is_register and not _REG.match(text):
            self._lost = True
        elif m := _REG.match(text):
            self._lost |= not _add(self._blocks[-1], _type(m["type"]), m["names"])
            self.has_vectors |= m["type"].startswith(".v")
        elif is_head:
            functions: Block = {}
            _add_variables(functions, _outside(text))
            functions = {name: (number, kinds.FUNCTION) for name, (number, _) in functions.items()}
            self._blocks[0] |= functions
            if not text.rstrip().endswith(";"):
                self._pending = {p["name"]: (None, _type(p["type"])) for p in _PARAMETER.finditer(text)}
                _add_variables(self._pending, text)
                self._pending = {name: of for name, of in self._pending.items() if name not in functions}
        else:
            _add_variables(self._blocks[-1], _outside(text))

    def _braces(self, text: str) -> None:
        for c in text:
            if c == "{":
                if self._pending is not None:
                    self._body = len(self._blocks)
                self._lost |= len(self._blocks) > _DEEPEST
                if not self._lost:
                    self._blocks.append(self._pending or {})
                    self._opened += 1
                    self._numbers.append(self._opened)
                self._pending = None
            elif c == "}" and len(self._blocks) > 1:
                self._blocks.pop()
                self._numbers.pop()
                if self._body == len(self._blocks):
                    self._body = None

    @property
    def lost(self) -> bool:
        """Return whether a declaration was not understood, after which names are unknown."""
        return self._lost

    @property
    def open(self) -> tuple[int, ...]:
        """The open blocks, by number: 0 is outside of all braces, the first braces open 1."""
        return tuple(self._numbers)

    def home(self, name: str) -> int | None:
        """Return the number of the block that declares a register, or None."""
        blocks = zip(reversed(self._numbers), reversed(self._blocks), strict=True)
        return next((number for number, block in blocks if _find(block, name)), None)

    def kinds(self, names: str) -> tuple[str, ...]:
        """Return the kinds of operands that are all names."""
        known, kind = self._known.get, self.kind
        return tuple([known(n) or kind(n) for n in names.replace(" ", "").split(",")])

    def kind(self, text: str) -> str:
        """Return the kind of an operand that is written as a register: its type such as `.f32`, its constraint such as
        `"f"`, or one of the kinds of operands."""
        found = self._known.get(text)
        if found is None:
            if len(self._known) > _MANY:
                self._known.clear()
            found = self._known[text] = self._kind(text.strip())
        return found

    def _kind(self, text: str) -> str:
        if self._lost:
            return kinds.REGISTER
        # In inline assembly, the % of a register is doubled.
        name, part = text.replace("%%", "%"), ""
        if m := _PART.search(name):
            name, part = name[: m.start()].rstrip(), "".join(m[0].split())
        if self._constraints and _ARGUMENT.fullmatch(_PART.sub("", text).rstrip()):
            if int(name[1:]) >= len(self._constraints):
                return kinds.BEYOND
            letter = self._constraints[int(name[1:])]
            if letter is None or (part and letter in "ni"):
                return kinds.REGISTER
            if part:
                return kinds.PART
            return constants.INTEGER if letter in "ni" else letter if letter[0] == "." else f'"{letter}"'
        declared = self._declared(name)
        if declared is None:
            if special := _find(self._special, name):
                return _read_special(special, part)
            return kinds.UNDECLARED if self._body is not None and self._whole else kinds.REGISTER
        if declared == _ARRAY:
            return kinds.PART if part.startswith(".") else self._element(part)
        if not part:
            return declared
        if declared.startswith(".v") and len(part) == 2 and part in _LANES.get(declared[2], ""):
            return declared.split()[1]
        return kinds.PART

    def _element(self, part: str) -> str:
        """Return the kind of an element of a variable; a name in the brackets may be wrong."""
        unknown = any(self.kind(m["name"]) == kinds.UNDECLARED for m in _IDENTIFIER.finditer(part))
        return kinds.UNDECLARED if unknown else kinds.VARIABLE

    def _declared(self, name: str) -> str | None:
        for block in reversed(self._blocks):
            if found := _find(block, name):
                return found
        return None


def _outside(text: str) -> str:
    """Return a declaration without strings and without the contents of braces and parentheses."""
    text = _LITERAL.sub(" ", text)
    while (outside := _INNER.sub(" ", text)) != text:
        text = outside
    return text


def _add_variables(block: Block, text: str) -> None:
    """Add the names in a declaration to a block. The text behind = is an initial value."""
    for one in text.split(","):
        for m in _IDENTIFIER.finditer(one.partition("=")[0]):
            kind = _ARRAY if m["array"] else kinds.VARIABLE
            if m["count"]:
                _add(block, kind, m["name"] + m["count"])
            else:
                _add_one(block, kind, m["name"])


def _no_constant(operand: Operand, parts: Sequence[Operand]) -> Operand:
    """Return the operand for an expression with names that are not all integers'."""
    if beyond := next((p for p in parts if p.kind == kinds.BEYOND), None):
        return beyond
    unknown = any(kinds.may_be_constant(p.kind, p.text) for p in parts)
    return operand._replace(kind=kinds.UNKNOWN if unknown else kinds.MALFORMED, parts=())


def special_names(registers: Iterable[SpecialRegister], integers: Iterable[str]) -> Block:
    """Return the special registers, and the integers with names."""
    found: Block = dict.fromkeys(integers, (None, constants.INTEGER))
    for r in registers:
        found |= dict.fromkeys(r.names, (None, _VECTOR * r.fields + _SPECIAL[r.bits]))
    return found


def _read_special(kind: str, part: str) -> str:
    """Return the kind of a special register, or of a field of one."""
    is_vector = kind.startswith(_VECTOR)
    if kind == constants.INTEGER or (bool(part) == is_vector and part in ("", *(f".{f}" for f in FIELDS))):
        return kind.removeprefix(_VECTOR)
    return kinds.STRANGE_SPECIAL


def _add(block: Block, type_: str, names: str) -> bool:
    """Add declared names to a block, and return whether all of them were understood."""
    for name in names.split(","):
        m = _NAME.fullmatch(name.strip())
        if m is None:
            return False
        if m[2] is None:
            _add_one(block, type_, m[1])
        elif _COUNT.fullmatch(m[2]):
            block.setdefault(f"{m[1]}<", (int(m[2], 0), type_))
        else:
            return False
    return True


def _add_one(block: Block, type_: str, name: str) -> None:
    block.setdefault(name, (None, type_))
    prefix = name.rstrip(_DIGITS)
    number = name[len(prefix) :]
    if number and len(number) < 12 and str(int(number)) == number:
        lowest = block.get(f"{prefix}>", (None, ""))[0]
        block[f"{prefix}>"] = (int(number) if lowest is None else min(lowest, int(number)), type_)


def _has(block: Block, name: str) -> bool:
    """Return whether a block has a register with a name already, or one of those that x<4> stands for."""
    m = _NAME.fullmatch(name)
    if m is None or m[2] is None:
        return _find(block, name) is not None
    lowest = block.get(f"{m[1]}>", (None, ""))[0]
    # The assembler does not compare the names if %f0 is among them.
    reached = lowest and _COUNT.fullmatch(m[2]) and lowest < int(m[2], 0)
    return bool(reached) or f"{m[1]}<" in block


def as_held(type: str, registers: Mapping[str, Sequence[str]]) -> str:
    """Return the type of the registers that can contain a type: that of bits, if no register has the type itself. Empty
    if it is unknown."""
    held = registers.get(type, ())
    return type if type in held else next((r for r in held if r[0] == "b"), "")


def _find(block: Block, name: str) -> str | None:
    if name in block:
        return block[name][1]
    prefix = name.rstrip(_DIGITS)
    family = block.get(f"{prefix}<")
    if family is None or prefix == name:
        return None
    count, type_ = family
    number = name[len(prefix) :].lstrip("0") or "0"
    return type_ if count is not None and len(number) < 12 and int(number) < count else None


def _type(text: str) -> str:
    """Return a type in a unique form: `.v4.f32` and `.v4 .f32` are the same."""
    return " ".join("." + part.strip() for part in text.split(".")[1:])
