"""A model of the special function unit is found again in what it computes, and followed by the emulator."""

from __future__ import annotations

import gc
import importlib
import json
import math
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT, repository
from helpers.made_up_recordings import SMALL, record, recorded_as
from helpers.made_up_units import BITS, INFINITY, NAN, SIGN, UNITS, Array, hardware, special_values, truncated
from helpers.project import Project, again
from helpers.sizes import each_size
from helpers.standin import StandIn
from ptxspec.cli import conformance
from ptxspec.evaluate import emulator
from ptxspec.gpu import cuda
from ptxspec.gpu.bounds import Judge
from ptxspec.gpu.fit.arrays import run
from ptxspec.gpu.fit.fitting import fit
from ptxspec.gpu.fit.interpolator import common_residue
from ptxspec.gpu.fit.observed import emulated, programs
from ptxspec.model import Argument, Fitted, Interpolator, UnitModel, Word
from ptxspec.read.link import read
from ptxspec.roots import Root


def test_what_is_computed_of_a_block_does_not_wait_for_the_garbage_collector() -> None:
    spec = repository.specification()
    program = programs(spec, spec.units["EX2"], "sm_75")[0][1]
    made: list[weakref.ref[Array]] = []

    def noted(x: Array) -> Array:
        made.append(weakref.ref(result := x.copy()))
        return result

    gc.disable()
    try:
        run(program, np.arange(8, dtype=np.uint32), ptxemu, noted)
        assert made and all(m() is None for m in made)
    finally:
        gc.enable()


