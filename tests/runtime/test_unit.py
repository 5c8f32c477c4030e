"""Units of every kind, alike in both back ends."""

from __future__ import annotations

import ctypes
import importlib
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import ptxemu.unit
import pytest
from helpers import ROOT, extension, repository
from helpers.made_up_units import BITS, UNITS, Array, special_values
from helpers.project import Project, without_recipes
from helpers.unit_models import as_yaml, emulated, models, operands_of
from ptxspec.check.checking import check
from ptxspec.emit import units
from ptxspec.evaluate import emulator
from ptxspec.model import Differences, Format, Interpolator, Unit, UnitModel
from ptxspec.roots import Root
from ptxspec.semantics.exact import evaluate as exact, unit
from ptxspec.specification import read

pytestmark = pytest.mark.inputs("emulator", "native", "codegen/ptxspec/semantics")

KINDS = models(repository.specification())


@pytest.mark.sampled(9)
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


@pytest.mark.parametrize("name", UNITS)
def test_both_back_ends_compute_what_fractions_do(name: str) -> None:
    u, f32 = UNITS[name], repository.specification().formats["f32"]
    assert isinstance(f32, Format)
    model = u.model(f32)
    x: Array = np.concatenate([special_values(f32), np.random.default_rng(90).integers(0, 1 << 32, 500)])
    wanted = [u(int(v)) for v in x]
    importlib.import_module("ptxemu.unit")
    with np.errstate(all="ignore"):
        assert ptxemu.unit.unit(x.astype(np.uint32), emulated(model, ptxemu)).tolist() == wanted
    assert [unit.evaluate(model, int(v), exact._rounded) for v in x] == wanted


def test_units_are_loaded_when_one_is_run() -> None:
    code = (
        "import sys, ptxemu, numpy as np\n"
        "for target in (None, 'sm_70'):\n"
        "    ptxemu.execute('sin.approx.f32', np.float32(1), target=target)\n"
        "    print(*('ptxemu.' + name in sys.modules for name in ('unit', 'units')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"] * 2 + ["True"] * 2


@pytest.mark.exhaustive
def test_c_agrees_on_every_kind_of_unit_that_it_has(tmp_path: Path) -> None:
    with_c = {name: m for name, m in KINDS.items() if units.has_c(m)}
    assert {n for n, m in KINDS.items() if m.format.name == "f32" and isinstance(m.core, Interpolator)} - set(
        with_c
    ) == {"fixed", "a sum with an exponent in sign and magnitude"}
    made = [replace(m, unit=f"U{i}") for i, m in enumerate(with_c.values())]
    text = "\n".join(['#include "unit.h"', *(units.in_c(m) for m in made)])
    loops = "".join(
        f"void u{i}(size_t n, const uint32_t *x, uint32_t *d) {{\n"
        f"    for (size_t i = 0; i < n; i++) d[i] = unit_{m.identifier}(x[i]);\n}}\n"
        for i, m in enumerate(made)
    )
    library = extension.library(tmp_path, f'#include "formats.h"\n#include "kernel.h"\n{text}\n{loops}')
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


def some_model(u: Unit, which: int) -> UnitModel:
    """A model of a unit: one of those of its format, or another's table."""
    known = [m for m in KINDS.values() if m.format.name == u.format.name and not m.own]
    if not known:
        known = [replace(KINDS["table of everything"], format=u.format, precision=u.format.precision)]
    model = known[which % len(known)]
    core = replace(model.core, name=f"{u.name}.txt") if isinstance(model.core, Differences) else model.core
    return replace(model, unit=u.name, name=u.name, core=core)


@pytest.mark.exhaustive
def test_every_path_runs_alike_in_both_back_ends(project: Project) -> None:
    for path in (ROOT / "spec/instructions").iterdir():
        if "\nhardware:\n" in path.read_text("utf-8"):
            project.write(f"spec/instructions/{path.name}", without_recipes(path.read_text("utf-8")))
    made = {u.name: some_model(u, i) for i, u in enumerate(read(project.root).units.values())}
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

    emu, followed = emulator(Root(project.root)), set()
    rng = np.random.default_rng(10)
    for c in check(spec)[0]:
        for v, programs in c.programs.items():
            if all(p.within for p in c.instruction.hardware_paths(v)) or v.lanes > 1 or v.requires.until is not None:
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
