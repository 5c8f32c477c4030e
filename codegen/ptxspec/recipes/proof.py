"""The proof of recipes: the exact back end runs a recipe and its variant on the same operands.

Every bit of the result is compared, except for what the recipe says may differ. `validate` uses special values and some
random ones; the tests use many more, with the emulator."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..diagnostics import Diagnostic
from ..literals import describe
from ..model import NAN_BITS, NOTHING_DIFFERS, WITHIN_BOUND, Instead, Operand, RecipeStatement, Spec, Variant
from ..semantics.compile import Compiler
from ..semantics.exact.evaluate import run
from ..semantics.exact.lanes import lanes_of, registers_of
from ..semantics.program import Program
from .linking import constant
from .operands import operand_sets

# The number of random sets of operands that `validate` adds to the special ones: for the first variant that a recipe
# serves, and for each other.
_FEW, _FEWER = 12, 4
Registers: TypeAlias = tuple[int, ...]


class Counterexample(NamedTuple):
    """Operands for which recipe and variant differ, with the results of both."""

    operands: Registers
    recipe: Registers
    variant: Registers


@dataclass
class Prover:
    """Runs variants and recipes. Recipes that do the same with the same programs are run once."""

    spec: Spec
    compiler: Compiler

    def __post_init__(self) -> None:
        self._proved: set[object] = set()
        self._met: set[int] = set()
        self._programs: dict[Variant, Program] = {}
        self._in_one_lane: dict[Variant, bool] = {}
        self._results: dict[Variant, dict[Registers, Registers]] = {}
        self._known_constants: dict[int, dict[str, int]] = {}

    def check(self, before: Spec | None = None, same: Container[str] = ()) -> list[Diagnostic]:
        """Return the errors in the specification's recipes. `before` is a specification without errors that is the same
        except for opcodes that are not among the `same`: what was proved there is not proved again."""
        errors = []
        proved = _Proved(before, same) if before is not None else None
        for variant, every in (*self.spec.instead.items(), *self.spec.missing.items()):
            for instead in every:
                if proved is not None and proved.has(variant, instead):
                    continue
                recipe = instead.recipe
                # An opcode whose file has an error is not here.
                if any(c.variant.opcode not in self.spec.instructions for c in instead.calls):
                    continue
                # A short spelling equals the longer one by its meaning.
                if recipe is None or self._is_known(variant, instead):
                    continue
                if variant not in self.spec.missing and (told := self._wrong_since(variant, recipe.since)):
                    errors.append(recipe.code.error(recipe.code.start, *told))
                wrong = self.counterexample(variant, instead)
                if wrong is not None:
                    errors.append(recipe.code.error(recipe.code.start, *_told(variant, instead, wrong)))
        return errors

    def _wrong_since(self, variant: Variant, since: str) -> tuple[str, str] | None:
        """Return the error in a recipe's `since`. It must name a target if the variant computes something else without
        a target, unless the recipe follows the hardware as the variant does."""
        programs = self.compiler.programs(self.spec.instructions[variant.opcode], variant)
        here = [t for t in self.spec.targets if self.spec.catalog.takes(variant.requires, t)]
        newest = self.program(variant)
        same = [t for t in here if programs.get(t, programs[None]) is newest]
        must = "" if newest is programs[None] or self.spec.follows(variant, here[-1]) else same[0]
        if since == must:
            return None
        help = f"write since: {must}" if must else "remove 'since'"
        where = f"from {must} on" if must else "on all targets"
        return f"{variant} computes the same {where} as on its newest target", help

    def counterexample(self, variant: Variant, instead: Instead) -> Counterexample | None:
        """Return the first of some operands on which the two differ by more than the recipe states."""
        few = _FEWER if id(instead.recipe) in self._met else _FEW
        self._met.add(id(instead.recipe))
        return self.difference(variant, instead, [*operand_sets(variant, few)])

    def difference(self, variant: Variant, instead: Instead, every: Sequence[Registers]) -> Counterexample | None:
        """Return the first of these operands on which the two differ by more than the recipe states, with the results
        of both."""
        results = zip(every, self.run_recipe(variant, instead, every), self.run_variant(variant, every), strict=True)
        for operands, found, expected in results:
            if found != expected and not _agrees(variant.result, instead.differs, found, expected):
                return Counterexample(operands, found, expected)
        return None

    def run_variant(self, variant: Variant, every: Iterable[Registers]) -> list[Registers]:
        """Return the registers of a variant's results for those of its sources. They are kept: many recipes need the
        same."""
        known, found = self._results.setdefault(variant, {}), []
        for registers in every:
            result = known.get(registers)
            if result is None:
                result = known[registers] = self._run(variant, registers)
            found.append(result)
        return found

    def run_recipe(self, variant: Variant, instead: Instead, every: Sequence[Registers]) -> list[Registers]:
        """Return the registers of a recipe's results for those of the variant's sources. Each name has a column: its
        value for each of the operands."""
        places = (f"%{place}" for s in variant.sources for place in s.places)
        values: dict[str, Sequence[int]] = dict(zip(places, zip(*every, strict=True), strict=True))
        values |= {name: [value] * len(every) for name, value in self._constants(instead).items()}

        def column(name: str) -> Sequence[int]:
            # A predicate may be read negated.
            return values[name] if name[0] != "!" else [1 - x for x in values[name[1:]]]

        for call in instead.calls:
            arguments = zip(*map(column, call.arguments), strict=True)
            results = (
                [_unpacked(call, x) for (x,) in arguments]
                if call.unpacks
                else self.run_variant(call.variant, arguments)
            )
            for name, new in zip(call.results, zip(*results, strict=True), strict=True):
                if call.guard is None:
                    values[name] = new
                    continue
                guard, wanted = call.guard
                chosen = zip(values[guard], values[name], new, strict=True)
                values[name] = [y if bool(g) == wanted else x for g, x, y in chosen]
        return [*zip(*(values[f"%{place}"] for place in variant.result.places), strict=True)]

    def _constants(self, instead: Instead) -> dict[str, int]:
        """Return the values of a recipe's constants, by how they are written."""
        found = self._known_constants.get(id(instead))
        if found is None:
            found = self._known_constants[id(instead)] = {
                name: constant(name, o) or 0
                for call in instead.calls
                for name, o in zip(call.arguments, (s for s in call.variant.sources for _ in s.places), strict=False)
                if name[0] not in "%!"
            }
        return found

    def program(self, variant: Variant) -> Program:
        """Return the program of a variant on the newest target that has it, or without a target if none has."""
        found = self._programs.get(variant)
        if found is None:
            found = self._programs[variant] = self._program(variant)
        return found

    def _program(self, variant: Variant) -> Program:
        instruction = self.spec.instructions[variant.opcode]
        if variant in self.spec.missing:
            return self.compiler.program(instruction, variant, None)
        programs = self.compiler.programs(instruction, variant)
        if len(programs) == 1:
            return programs[None]
        here = [t for t in self.spec.targets if self.spec.catalog.takes(variant.requires, t)]
        return programs.get(here[-1], programs[None])

    def _run(self, variant: Variant, registers: Registers) -> Registers:
        program = self.program(variant)
        if self._is_one_lane(variant):
            return run(program, registers)[:1]
        left = iter(registers)
        columns = [lanes_of(s, [next(left) for _ in s.places], variant.lanes) for s in variant.sources]
        lanes = [run(program, [column[lane] for column in columns])[0] for lane in range(variant.lanes)]
        return tuple(registers_of(variant.result, lanes))

    def _is_one_lane(self, variant: Variant) -> bool:
        """Return whether each register of the variant is the encoding of a lane."""
        found = self._in_one_lane.get(variant)
        if found is None:
            every = (variant.result, *variant.sources)
            found = all(o.lanes == 1 and not (o.registers or o.lane_bits or o.type.shift) for o in every)
            self._in_one_lane[variant] = found
        return found

    def _is_known(self, variant: Variant, instead: Instead) -> bool:
        """Return whether the same programs in the same order were compared already, whatever the lanes."""
        numbers: dict[str, int] = {}

        def place(name: str) -> object:
            return numbers.setdefault(name, len(numbers)) if name.startswith("%") else name

        calls = tuple(
            (
                id(self.program(c.variant)),
                c.guard and (place(c.guard[0]), c.guard[1]),
                tuple(map(place, c.arguments)),
                tuple(map(place, c.results)),
                c.variant.lanes,
                c.variant.result.type,
            )
            for c in instead.calls
        )
        places = tuple(place(f"%{p}") for o in (variant.result, *variant.sources) for p in o.places)
        key = (id(self.program(variant)), variant.lanes, calls, places, instead.differs)
        known = key in self._proved
        self._proved.add(key)
        return known