def test_units_of_the_repository_are_followed_where_they_are_known() -> None:
    spec = repository.specification()
    known = {u.name for u in spec.units.values() if u.models}
    assert known == {"RCP", "RSQ", "SQRT", "LG2", "EX2", "SIN", "COS", "RRO_SIN", "RRO_COS"}
    # No GPU was recorded.
    assert all(m.fitted.reported == "ptx-math" and not m.fitted.gpu for u in spec.units.values() for m in u.models)
    paths = [(i, p) for i in spec.instructions.values() for p in i.hardware]
    assert {i.opcode for i, _ in paths} == {"cos", "div", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh"}
    assert {u for _, p in paths for u in p.units} == set(spec.units)
    x = np.arange(0, 1 << 32, 9_999_991, dtype=np.uint32)
    for spelling in ("rcp.approx.f32", "sin.approx.f32"):
        assert (ptxemu.execute(spelling, x, target="sm_90") == ptxemu.execute(spelling, x)).all()
        assert (ptxemu.execute(spelling, x, target="sm_75") != ptxemu.execute(spelling, x)).any()
    data = json.loads((ROOT / "generated/data/ptxspec.json").read_text("utf-8"))
    assert [m["reported"] for m in data["units"]["EX2"]["models"]] == ["ptx-math"]


@each_size
def test_made_up_units_are_found_again_and_followed(
    with_units: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], whole: bool
) -> None:
    units = UNITS if whole else {n: UNITS[n] for n in ("RCP", "RSQ")}
    built = Project(again(with_units(*units), tmp_path / "project"), capsys)
    folder = record(built, tmp_path / "recording", {n: lambda x, u=u: hardware(u, x) for n, u in units.items()})  # type: ignore[misc]
    before = emulator(Root(built.root))
    names = [a for n in units for a in ("--unit", n)]
    result = built.run("fit", folder, *names, "--record")
    assert result.code == 0, result.out + result.err
    assert result.out.count("exact: all ") == len(units)
    assert built.run("validate").code == 0
    assert "python/ptxemu/units.py" in built.run("generate").out

    spec = read(built.root)
    for name, u in units.items():
        model = spec.model(name, "sm_90")
        assert model is not None and model is spec.model(name, "sm_90a")
        assert spec.model(name, "sm_89") is None and spec.model(name, "sm_100") is None
        assert model.fitted.gpu == "Made-up GPU" and model.fitted.results > spec.units[name].cores[0].count
        # C1 and C2 are those that were made up, in words of the same or more places.
        for k in (1, 2):
            finer = model.core.words[k].point - u.points[k]  # type: ignore[union-attr]
            if finer >= 0:
                assert [r[k] for r in model.core.coefficients] == [r[k] << finer for r in u.table]  # type: ignore[union-attr]

    again(built.root, tmp_path / "second")
    emu = emulator(Root(tmp_path / "second"))
    rng = np.random.default_rng(90)
    x = np.concatenate([special_values(spec.formats["f32"]), rng.integers(0, 1 << 32, 1500)]).astype(np.uint32)
    for name, u in units.items():
        got = emu.execute(u.variant, x, target="sm_90")
        flushed = [int(v) & SIGN if int(v) & ~SIGN < 1 << 23 else int(v) for v in x]
        assert got.tolist() == [hardware(u, v) for v in flushed], name
        assert (emu.execute(u.variant, x, target="sm_90a") == got).all()
        for target in (None, "sm_80", "sm_100"):
            assert (emu.execute(u.variant, x, target=target) == before.execute(u.variant, x)).all()

    # Around the unit: a scale keeps subnormal numbers away from it. Powers of two multiply exactly in float32.
    values = x.view(np.float32)
    size = np.abs(values)
    with np.errstate(all="ignore"):
        scale = np.where(size < 2.0**-126, 2.0**24, np.where(size > 2.0**126, 0.25, 1)).astype(np.float32)
        inner = np.array([UNITS["RCP"](int(v)) for v in (values * scale).view(np.uint32)], np.uint32)
        wanted = (inner.view(np.float32) * scale).view(np.uint32)
        tiny = size < 2.0**-126
        inner = np.array(
            [UNITS["RSQ"](int(v)) for v in np.where(tiny, values * 2.0**24, values).astype(np.float32).view(np.uint32)]
        )
        root = inner.astype(np.uint32).view(np.float32)
        wanted_root = np.where(tiny, root * np.float32(4096), root).astype(np.float32).view(np.uint32)
    for spelling, numbers in (("rcp.approx.f32", wanted), ("rsqrt.approx.f32", wanted_root)):
        nan = (numbers & ~np.uint32(SIGN)) > INFINITY
        assert (emu.execute(spelling, x, target="sm_90") == np.where(nan, NAN, numbers)).all(), spelling
    found = Project(tmp_path / "second", built._capture).run(
        "eval", "rcp.approx.f32", "0x7f000001", "--target", "sm_90", "--trace"
    )
    assert found.code == 0 and "reciprocal = unit(RCP, scaled)" in found.out, found.err
    # The trace shows what was read of the unit's table.
    assert "    RCP         of sm_90 to sm_90a: segment 0, place 0 in it, scale 2^125\n" in found.out
    assert "    table       C0, C1, C2 = " in found.out and "scaled and cut off to 24 bits\n" in found.out
    data = json.loads((built.root / "generated/data/ptxspec.json").read_text("utf-8"))
    assert data["units"]["RCP"]["models"][0]["within"] == "sm_90..sm_90a"
    assert "sm_90, sm_90a" in (built.root / "generated/manual/rcp.md").read_text("utf-8")
    in_c = (built.root / "generated/python/ptxemu/native/rcp.c").read_text("utf-8")
    # The coefficients that were made up are wider than any that was published: C has no word for them.
    assert "LANE(rcp_approx_f32_1," in in_c and "LANE(rcp_approx_f32_1_sm_90," not in in_c


