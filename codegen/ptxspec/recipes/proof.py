"""Recipes against their variants: both are run by the exact back end on the same operands.

What is compared is every bit of the result, or what the recipe leaves of it. `validate` takes special values and some
at random; the tests take many more, with the emulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..diagnostics import Diagnostic
from ..evaluate import lanes_of, registers_of
from ..literals import describe
from ..model import NAN_BITS, NOTHING_DIFFERS, WITHIN_BOUND, Call, Instead, Operand, Spec, Variant
from ..semantics.compile import Compiler
from ..semantics.exact.evaluate import run
from ..semantics.program import Program
from .linking import constant
from .operands import operand_sets

# Sets of operands that validate takes for a recipe beside the special ones.
_FEW = 12


class Counterexample(NamedTuple):
    """Operands of which the recipe makes something else, with what it and the variant make of them."""

    operands: tuple[int, ...]
    recipe: tuple[int, ...]
    variant: tuple[int, ...]


@dataclass
class Prover:
    """Runs variants and recipes. Recipes that do the same with the same programs are run once."""

    spec: Spec
    compiler: Compiler

    def __post_init__(self) -> None:
        self._proved: set[object] = set()
        self._programs: dict[Variant, Program] = {}
        self._operands: dict[Variant, tuple[Operand, ...]] = {}
        self._plain: dict[Variant, bool] = {}
        self._lanes: dict[tuple[int, tuple[int, ...]], int] = {}

    def check(self) -> list[Diagnostic]:
        """What is wrong with the specification's recipes."""
        errors = []
        for variant, every in self.spec.instead.items():
            for instead in every:
                recipe = instead.recipe
                # What stands for another spelling is that by its meaning.
                if recipe is None or self._is_known(variant, instead):
                    continue
                wrong = self.counterexample(variant, instead)
                if wrong is not None:
                    errors.append(recipe.code.error(recipe.code.start, *_told(variant, instead, wrong)))
        return errors

    def counterexample(self, variant: Variant, instead: Instead) -> Counterexample | None:
        """The first of some operands on which the two differ by more than the recipe says."""
        for operands in operand_sets(variant, _FEW):
            expected = self.run_variant(variant, operands)
            found = self.run_recipe(variant, instead, operands)
            if not _agrees(variant.result, instead.differs, found, expected):
                return Counterexample(operands, found, expected)
        return None

    def run_variant(self, variant: Variant, operands: Sequence[int]) -> tuple[int, ...]:
        """The registers of a variant's result, for the registers of its sources."""
        return self._run(variant, self.program(variant), operands)

    def run_recipe(self, variant: Variant, instead: Instead, operands: Sequence[int]) -> tuple[int, ...]:
        places = (f"%{place}" for s in variant.sources for place in s.places)
        values = dict(zip(places, operands, strict=True))
        for call in instead.calls:
            if call.guard is not None and bool(values[call.guard[0]]) != call.guard[1]:
                continue
            values.update(zip(call.results, self._run_call(call, values), strict=True))
        return tuple(values[f"%{place}"] for place in variant.result.places)

    def _run_call(self, call: Call, values: Mapping[str, int]) -> Sequence[int]:
        v = call.variant
        if call.unpacks:
            left, found = values[call.arguments[0]], []
            for width in (s.type.width for s in v.sources for _ in s.places):
                found.append(left & ((1 << width) - 1))
                left >>= width
            return found
        arguments = [
            values[name] if name in values else _value(name, o, values)
            for name, o in zip(call.arguments, self._sources(v), strict=True)
        ]
        return self._run(v, self.program(v), arguments)

    def _sources(self, variant: Variant) -> tuple[Operand, ...]:
        """The source that each register of a statement belongs to."""
        found = self._operands.get(variant)
        if found is None:
            found = self._operands[variant] = tuple(s for s in variant.sources for _ in s.places)
        return found

    def program(self, variant: Variant) -> Program:
        """What a variant does on the newest target that has it."""
        found = self._programs.get(variant)
        if found is None:
            found = self._programs[variant] = self._program(variant)
        return found

    def _program(self, variant: Variant) -> Program:
        programs = self.compiler.programs(self.spec.instructions[variant.opcode], variant)
        if len(programs) == 1:
            return programs[None]
        here = [t for t in self.spec.targets if self.spec.catalog.takes(variant.requires, t)]
        return programs.get(here[-1], programs[None])

    def _run(self, variant: Variant, program: Program, registers: Sequence[int]) -> tuple[int, ...]:
        if self._is_plain(variant):
            return (self._lane(program, tuple(registers)),)
        left = iter(registers)
        columns = [lanes_of(s, [next(left) for _ in s.places], variant.lanes) for s in variant.sources]
        lanes = [self._lane(program, tuple(column[lane] for column in columns)) for lane in range(variant.lanes)]
        return tuple(registers_of(variant.result, lanes))

    def _lane(self, program: Program, operands: tuple[int, ...]) -> int:
        """A lane's result; the same is asked for by many recipes."""
        key = id(program), operands
        found = self._lanes.get(key)
        if found is None:
            found = self._lanes[key] = run(program, operands)[0]
        return found

    def _is_plain(self, variant: Variant) -> bool:
        """Whether each register is a value of one lane, as it stands."""
        found = self._plain.get(variant)
        if found is None:
            every = (variant.result, *variant.sources)
            found = self._plain[variant] = all(
                o.lanes == 1 and not o.registers and not o.lane_bits and not o.type.shift for o in every
            )
        return found

    def _is_known(self, variant: Variant, instead: Instead) -> bool:
        """Whether the same programs in the same order were compared already, with whatever lanes."""
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


def _agrees(result: Operand, differs: str, found: Sequence[int], expected: Sequence[int]) -> bool:
    """Whether no more differs than a recipe says. Inside of a bound, where each statement is rounded correctly, is what
    is next to the correctly rounded result; the tests let each statement err as far as it may."""
    lanes = [[x for r in registers for x in result.type.unpack(r)] for registers in (found, expected)]
    f = result.kind.format
    for x, y in zip(*lanes, strict=True):
        if x == y or (f is not None and differs != NOTHING_DIFFERS and f.is_nan(x) and f.is_nan(y)):
            continue
        if f is None or differs != WITHIN_BOUND or f.is_nan(x) or f.is_nan(y) or abs(x - y) > 1:
            return False
    return True


def _value(name: str, operand: Operand, values: Mapping[str, int]) -> int:
    if name.startswith("!"):
        return 1 - values[name[1:]]
    found = constant(name, operand)
    assert found is not None, name
    return found


def _told(variant: Variant, instead: Instead, wrong: Counterexample) -> tuple[str, str]:
    given = "; ".join(
        f"{place} = {_lanes(x, s)}"
        for (s, place), x in zip(((s, p) for s in variant.sources for p in s.places), wrong.operands, strict=True)
    )
    made, expected = (", ".join(_lanes(x, variant.result) for x in found) for found in (wrong.recipe, wrong.variant))
    message = f"the recipe does not do what {variant.spelling} does: of {given} it makes {made}, not {expected}"
    only = {NAN_BITS: "only the bits of a NaN may differ"}.get(instead.differs, "every bit must be the same")
    return message, f"{only}: mend the recipe, or narrow it with `for:`"


def _lanes(register: int, operand: Operand) -> str:
    return " | ".join(describe(x, operand.type.kind) for x in operand.type.unpack(register))
