"""The assembler's verdict on one instruction that multiplies matrices, from the existing forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..catalog.explaining import WHOLE, unmet
from ..catalog.likeness import nearest
from ..matrices.choices import choices_of
from ..matrices.forms import Form, Taken, forms_of, is_shape, others_like, parts_of
from ..ptx import constants, operands as kinds
from ..ptx.complaints import ERROR, NOTE, WARNING, Complaint
from ..ptx.matching import in_braces, mixed, unknown_names, unreadable
from ..ptx.operands import Operand, Shape
from ..query.database import Database

# The names of operands in messages.
_MATRICES = ("D", "A", "B", "C")
_SELECTOR, _IDS, _WORDS = "selector", "{byte-id, thread-id}", ("metadata", "scales of A", "scales of B")
_SPARSE = (_WORDS[0], _SELECTOR)
_SCALED = (_WORDS[1], _IDS, _WORDS[2], _IDS)
_CONSTANTS = (constants.INTEGER, constants.SINGLE, constants.DOUBLE)
_NO_REGISTERS = (*_CONSTANTS, kinds.DISCARD)
_SORTS = {"integer": constants.INTEGER, "single": constants.SINGLE, "double": constants.DOUBLE}
_TYPES = {constants.INTEGER: ".s", constants.SINGLE: ".f32"}
_HALF, _SINGLE = 16, 32
_SIZE = re.compile(r"(\d+)(?:x(\d))?$")


class MatrixJudge:
    """A judge of statements that multiply matrices."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.opcodes: frozenset[str] = frozenset(db.data["matrices"])
        letters = db.data["assembler"]["constraints"]
        # Compilers declare the first type. Unlike other instructions, these do not accept it for bits.
        self._letters = {f'"{c}"': (f".{registers[0]}",) for c, registers in letters.items()}

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        return self._db.tensor

    @cached_property
    def _forms(self) -> Mapping[Any, Form]:
        """The forms by the parts of their spellings."""
        return {parts_of(f.spelling.split("."), self._data["ordered"]): f for f in forms_of(self._data)}

    @cached_property
    def _taken(self) -> tuple[Taken, ...]:
        return tuple(Taken(**row) for row in self._data["taken"])

    def complaints(
        self, head: str, shapes: Sequence[Shape] | None, target: str | None, ptx: str | None
    ) -> tuple[str | None, tuple[Complaint, ...]]:
        """Return the form's spelling if it exists, and the errors in a statement. `shapes` are the kinds of its
        operands, None if they are unknown."""
        f = self._forms.get(parts_of(head.split("."), self._data["ordered"]))
        unknown = tuple(unknown_names(shapes or ()))
        if f is None:
            return None, (*self._why_not(head, target, ptx), *unknown)
        refused = [r for r in unmet(self._db, f.spelling, f.requires, target, ptx) if r.code != "target-unknown"]
        twice = self._twice(head)
        needs = f.requires._replace(ptx=self._db.catalog.window(f.requires, target)[0])
        found = [Complaint(ERROR, r.code, r.message, requires=needs) for r in refused]
        found += [twice] if twice else []
        found += unknown or unreadable(shapes or ()) or self._operands(f, shapes)
        if not any(c.severity == ERROR for c in found):
            found += self._notes(f, head)
        return f.spelling, tuple(found)

    # Spellings

    def _why_not(self, head: str, target: str | None, ptx: str | None) -> Iterator[Complaint]:
        """Yield the reasons why a form does not exist: a name that no form has, or a missing name that all have. If
        each name is right, the help lists forms with the same types or of the same shape."""
        opcode, *names = head.split(".")
        forms = self._forms.values()
        every = dict.fromkeys(n for f in forms for n in f.spelling.split(".")[1:])
        strange = [i for i, n in enumerate(names) if n not in every]
        for i in strange:
            code = "unknown-modifier" if not self._db.knows(names[i]) else "illegal-modifier"
            if is_shape(names[i]):
                help = self._like(names, target, ptx)
            else:
                help = next((f"did you mean .{meant}?" for meant in nearest(names[i], every)), "")
            yield Complaint(ERROR, code, f"{opcode} has no .{names[i]}", help, i)
        if strange:
            return
        common = [n for n in every if all(n in f.spelling.split(".") for f in forms)]
        if missing := [n for n in common if n not in names]:
            written = " and ".join(f".{n}" for n in missing)
            right = ".".join((opcode, *common, *(n for n in names if n not in common)))
            mended = self._forms.get(parts_of(right.split("."), self._data["ordered"]))
            help = f"write {mended}" if mended else f"write {written} too"
            write = mended.spelling if mended else ""
            yield Complaint(ERROR, "missing-modifier", f"{head} lacks {written}", help, write=write)
            return
        yield Complaint(ERROR, "illegal-combination", f"there is no {head}", self._like(names, target, ptx))

    def _like(self, names: Sequence[str], target: str | None, ptx: str | None) -> str:
        on = [f for f in self._forms.values() if self._db.catalog.takes(f.requires, target, ptx)]
        return others_like(names, on, self._data["elements"])

    def _twice(self, head: str) -> Complaint | None:
        """Return the complaint about a name that appears twice, and must not."""
        names = head.split(".")[1:]
        free = {*self._data["repeatable"]}.union(*self._data["ordered"])
        place = next((i for i, n in enumerate(names) if n in names[:i] and n not in free), None)
        if place is None:
            return None
        return Complaint(ERROR, "repeated-modifier", f".{names[place]} appears twice", "write it once", place)

    def _notes(self, f: Form, head: str) -> Iterator[Complaint]:
        if not f.computes:
            message = f"the assembler generates no operation for {f}, so D is not written"
            yield Complaint(WARNING, "hazard", message)
        if not f.listed:
            message = f"NVIDIA's manual does not list {f}; the assembler accepts it"
            yield Complaint(NOTE, "undocumented", message)
        if head != f.spelling:
            help = "the assembler accepts any order"
            yield Complaint(NOTE, "modifier-order", f"NVIDIA's manual writes {f}", help, write=f.spelling)

    # Operands

    def _operands(self, f: Form, shapes: Sequence[Shape] | None) -> list[Complaint]:
        if shapes is None:
            return []
        operands = _names(f)
        if len(shapes) != len(operands):
            message = f"{f} takes {len(operands)} operands, not {len(shapes)}"
            return [Complaint(ERROR, "operand-count", message, f"write {', '.join(operands)}")]
        about = zip(_MATRICES, shapes, f.registers, f.types, strict=False)
        found = [c for i, one in enumerate(about) for c in self._matrix(f, i, *one)]
        for i, (name, shape) in enumerate(zip(operands, shapes, strict=True)):
            if name == _SELECTOR and shape not in (constants.INTEGER, kinds.UNKNOWN):
                found.append(Complaint(ERROR, "illegal-operand", "the selector must be an integer constant", operand=i))
            elif name == _IDS and not self._are_ids(shape):
                message = "{byte-id, thread-id} must be integer constants or registers of 16 bits"
                found.append(Complaint(ERROR, "illegal-operand", message, operand=i))
            elif name in _WORDS and not self._is_word(shape):
                found.append(Complaint(ERROR, "illegal-operand", f"{name} must be a register of 32 bits", operand=i))
        return found

    def _is_word(self, shape: Shape) -> bool:
        """Return whether an operand can be a register of 32 bits, or a vector of one."""
        if not isinstance(shape, str):
            return shape[0] == kinds.VECTOR and len(shape) == 2 and self._is_word(shape[1])
        return shape in (kinds.REGISTER, kinds.UNKNOWN) or (
            shape[0] in '."' and _bits(self._type(shape)) == _SINGLE and not shape.startswith(".v")
        )

    def _are_ids(self, shape: Shape) -> bool:
        if isinstance(shape, str):
            return shape in (kinds.REGISTER, kinds.UNKNOWN) or shape.startswith(".v2")
        known = (constants.INTEGER, kinds.REGISTER, kinds.UNKNOWN)
        return (
            shape[0] == kinds.VECTOR
            and len(shape) == 3
            and all(part in known or (part[0] in '."' and _bits(self._type(part)) == _HALF) for part in shape[1:])
        )

    def chosen(self, spelling: str, operands: Sequence[Operand]) -> Iterator[Complaint]:
        """Yield complaints about constants that a form does not accept."""
        f = next(f for f in self._forms.values() if f.spelling == spelling)
        given = [
            (i, j, part)
            for i, (name, o) in enumerate(zip(_names(f), operands, strict=False))
            if name in (_SELECTOR, _IDS)
            for j, part in (enumerate(o.parts) if name == _IDS else [(WHOLE, o)])
        ]
        choices = choices_of(self._data["choices"]).of(f)
        for (name, taken), (i, j, part) in zip(choices.items(), given, strict=False):
            kind, value = constants.value(part.text)
            if kind == constants.INTEGER and value not in taken:
                listed = " or ".join(map(str, taken))
                message = f"{name} of {f.shape} with {f.types[1]} must be {listed}, not {value}"
                yield Complaint(ERROR, "illegal-immediate", message, operand=i, part=j)

    def _matrix(self, f: Form, operand: int, name: str, shape: Shape, count: int, of: str) -> Iterator[Complaint]:
        """Yield complaints about the registers of a matrix."""
        shape = in_braces(shape)
        if shape in (kinds.REGISTER, kinds.UNKNOWN):
            return
        is_result = operand == 0
        code = "illegal-destination" if is_result else "illegal-operand"
        about = f"{name} of {f.shape} with {of}"
        wanted = f"{about} must be {count} register{'s' * (count > 1)} in braces"
        if isinstance(shape, str) or shape[0] != kinds.VECTOR:
            yield Complaint(ERROR, code, wanted, operand=operand)
            return
        parts = shape[1:]
        if len(parts) != count:
            yield Complaint(ERROR, code, f"{wanted}, not {len(parts)}", operand=operand)
            return
        strange = [i for i, kind in enumerate(parts) if not _may_stand(kind, is_result)]
        for i in strange:
            yield Complaint(ERROR, code, f"{{operand}} is not allowed in the braces of {name}", operand=operand, part=i)
        taken = next(t for t in self._taken if t.fits(f, of))
        if strange:
            return
        if all(kind in _NO_REGISTERS for kind in parts):
            if not {*parts} <= {_SORTS.get(s) for s in taken.constants}:
                message = f"{about} cannot consist of these constants without a register"
                yield Complaint(ERROR, code, message, "move them into registers", operand=operand)
            return
        wrong = next(self._types(about, operand, parts, taken.registers), None)
        if wrong:
            yield wrong
        else:
            size = _bits(taken.registers[0])
            yield from mixed([self._type(k) for k in parts if k != constants.SINGLE or size == _SINGLE], operand)

    def _types(self, about: str, operand: int, parts: Sequence[str], taken: Sequence[str]) -> Iterator[Complaint]:
        """Yield complaints about the types of a matrix's registers. Registers of different types count as bits."""
        wanted, size = {f".{t}" for t in taken}, _bits(taken[0])
        small = [i for i, kind in enumerate(parts) if kind in (kinds.SPECIAL, kinds.NARROW_SPECIAL)]
        if small and size != _SINGLE:
            message = f"{{operand}} has at most 32 bits; {about} takes registers of {size}"
            yield Complaint(ERROR, "illegal-operand", message, operand=operand, part=small[0])
        is_one = len({self._type(kind) for kind in parts if kind != kinds.DISCARD}) == 1
        for i, kind in enumerate(parts):
            own = self._letters.get(kind) or (kind,)
            if kind[0] not in '."' or (any(_bits(t) == size for t in own) and not (is_one and wanted.isdisjoint(own))):
                continue
            is_ = f"has the constraint {kind} ({' or '.join(own)})" if kind[0] == '"' else f"is a {kind} register"
            message = f"{{operand}} {is_}; {about} takes {' or '.join(f'.{t}' for t in taken)}"
            # A C variable of another type would be converted instead of keeping its bits.
            help = f"name registers of .{taken[0]}" if kind[0] == "." else ""
            yield Complaint(ERROR, "illegal-register", message, help, operand=operand, part=i)

    def _type(self, kind: str) -> str:
        """Return the type of an operand in braces, if it has one: a single is .f32, an integer of any size."""
        return (self._letters.get(kind) or (_TYPES.get(kind, kind),))[0]


def _names(f: Form) -> list[str]:
    """Return the operands of a form."""
    return [*_MATRICES, *_SPARSE * f.is_sparse, *_SCALED * f.is_scaled]


def _may_stand(kind: str, is_result: bool) -> bool:
    """Return whether a kind of operand is allowed in the braces of a matrix."""
    if kind[0] in '."' or kind in (kinds.REGISTER, kinds.UNKNOWN):
        return True
    return kind in kinds.SPECIALS or (kind == kinds.DISCARD if is_result else kind in _CONSTANTS)


def _bits(type: str) -> int:
    """Return the bits of a register by its type, as in .f16x2; 0 of a predicate."""
    m = _SIZE.search(type)
    return int(m[1]) * int(m[2] or 1) if m else 0