@pytest.mark.exhaustive
def test_what_was_recorded_fitted_and_followed_is_measured(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's commands, on a stand-in for a GPU that has a made-up unit."""
    spelling = UNITS["RCP"].variant

    def gpu(operands: Sequence[Array], _: Array) -> Array:
        return np.array([hardware(UNITS["RCP"], int(x)) for x in operands[0]], np.uint32)

    device = StandIn(emulator(Root(built.root)), wrong={spelling: gpu})
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conformance.vectors, "Sizes", lambda **_: SMALL)
    folder = built.root / "tests/recordings/made-up"

    def row(*arguments: str | Path) -> dict[str, Any]:
        result = built.run("conformance", *arguments, "--format", "json")
        (found,) = [v for v in json.loads(result.out)["variants"] if v["variant"] == spelling]
        return {**found, "told": result.err}

    recorded = row("--record", folder)
    assert (recorded["claim"], recorded["verdict"]) == ("bounded", "disagrees")
    assert recorded["found"]["count"] == 76 + 16384 + 256
    # What is not known yet of the GPU is fitted at once.
    assert re.search(r"^RCP: .*\n  written: .*/spec/units/RCP-sm_90.yaml$", recorded["told"], re.MULTILINE)
    assert recorded["told"].endswith("what agrees in every bit is then measured\n")
    assert built.run("generate").code == 0
    again(built.root, tmp_path / "second")
    second = Project(tmp_path / "second", built._capture)
    replayed = second.run("conformance", "--replay", second.root / "tests/recordings/made-up")
    assert re.search(rf"^{spelling} .* agrees$", replayed.out, re.MULTILINE), replayed.out + replayed.err
    # Errors are still those from the function, not from what the unit makes of it.
    spec = read(second.root)
    v = next(v for v in spec.instructions["rcp"].variants if v.spelling == spelling)
    judge = Judge(spec, spec.instructions["rcp"], v, "sm_90")
    assert judge.error([0x40400000], 0x3EAAAAAB, judge.bounds[0]) < 0.5
    (registered,) = spec.recordings
    assert (spelling, 1) in registered.equal
    assert second.run("generate").code == 0
    assert "claim   measured" in second.run("query", spelling, "--target", "sm_90").out


def test_a_common_residue_is_found_where_there_is_one() -> None:
    rng = np.random.default_rng(9)
    found = 0
    for _ in range(300):
        modulus = 1 << int(rng.integers(1, 6))
        choices = [
            [(int(a), int(a + b)) for a, b in zip(rng.integers(-50, 50, n), rng.integers(0, 20, n), strict=True)]
            for n in rng.integers(1, 4, int(rng.integers(1, 5)))
        ]
        allowed = [
            r for r in range(modulus)
            if all(any((v - r) % modulus == 0 for a, b in c for v in range(a, b + 1)) for c in choices)
        ]  # fmt: skip
        got = common_residue(choices, modulus)
        assert got in allowed if allowed else got is None
        if got is not None:
            found += 1
            assert all((got & -got or modulus) >= (r & -r or modulus) for r in allowed)
    assert 50 < found < 300


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_a_unit_of_the_published_size_is_found_again(tmp_path: Path, seed: int) -> None:
    """128 segments with words of 26, 16 and 10 bits, 65,536 results each, as a GPU would be recorded."""
    spec, rng = repository.specification(), np.random.default_rng(seed)
    drop, columns, bias = int(rng.integers(4, 11)), bool(seed % 2), Fraction(int(rng.integers(0, 8)), 2**28)
    nodes = (np.cos(np.pi * (np.arange(9) + 0.5) / 9) + 1) / 2 / 128
    rows = []
    for i in range(128):
        c2, c1, c0 = np.polyfit(nodes, 1 / (1 + i / 128 + nodes), 2)
        rows.append((round(c0 * 2**26 * (1 - 2.0**-25)), round(c1 * 2**16), round(c2 * 2**10)))
    core = Interpolator((Word(26, 26), Word(16, 16), Word(10, 10)), drop, columns, bias, 128, tuple(rows))
    u = spec.units["RCP"]
    argument = Argument("significand", 23, odd=True)
    where, fitted = ("sm_90", "sm_90"), Fitted("", "", 1)
    model = UnitModel("RCP", "RCP", where, u.format, argument, -1, 24, 24, u.special, core, fitted)
    importlib.import_module("ptxemu.unit")
    gpu = emulated(model, ptxemu)
    outcome = fit(spec, u, recorded_as(tmp_path, "rcp.approx.ftz.f32", lambda x: ptxemu.unit.unit(x, gpu)), ptxemu)
    assert outcome.model is not None, outcome.report
    found = outcome.model.core
    assert isinstance(found, Interpolator)
    assert [r[1:] for r in found.coefficients] == [r[1:] for r in rows]