class _Proved:
    """The recipes of a specification whose opcodes may since have changed, except for the `same`."""

    def __init__(self, spec: Spec, same: Container[str]) -> None:
        self._spec, self._same = spec, same
        changed = (i for i in spec.instructions.values() if i.opcode not in same)
        self._changed = {_facts(v): v for i in changed for v in i.variants}

    def has(self, variant: Variant, instead: Instead) -> bool:
        """Return whether a recipe is the same, and all of its variants compute the same and need the same."""
        earlier = self._earlier(variant)
        if earlier is None or any(self._earlier(c.variant) is None for c in instead.calls):
            return False
        every = self._spec.instead.get(earlier) or self._spec.missing.get(earlier, ())
        return any(x is instead or (x.ptx, x.promise) == (instead.ptx, instead.promise) for x in every)

    def _earlier(self, variant: Variant) -> Variant | None:
        return variant if variant.opcode in self._same else self._changed.get(_facts(variant))


def _facts(v: Variant) -> tuple[object, ...]:
    return v.identifier, v.program, v.requires


def _agrees(result: Operand, differs: str, found: Sequence[int], expected: Sequence[int]) -> bool:
    """Return whether no more differs than a recipe states. Here each statement is correctly rounded, so a result within
    a bound is one next to the correctly rounded result; the tests let each statement err as far as it may."""
    lanes = [[x for r in registers for x in result.type.unpack(r)] for registers in (found, expected)]
    f = result.kind.format
    for x, y in zip(*lanes, strict=True):
        if x == y or (f is not None and differs != NOTHING_DIFFERS and f.is_nan(x) and f.is_nan(y)):
            continue
        if f is None or differs != WITHIN_BOUND or f.is_nan(x) or f.is_nan(y) or abs(x - y) > 1:
            return False
    return True


def _unpacked(call: RecipeStatement, register: int) -> Registers:
    """Return the registers into which a statement splits a register, the lowest first."""
    found = []
    for width in (s.type.width for s in call.variant.sources for _ in s.places):
        found.append(register & ((1 << width) - 1))
        register >>= width
    return tuple(found)


def _told(variant: Variant, instead: Instead, wrong: Counterexample) -> tuple[str, str]:
    given = "; ".join(
        f"{place} = {_lanes(x, s)}"
        for (s, place), x in zip(((s, p) for s in variant.sources for p in s.places), wrong.operands, strict=True)
    )
    made, expected = (", ".join(_lanes(x, variant.result) for x in found) for found in (wrong.recipe, wrong.variant))
    message = f"the recipe differs from {variant.spelling}: for {given} it returns {made}, not {expected}"
    only = {NAN_BITS: "only the bits of a NaN may differ"}.get(instead.differs, "every bit must be the same")
    return message, f"{only}: fix the recipe, or narrow it with `for:`"


def _lanes(register: int, operand: Operand) -> str:
    return " | ".join(describe(x, operand.type.kind) for x in operand.type.unpack(register))
