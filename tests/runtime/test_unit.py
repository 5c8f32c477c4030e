"""Units of every kind, alike in both back ends."""

from __future__ import annotations

import importlib
import shutil
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT, repository
from helpers.made_up import BITS, UNITS, special_values
from helpers.project import Project
from ptxspec.check.checking import check
from ptxspec.evaluate import emulator
from ptxspec.gpu.fit.fitting import as_yaml, emulated
from ptxspec.model import Argument, Differences, Fitted, Format, Interpolator, Spec, Unit, UnitModel, Word
from ptxspec.read.link import read
from ptxspec.roots import Root
from ptxspec.semantics.exact import evaluate as exact, unit


def models(spec: Spec) -> dict[str, UnitModel]:
    """Models of every kind, with coefficients of no meaning."""
    rng = np.random.default_rng(7)

    def interpolator(rows: int, segments: int, drop: int, columns: bool, bias: Fraction = Fraction(0)) -> Interpolator:
        words = (Word(25, 24), Word(16, 15), Word(11, 9))
        columns_ = ((1 << 23, 1 << 25), (-(1 << 15), 1 << 15), (-1000, 1000))
        table = zip(*(rng.integers(low, high, rows).tolist() for low, high in columns_), strict=True)
        return Interpolator(words, drop, columns, bias, segments, tuple(table))

    def table(function: str, places: int, width: int) -> Differences:
        steps = rng.integers(-100, 100, places).astype(f"<i{width}")
        return Differences(function, "t.txt", width, unit.pack(steps.tobytes()))

    f32, f16, f64 = spec.formats["f32"], spec.formats["f16"], spec.formats["f64"]
    special = {"+zero": 1, "-zero": 2, "+infinity": 3, "-infinity": 4, "nan": 5}
    positive = {**special, "negative": 6}
    third = Fraction(3, 2**26)

    def model(
        format: Format,
        argument: Argument,
        exponent: int | None,
        point: int,
        precision: int,
        core: Any,
        special: dict[str, int] = special,
    ) -> UnitModel:
        where, fitted = ("sm_90", "sm_90a"), Fitted("", "", 1)
        return UnitModel("U", "u", where, format, argument, exponent, point, precision, special, core, fitted)

    return {
        "significand": model(
            f32, Argument("significand", 23, odd=True), -1, 24, 24, interpolator(64, 64, 9, True, third)
        ),
        "octaves": model(f32, Argument("significand", 20, 2), 1, 23, 24, interpolator(32, 16, 5, False), positive),
        "sum": model(f32, Argument("significand", 23), None, 26, 24, interpolator(16, 16, 12, True, -third)),
        "fixed": model(f32, Argument("fixed", 23), 1, 23, 24, interpolator(32, 32, 0, False, third)),
        "turns": model(f32, Argument("turns", 24, odd=True, mirror="negate"), 0, 25, 24, interpolator(8, 8, 7, True)),
        "phase": model(
            f32, Argument("turns", 22, phase=1, mirror="complement"), 0, 24, 20, interpolator(8, 8, 3, True)
        ),
        "range": model(
            f32, Argument("octaves", 23, first=-12, last=3, odd=True), 1, 24, 24, interpolator(64, 4, 8, True)
        ),
        "range of positive numbers": model(
            f32, Argument("octaves", 23, first=-12, last=3), 1, 24, 24, interpolator(64, 4, 8, False), positive
        ),
        "upper word": model(f64, Argument("significand", 20, 2), -1, 24, 21, interpolator(32, 16, 4, True)),
        "table of significands": model(
            f32, Argument("significand", 12, 2, odd=True), -1, 0, 24, table("rSqrt", 2 << 12, 1)
        ),
        "table of fractions": model(f32, Argument("fixed", 13), 1, 0, 24, table("exp2", 1 << 13, 2)),
        "table of upper words": model(
            f64, Argument("significand", 11, odd=True), -1, 0, 21, table("reciprocal", 1 << 11, 1)
        ),
        "table of everything": model(f16, Argument("pattern", 16), 0, 0, 11, table("tanh", 1 << 16, 4), {}),
    }  # fmt: skip


KINDS = models(repository.specification())


