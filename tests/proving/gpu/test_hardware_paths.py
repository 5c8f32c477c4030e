"""The machine code around the special function unit, with an ideal unit in it: what the specification states of it must
be a way to compute the function, inside of the manual's bound."""

from __future__ import annotations

from helpers.repository import specification
from helpers.sizes import each_size, spread
from oracles import ideal_unit
from ptxspec.model import HardwarePath, Instruction, Variant

SPEC = ideal_unit.with_ideal_units(specification())


def paths() -> list[tuple[Instruction, Variant, HardwarePath]]:
    return [
        (i, v, p) for i in SPEC.instructions.values() for v in i.variants if v.lanes == 1 for p in i.hardware_paths(v)
    ]


def test_every_unit_has_its_function_here() -> None:
    assert {*SPEC.units} == {*ideal_unit.FUNCTIONS}
    assert {u for _, _, p in paths() for u in p.units} == {*SPEC.units}


@each_size
def test_with_an_ideal_unit_each_path_stays_inside_of_the_bound(whole: bool) -> None:
    every = paths()
    found = [wrong for i, v, p in (every if whole else spread(every, 6)) for wrong in ideal_unit.outside(SPEC, i, v, p)]
    assert found == []