def unrounded(u: Any, place: int) -> Fraction:
    """A made-up unit's sum before it is rounded to a last place."""
    return replace(u, point=60).polynomial(place)  # type: ignore[no-any-return]


def logarithm_in_sign_and_magnitude(x: int) -> int:
    """Of 1.0 it is zero; every other sum is truncated behind the exponent, toward zero."""
    u = UNITS["LG2"]
    if (special := u.special(x)) is not None:
        return special
    if x == 0x3F800000:
        return 0
    exponent, fraction = (x >> 23 & 255) - 127, x >> (23 - BITS) & (1 << BITS) - 1
    total = (unrounded(u, fraction) + exponent) * 2**u.point
    return truncated(Fraction(int(total), 2**u.point))


def root_with_exact_powers(x: int) -> int:
    """Of even powers of two it is exact, whatever the polynomial says."""
    u = UNITS["RSQ"]
    exponent = (x >> 23 & 255) - 127
    exact = u.special(x) is None and exponent % 2 == 0 and not x >> (23 - BITS) & (1 << BITS) - 1
    return truncated(Fraction(2) ** (-exponent // 2)) if exact else u(x)


def power_in_ones_complement(x: int) -> int:
    u = UNITS["EX2"]
    value = Fraction(float(np.uint32(x).view(np.float32))) if u.special(x) is None else Fraction(0)
    if not -200 < value < 0:
        return u(x)
    size = math.floor(-value * 2**BITS)
    fixed = -size - (size % 2**BITS != 0)
    return truncated(u.polynomial(fixed % 2**BITS) * Fraction(2) ** (fixed // 2**BITS))


STRUCTURES = {
    "LG2": logarithm_in_sign_and_magnitude,
    "RSQ": root_with_exact_powers,
    "EX2": power_in_ones_complement,
}


@pytest.mark.exhaustive
def test_units_with_other_structures_are_found_again(
    with_units: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = list(STRUCTURES)
    built = Project(again(with_units(*names), tmp_path / "whole"), capsys)
    folder = record(built, tmp_path / "recording", {n: STRUCTURES[n] for n in names})
    result = built.run("fit", folder, *(a for n in names for a in ("--unit", n)), "--record")
    assert result.code == 0, result.out + result.err
    for module in ("formats", "unit"):
        importlib.import_module(f"ptxemu.{module}")
    spec = read(built.root)
    rng = np.random.default_rng(17)
    x = np.concatenate([special_values(spec.formats["f32"]), rng.integers(0, 1 << 32, 1500)]).astype(np.uint32)
    powers = np.arange(0x20000000, 0x60000000, 1 << 23, dtype=np.uint32)
    x = np.concatenate([x, powers, powers | np.uint32(SIGN)])
    for name in names:
        model = spec.model(name, "sm_90")
        assert model is not None
        with np.errstate(all="ignore"):
            got = ptxemu.unit.unit(x, emulated(model, ptxemu))
        assert got.tolist() == [STRUCTURES[name](int(v)) for v in x], name
    logarithm = spec.model("LG2", "sm_90")
    assert logarithm is not None and logarithm.rounding == "roundTowardZero"
    assert [(o.operand, o.result) for o in logarithm.own] == [(0x3F800000, 0)]
    root, power = spec.model("RSQ", "sm_90"), spec.model("EX2", "sm_90")
    assert root is not None and [(o.operand, o.place, o.sum) for o in root.own] == [(None, 0, 1)]
    assert power is not None and power.argument.negative == "complement"
