"""Recipes and variants -> what to write instead of each variant, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..catalog import Requirement
from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic
from ..model import (
    BOOL,
    NOTHING_DIFFERS,
    WITHIN_BOUND,
    Code,
    Instead,
    Instruction,
    Operand,
    RecipeEntry,
    RecipeStatement,
    Spec,
    Variant,
    WrittenStatement,
)
from ..read.notation import NotationError
from .spellings import fill, names_in

Recipes = Mapping[Variant, tuple[Instead, ...]]
_INTEGER = re.compile(r"0x[0-9a-fA-F]+|0|[1-9]\d*")
_BITS = {"single": re.compile(r"0f[0-9a-fA-F]{8}"), "double": re.compile(r"0d[0-9a-fA-F]{16}")}
PREDICATE = "pred"


class _Wrong(Exception):
    """An error in a recipe for a variant, with its place."""

    def __init__(self, written: WrittenStatement | None, message: str, help: str = "") -> None:
        super().__init__(message)
        self.written, self.message, self.help = written, message, help


def link(
    spec: Spec, before: Spec | None = None, same: Container[str] = ()
) -> tuple[Recipes, Recipes, list[Diagnostic]]:
    """Return what to write instead of every variant for which something is known, the best first; the same for
    spellings that PTX does not have; and the errors in recipes. `before` is a specification without errors that is the
    same except for opcodes that are not among the `same`: what it has is taken from there."""
    found: dict[Variant, tuple[Instead, ...]] = {}
    missing: dict[Variant, tuple[Instead, ...]] = {}
    errors: list[Diagnostic] = []
    known = _Known(spec)

    def linked(variant: Variant, recipe: RecipeEntry) -> Iterator[Instead]:
        try:
            yield _Linking(known, variant, recipe).instead()
        except _Wrong as e:
            mark = e.written.mark if e.written else recipe.code.start
            errors.append(recipe.code.error(mark, e.message, e.help))

    def kept(variant: Variant, of: Recipes) -> tuple[Instead, ...] | None:
        every = of.get(variant, ())
        return every if all(c.variant.opcode in same for x in every for c in x.calls) else None

    for instruction in spec.instructions.values():
        earlier = before if before is not None and instruction.opcode in same else None
        for variant in instruction.variants if instruction.recipes or instruction.means else ():
            if earlier is not None and (unchanged := kept(variant, earlier.instead)) is not None:
                found |= {variant: unchanged} if unchanged else {}
                continue
            every = list(_of_meaning(spec, instruction, variant))
            for recipe in instruction.recipes:
                if recipe.statements and recipe.selector.matches(variant):
                    every += linked(variant, recipe)
            if every:
                found[variant] = tuple(every)
        for entry in instruction.missing:
            for variant in entry.variants:
                unchanged = kept(variant, earlier.missing) if earlier is not None else None
                if offered := tuple(linked(variant, entry.recipe)) if unchanged is None else unchanged:
                    missing[variant] = offered
    return found, missing, list({(e.path, e.mark): e for e in reversed(errors)}.values())


def constant(text: str, operand: Operand) -> int | None:
    """Return the bits of a constant in an operand's register; None if it does not fit."""
    width = operand.type.width
    if _INTEGER.fullmatch(text):
        value = int(text, 0)
        return value if value < 1 << width else None
    for pattern, digits in zip(_BITS.values(), (8, 16), strict=True):
        if pattern.fullmatch(text):
            return int(text[2:], 16) if digits * 4 == width else None
    return None


def declared(operand: Operand) -> str:
    """Return the type that declares each of an operand's registers, whatever its numbers are."""
    width = width_of(operand)
    return f"b{width}" if width else PREDICATE


def width_of(operand: Operand) -> int:
    """Return the bits of each of an operand's registers; 0 for a predicate."""
    return 0 if operand.type.kind == BOOL else operand.type.width


def _of_meaning(spec: Spec, instruction: Instruction, variant: Variant) -> Iterator[Instead]:
    """Yield the longer spelling that a variant is short for, where it may be recommended."""
    longer = instruction.stands_for(variant)
    if longer is not None and instruction.is_advisable(longer):
        results, arguments = _places(longer.results[:1]), _places(longer.sources)
        text = f"{longer.spelling} {', '.join((*results, *arguments))};"
        yield Instead((RecipeStatement(longer, None, results, arguments, text),), {}, longer.requires, NOTHING_DIFFERS)


def _places(operands: tuple[Operand, ...]) -> tuple[str, ...]:
    return tuple(f"%{place}" for o in operands for place in o.places)


