"""Units of every kind, alike in both back ends."""

from __future__ import annotations

import ctypes
import importlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT, repository
from helpers.accelerating import built, skip_without_a_compiler
from helpers.made_up_units import BITS, UNITS, special_values
from helpers.project import Project, without_recipes
from ptxspec.check.checking import check
from ptxspec.emit import units
from ptxspec.evaluate import emulator
from ptxspec.gpu.fit.observed import emulated
from ptxspec.gpu.fit.writing import as_yaml
from ptxspec.model import Argument, Differences, Fitted, Format, Interpolator, Own, Spec, Unit, UnitModel, Word
from ptxspec.read.link import read
from ptxspec.roots import Root
from ptxspec.semantics.exact import evaluate as exact, unit


def own_sum(place: int, sum: Fraction) -> Own:
    return Own(None, place, 0, sum)


def own_result(operand: int, result: int) -> Own:
    return Own(operand, 0, result, Fraction(0))


def models(spec: Spec) -> dict[str, UnitModel]:
    """Models of every kind, with coefficients of no meaning."""
    rng = np.random.default_rng(7)

    def interpolator(
        rows: int, segments: int, drop: int, columns: bool, bias: Fraction = Fraction(0), unseen: int = 0
    ) -> Interpolator:
        words = (Word(25, 24), Word(16, 15), Word(11, 9))
        columns_ = ((1 << 23, 1 << 25), (-(1 << 15), 1 << 15), (-1000, 1000))
        table = zip(*(rng.integers(low, high, rows).tolist() for low, high in columns_), strict=True)
        return Interpolator(words, drop, columns, bias, segments, tuple(table), unseen)

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
        rounding: str = "roundTowardNegative",
        own: tuple[Own, ...] = (),
    ) -> UnitModel:
        where, fitted = ("sm_90", "sm_90a"), Fitted("", "", 1)
        return UnitModel(
            "U", "u", where, format, argument, exponent, point, precision, special, core, fitted, rounding, own
        )

    return {
        "significand": model(
            f32, Argument("significand", 23, odd=True), -1, 24, 24, interpolator(64, 64, 9, True, third)
        ),
        "octaves": model(f32, Argument("significand", 20, 2), 1, 23, 24, interpolator(32, 16, 5, False), positive),
        "sum": model(f32, Argument("significand", 23), None, 26, 24, interpolator(16, 16, 12, True, -third)),
        "fixed": model(f32, Argument("fixed", 23), 1, 23, 24, interpolator(32, 32, 0, False, third)),
        "fixed in sign and magnitude": model(
            f32, Argument("fixed", 23, negative="negate"), 1, 23, 24, interpolator(32, 32, 17, True, third)
        ),
        "fixed in ones' complement": model(
            f32, Argument("fixed", 20, negative="complement"), 1, 23, 24, interpolator(32, 32, 9, False, third),
            own=(own_sum(0, Fraction(1)), own_sum(0xFFFFF, Fraction(3, 2))),
        ),
        "sum in sign and magnitude": model(
            f32, Argument("significand", 23), None, 36, 24, interpolator(64, 64, 19, True, -third), positive,
            "roundTowardZero", (own_result(0x3F800000, 0), own_result(0x40000000, 0x3F800001)),
        ),
        "a sum with an exponent in sign and magnitude": model(
            f32, Argument("turns", 25, odd=True, mirror="complement"), 0, 25, 24, interpolator(8, 8, 30, True, third),
            rounding="roundTowardZero",
        ),
        "results of their own": model(
            f32, Argument("significand", 23, 2), -1, 24, 24, interpolator(128, 64, 26, True, third, unseen=5), positive,
            own=(own_sum(0, Fraction(1)), own_sum(1 << 23, Fraction(0)), own_result(0x40490FDB, 0xFFC00001)),
        ),
        "a narrow squarer": model(
            f32, Argument("significand", 23), 1, 25, 24, interpolator(64, 64, 12, False, third, unseen=6)
        ),
        "turns": model(f32, Argument("turns", 24, odd=True, mirror="negate"), 0, 25, 24, interpolator(8, 8, 7, True)),
        "phase": model(
            f32, Argument("turns", 22, phase=1, mirror="complement", factor=Fraction(5, 16), kept=25), 0, 24, 20,
            interpolator(8, 8, 3, True),
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
    x = operands_of(f)
    with np.errstate(all="ignore"):
        got = ptxemu.unit.unit(x, emulated(model, ptxemu))
    assert got.dtype == x.dtype
    assert got.tolist() == [unit.evaluate(model, int(v), exact._rounded) for v in x]
    assert ptxemu.unit.unit(x[3], emulated(model, ptxemu)) == got[3]


def operands_of(f: Format) -> Any:
    """Special ones, and numbers of every exponent."""
    rng = np.random.default_rng(8)
    near = rng.integers(0, 1 << f.fraction_bits, 800, dtype=np.uint64)
    exponents = np.clip(f.bias + rng.integers(-16, 9, 800), 1, 2 * f.bias).astype(np.uint64)
    signs = rng.integers(0, 2, 800, dtype=np.uint64)
    numbers = signs << np.uint64(f.width - 1) | exponents << np.uint64(f.fraction_bits) | near
    anywhere = rng.integers(0, 1 << 63, 400, dtype=np.uint64) >> np.uint64(max(0, 63 - f.width))
    return np.concatenate([special_values(f), numbers, anywhere]).astype(f"u{f.width // 8}")


def test_c_agrees_on_every_kind_of_unit_that_it_has(tmp_path: Path) -> None:
    skip_without_a_compiler()
    with_c = {name: m for name, m in KINDS.items() if units.has_c(m)}
    assert {n for n, m in KINDS.items() if m.format.name == "f32" and isinstance(m.core, Interpolator)} - set(
        with_c
    ) == {"fixed", "a sum with an exponent in sign and magnitude"}
    made = [replace(m, unit=f"U{i}") for i, m in enumerate(with_c.values())]
    text = "\n".join(['#include "unit.h"', *(units.in_c(m) for m in made)])
    loops = "".join(
        f"EXPORTED void u{i}(size_t n, const uint32_t *x, uint32_t *d) {{\n"
        f"    for (size_t i = 0; i < n; i++) d[i] = unit_{m.identifier}(x[i]);\n}}\n"
        for i, m in enumerate(made)
    )
    library = ctypes.CDLL(
        built(tmp_path, f'#include "formats.h"\n#include "kernel.h"\n{text}\n{loops}', "-march=native")
    )
    for i, (name, m) in enumerate(with_c.items()):
        x = operands_of(m.format)
        d = np.zeros_like(x)
        getattr(library, f"u{i}")(
            ctypes.c_size_t(len(x)), ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(d.ctypes.data)
        )
        with np.errstate(all="ignore"):
            assert d.tolist() == ptxemu.unit.unit(x, emulated(m, ptxemu)).tolist(), name


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
        if argument.kind == "fixed":
            argument = replace(argument, negative="complement")
        assert isinstance(core, Interpolator)
        core = replace(core, segments=64 // argument.octaves)
    return UnitModel(u.name, u.name, within, u.format, argument, exponent, 24, precision, special, core, fitted)


def test_every_path_runs_alike_in_both_back_ends(project: Project) -> None:
    for path in (ROOT / "spec/instructions").iterdir():
        if "\nhardware:\n" in path.read_text("utf-8"):
            project.write(f"spec/instructions/{path.name}", without_recipes(path.read_text("utf-8")))
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