@pytest.mark.parametrize("name", KINDS)
def test_the_back_ends_agree_on_every_kind_of_unit(name: str) -> None:
    model = KINDS[name]
    f = model.format
    importlib.import_module("ptxemu.unit")
    rng = np.random.default_rng(8)
    near = rng.integers(0, 1 << f.fraction_bits, 800, dtype=np.uint64)
    exponents = np.clip(f.bias + rng.integers(-16, 9, 800), 1, 2 * f.bias).astype(np.uint64)
    signs = rng.integers(0, 2, 800, dtype=np.uint64)
    numbers = signs << np.uint64(f.width - 1) | exponents << np.uint64(f.fraction_bits) | near
    anywhere = rng.integers(0, 1 << 63, 400, dtype=np.uint64) >> np.uint64(max(0, 63 - f.width))
    x = np.concatenate([special_values(f), numbers, anywhere]).astype(f"u{f.width // 8}")
    with np.errstate(all="ignore"):
        got = ptxemu.unit.unit(x, emulated(model, ptxemu))
    assert got.dtype == x.dtype
    assert got.tolist() == [unit.evaluate(model, int(v), exact._rounded) for v in x]
    assert ptxemu.unit.unit(x[3], emulated(model, ptxemu)) == got[3]


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("drop", [0, 1, 2, 5, 8, 13])
def test_a_square_lacks_what_stands_below(drop: int, columns: bool) -> None:
    u = replace(UNITS["RCP"], drop=drop, columns=columns, points=(0, 0, 0), bias=Fraction(0), point=2 * BITS)
    u = replace(u, table=((0, 0, 1),) * 16)
    x = np.arange(0, 1 << (BITS - u.m), 7)
    squares = ptxemu.unit.square(x.astype(np.int64), drop, columns) << drop
    assert squares.tolist() == [int(u.polynomial(int(v)) * 4**BITS) for v in x]


def some_model(u: Unit) -> UnitModel:
    """A model of a unit with the argument that is expected, and coefficients of no meaning."""
    fitted = Fitted("Made-up GPU", "1", 1)
    within, exponent, precision = ("sm_90", "sm_90a"), u.exponent, u.precision
    argument, special, core = u.argument, u.special, KINDS["significand"].core
    if argument is None:
        argument, special, core = KINDS["range"].argument, KINDS["range"].special, KINDS["range"].core
    elif argument.kind == "pattern":
        table = KINDS["table of everything"].core
        assert isinstance(table, Differences)
        core = replace(table, function=u.function, name=f"{u.name}.txt")
    else:
        if argument.kind == "turns":
            argument = replace(argument, bits=24, mirror="complement")
        assert isinstance(core, Interpolator)
        core = replace(core, segments=64 // argument.octaves)
    return UnitModel(u.name, u.name, within, u.format, argument, exponent, 24, precision, special, core, fitted)


def test_every_path_runs_alike_in_both_back_ends(project: Project) -> None:
    for path in (ROOT / "spec/instructions").iterdir():
        if "\nhardware:\n" in path.read_text("utf-8"):
            shutil.copy(path, project.root / "spec/instructions")
    made = {u.name: some_model(u) for u in read(project.root).units.values()}
    for name, model in made.items():
        project.write(f"spec/units/{name}.yaml", as_yaml(model))
        if isinstance(model.core, Differences):
            project.write(f"spec/units/{model.core.name}", model.core.text)
    result = project.run("generate")
    assert result.code == 0, result.err
    spec = read(project.root)
    for name, model in made.items():
        # Written and read it is the same; models themselves are compared as objects.
        assert [(m.core, m.argument, m.special) for m in spec.units[name].models] == [
            (model.core, model.argument, model.special)
        ]

    emu, followed = emulator(Root(project.root, False)), set()
    rng = np.random.default_rng(10)
    for c in check(spec)[0]:
        for v, programs in c.programs.items():
            if c.instruction.hardware_path(v) is None or v.lanes > 1 or v.requires.until is not None:
                continue
            assert programs["sm_90"] is programs["sm_90a"] is not programs[None]
            assert "sm_80" not in programs
            f = v.home.format
            anywhere = rng.integers(0, 1 << 63, 60, np.uint64)
            one = np.concatenate([special_values(f), anywhere]).astype(f"u{f.width // 8}")
            # Of two operands, special ones meet others.
            columns = [np.roll(one, 5 * i) for i in range(v.operands)]
            got = emu.execute(v.spelling, *columns, target="sm_90")
            rows = zip(*(x.tolist() for x in columns), strict=True)
            assert got.tolist() == [exact.run(programs["sm_90"], row)[0] for row in rows], v
            followed.add(v.spelling)
    assert {"div.full.f32", "sin.approx.f32", "lg2.approx.f32", "rcp.approx.ftz.f64", "tanh.approx.bf16"} <= followed