class _Known:
    """The specification, with cached answers to what is asked again and again."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.names = {*spec.modifiers, *spec.types, *spec.notation}
        self._spelled: dict[str, dict[tuple[frozenset[str], tuple[str, ...]], list[Variant]]] = {}
        self._together: dict[frozenset[Variant], Requirement | None] = {}

    def spelled(self, opcode: str, names: Sequence[str]) -> list[Variant]:
        """Return the variants of an opcode with these names."""
        if opcode not in self._spelled:
            found = self._spelled[opcode] = {}
            for v in self.spec.instructions[opcode].variants:
                found.setdefault((v.form[0], v.type_names), []).append(v)
        types = self.spec.types
        key = frozenset(n for n in names if n not in types), tuple(n for n in names if n in types)
        return self._spelled[opcode].get(key, [])

    def together(self, used: frozenset[Variant]) -> Requirement | None:
        """Return the common requirement of some variants, where each does what is documented."""
        if used not in self._together:
            catalog, targets = self.spec.catalog, list(self.spec.targets)
            # Where a statement behaves as though it had another modifier, nothing is proved.
            implied = {t for v in used for t in self.spec.implied_targets(v)}
            first = max((targets.index(t) + 1 for t in implied), default=0)
            found = None
            if first < len(targets):
                later = Requirement(next(iter(self.spec.versions)), targets[first])
                found = catalog.together([*(v.requires for v in used), later])
            self._together[used] = found and found._replace(ptx=catalog.first_version(found))
        return self._together[used]


@dataclass
class _Linking:
    """One recipe for one variant. `registers` are those that have a value so far, with the bits of each."""

    known: _Known
    variant: Variant
    recipe: RecipeEntry
    registers: dict[str, int] = field(default_factory=dict)
    scratch: dict[str, str] = field(default_factory=dict)

    def instead(self) -> Instead:
        v, recipe = self.variant, self.recipe
        results = {f"%{place}": width_of(o) for o in v.results[:1] for place in o.places}
        self.registers = {f"%{place}": width_of(o) for o in v.sources for place in o.places}
        calls: list[RecipeStatement] = []
        if recipe.differs == WITHIN_BOUND and v.claim != "bounded":
            raise _Wrong(
                None, f"NVIDIA's manual gives no bound on the error of {v}", "state another difference, or narrow it"
            )
        unwritten = set(results)
        for written in recipe.statements:
            for lane in range(v.lanes) if _has_lanes(written) else (0,):
                call = self._call(written, lane)
                for name in call.results:
                    if f"{name}" in self._sources:
                        raise _Wrong(written, f"{name} is an operand of {v.opcode}", "write to a register of its own")
                    if name in results:
                        # One register may be both the user's result and a source.
                        if name not in unwritten or call.guard:
                            message = f"{name} is written more than once, or under a condition"
                            raise _Wrong(written, message, "write it once, in the last statement")
                        unwritten.discard(name)
                read_late = set(call.arguments) & self._sources and len(unwritten) < len(results) - 1
                if unwritten != set(results) and (read_late or not set(call.results) & set(results)):
                    message = "the result is written before all operands are read, and could be the same register"
                    raise _Wrong(written, message, "write the result in the last statement")
                calls.append(call)
        if unwritten:
            raise _Wrong(
                None, f"nothing is written to {', '.join(sorted(unwritten))}", "the last statement must do that"
            )
        requires = self.known.together(frozenset(c.variant for c in calls))
        if requires is None:
            raise _Wrong(None, f"no target supports all statements of the recipe for {v}")
        return Instead(tuple(calls), self.scratch, requires, recipe.differs, recipe)

    @property
    def spec(self) -> Spec:
        return self.known.spec

    @property
    def _sources(self) -> set[str]:
        return {f"%{place}" for o in self.variant.sources for place in o.places}

    def _call(self, written: WrittenStatement, lane: int) -> RecipeStatement:
        v = self.variant
        groups = [
            tuple(self._named(written, n).replace("#", str(lane)) for n in names)
            for names in written.operands
            if names[0][0] != "{" or names[0][1:-1] in self._sources
        ]
        used, unpacks = self._variant(written, [len(names) for names in groups])
        if used is v:
            raise _Wrong(written, f"the recipe for {v} uses {v} itself")
        if used.crash or not self.spec.instructions[used.opcode].is_advisable(used):
            why = "NVIDIA's manual does not list it" if not used.listed else "its machine code does something else"
            raise _Wrong(written, f"{used} must not be advised: {why}")
        guard = None
        if written.guard:
            name = written.guard.lstrip("!").replace("#", str(lane))
            self._read(written, name, 0)
            guard = name, written.guard[0] != "!"
        taken = [o for o in used.sources for _ in o.places]
        made = [used.result] * len(used.result.places)
        taken, made = (made, taken) if unpacks else (taken, made)
        results, arguments = groups[0], tuple(n for names in groups[1:] for n in names)
        for operand, name in zip(taken, arguments, strict=True):
            self._argument(written, used, operand, name)
        for operand, name in zip(made, results, strict=True):
            self._write(written, name, width_of(operand), guard is not None)
        vectors = [f"{{{', '.join(names)}}}" if len(names) > 1 else names[0] for names in groups]
        condition = f"@{'' if guard[1] else '!'}{guard[0]} " if guard else ""
        return RecipeStatement(
            used, guard, results, arguments, f"{condition}{used.spelling} {', '.join(vectors)};", unpacks
        )

    def _named(self, written: WrittenStatement, text: str) -> str:
        """Return the operand that a written one stands for, which is another one for `$shift` and `{%c}`."""
        text = text.strip("{}")
        if text[0] != "$":
            return text
        names = (*self.variant.modifiers, *self.variant.type_names)
        found = next((x for name, x in self.recipe.where.get(text[1:], {}).items() if name in names), None)
        if found is None:
            raise _Wrong(written, f"{text} has no value for {self.variant}", "name it in `where`")
        return found

    def _variant(self, written: WrittenStatement, shape: list[int]) -> tuple[Variant, bool]:
        """Return the variant of a statement whose operands have these numbers of registers, and whether it is reversed,
        so that it unpacks."""
        spec, v = self.spec, self.variant
        for name in names_in(written.spelling):
            if name not in self.known.names:
                raise _Wrong(written, f"unknown modifier or type '.{name}'", suggest(name, self.known.names, "."))
        try:
            opcode, names = fill(written.spelling, (*v.modifiers, *v.type_names), spec.notation)
        except NotationError as e:
            mark = written.mark._replace(
                column=written.mark.column + _column(self.recipe.code, written) + e.start, length=e.length
            )
            raise _Wrong(WrittenStatement("", "", (), mark), f"{v}: {e}", e.help) from None
        if opcode not in spec.instructions:
            raise _Wrong(written, f"unknown opcode '{opcode}'", suggest(opcode, spec.instructions))
        same = self.known.spelled(opcode, names)
        spelling = ".".join((opcode, *names))
        if not same:
            near = suggest(spelling, (w.spelling for w in spec.instructions[opcode].variants))
            raise _Wrong(written, f"there is no {spelling}, which this statement means for {v}", near)
        for w in same:
            if _shape(w) == shape:
                return w, False
        for w in same:
            if spec.instructions[opcode].unpacks and _shape(w)[::-1] == shape:
                return w, True
        takes = " or ".join(", ".join(_statement_places(w)) for w in same)
        raise _Wrong(written, f"{spelling} has other operands", f"write {spelling} {takes}")

    def _argument(self, written: WrittenStatement, used: Variant, operand: Operand, name: str) -> None:
        if name.startswith("!"):
            if not operand.negatable:
                raise _Wrong(written, f"{used} takes no negated operand", "negate it with a separate statement")
            self._read(written, name[1:], 0)
        elif name.startswith("%"):
            self._read(written, name, width_of(operand))
        else:
            sorts = self.spec.constants(self.spec.instructions[used.opcode], used, operand.type.name) or ()
            integer = _INTEGER.fullmatch(name) and "integer" in sorts
            bits = any(pattern.fullmatch(name) and sort in sorts for sort, pattern in _BITS.items())
            if not (integer or bits) or constant(name, operand) is None:
                forms = {
                    "integer": "an integer",
                    "single": "bits such as 0f3F800000",
                    "double": "bits such as 0d3FF0000000000000",
                }
                taken = " or ".join(forms[s] for s in sorts if s in forms)
                help = f"write {taken}, or a register" if taken else "move it into a register first"
                raise _Wrong(written, f"{used} does not take the constant {name} there", help)

    def _read(self, written: WrittenStatement, name: str, width: int) -> None:
        if name not in self.registers:
            names = ", ".join(sorted(self.registers))
            raise _Wrong(written, f"{name} has no value here", f"these have one: {names}")
        if self.registers[name] != width:
            raise _Wrong(written, f"{name} is {_bits(self.registers[name])}, and here stands {_bits(width)}")

    def _write(self, written: WrittenStatement, name: str, width: int, guarded: bool) -> None:
        if not name.startswith("%"):
            raise _Wrong(written, f"{name} is not a register")
        own = {f"%{place}": width_of(o) for o in self.variant.results for place in o.places}
        before = self.registers.get(name, own.get(name))
        if guarded and name not in self.registers:
            raise _Wrong(written, f"{name} has no value if the condition is false", "assign one first")
        if before is not None and before != width:
            raise _Wrong(written, f"{name} is {_bits(before)}, and here stands {_bits(width)}")
        self.registers[name] = width
        if name not in own and name not in self._sources:
            self.scratch.setdefault(name, f"b{width}" if width else PREDICATE)


def _column(code: Code, written: WrittenStatement) -> int:
    """Return where in a statement its spelling begins."""
    line = code.lines[written.mark.line - 1]
    return line.find(written.spelling, written.mark.column - 1) - written.mark.column + 1


def _shape(v: Variant) -> list[int]:
    """Return the number of registers of each operand in a statement; a vector is one operand."""
    found = [len(v.result.places)]
    for s in v.sources:
        found += [len(s.places)] if s.braced else [1] * len(s.places)
    return found


def _statement_places(v: Variant) -> Iterator[str]:
    for o in (v.result, *v.sources):
        if len(o.places) > 1 and (o.braced or o is v.result):
            yield f"{{{', '.join(f'%{p}' for p in o.places)}}}"
        else:
            yield from (f"%{p}" for p in o.places)


def _has_lanes(written: WrittenStatement) -> bool:
    return "#" in written.guard or any("#" in name for names in written.operands for name in names)


def _bits(width: int) -> str:
    return f"of {width} bits" if width else "a predicate"
