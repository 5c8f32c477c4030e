"""The error of a result, and the bound beyond which it is too large."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.bench import SPEC, VARIANTS, Array, variant
from helpers.project import Project
from ptxspec.model import Variant
from ptxspec.model.bounds import parse_bound, parse_range
from ptxspec.proving.gpu import bounds, compare as comparing, vectors


def test_ranges_and_bounds_are_read_as_they_are_worded() -> None:
    x = np.array([-3.0, -0.75, 0.25, 0.5, 1.0, 2.0, 7.0, 400.0])
    wanted = {
        "": x == x, "positive and finite": x > 0, "(0.5, 2)": (x > 0.5) & (x < 2), "[-2pi, 2pi]": np.abs(x) < 6.3,
        "positive and finite outside (0.5, 2)": (x > 0) & ~((x > 0.5) & (x < 2)),
        "2^-1 <= |b| <= 2^2": (np.abs(x) >= 0.5) & (np.abs(x) <= 4),
    }  # fmt: skip
    for text, holds in wanted.items():
        assert np.array_equal(parse_range(text).holds(x), holds), text
    for text in ("small", "positive and finite outside ", "positive and finite(0, 1)", "[1, 2", "1 <= b <= 2"):
        with pytest.raises(ValueError, match="not a range"):
            parse_range(text)
    assert parse_bound("2") == 2 and parse_bound("2^-23") == Fraction(1, 1 << 23)
    assert 0 <= float(parse_bound("2^-20.5")) / 2.0**-20.5 - 1 < 1e-15


def test_a_range_that_cannot_be_read_is_an_error_of_the_specification(project: Project) -> None:
    shutil.copy(ROOT / "spec/instructions/sin.yaml", project.root / "spec/instructions/sin.yaml")
    project.edit("spec/instructions/sin.yaml", '"[-100pi, 100pi]"', '"up to 100 pi"')
    result = project.run("validate")
    assert result.code == 1 and "'up to 100 pi' is not a range" in result.err
    assert project.place("spec/instructions/sin.yaml", '"up to 100 pi"') in result.err


def judge(spelling: str) -> tuple[Variant, bounds.Judge]:
    v = variant(spelling)
    return v, bounds.Judge(SPEC, SPEC.instructions[v.opcode], v, None)


@pytest.mark.parametrize(
    ("spelling", "function"),
    [
        ("ex2.approx.f32", gmpy2.exp2), ("lg2.approx.f32", gmpy2.log2), ("sin.approx.f32", gmpy2.sin),
        ("cos.approx.f32", gmpy2.cos), ("tanh.approx.f32", gmpy2.tanh), ("tanh.approx.bf16", gmpy2.tanh),
        ("sqrt.approx.f32", gmpy2.sqrt), ("rsqrt.approx.f32", gmpy2.rec_sqrt), ("rcp.approx.f32", lambda x: 1 / x),
        ("ex2.approx.f16", gmpy2.exp2), ("div.full.f32", lambda x, y: x / y),
    ],
)  # fmt: skip
def test_an_error_is_that_of_mpfr(spelling: str, function: Callable[..., gmpy2.mpfr]) -> None:
    """Results that are some units off: each error, and on which side of the bound it is, as MPFR has it."""
    v, j = judge(spelling)
    f = v.result.kind.format
    rng = np.random.default_rng(7)
    columns = [x.astype(f"u{f.width // 8}") for x in _moderate(rng, f, v.operands, 400)]
    want = ptxemu.execute(spelling, *columns)
    steps = 2.0 * float(j.bounds[0].bound) if j.bounds[0].kind == "ulp" else 3
    got = (want.astype(np.int64) + rng.integers(-int(steps), int(steps) + 1, want.size)).astype(want.dtype)
    found = j.judge(columns, got, want)
    checked = 0
    with gmpy2.context(precision=200):
        for i in range(got.size):
            xs = [float(bounds.values(c[i : i + 1], f)[0]) for c in columns]
            exact = function(*map(gmpy2.mpfr, xs))
            g = float(bounds.values(got[i : i + 1], f)[0])
            if not gmpy2.is_finite(exact) or not np.isfinite(g) or exact == 0:
                continue
            parts = []
            for b in j.bounds:
                if b.range.holds(np.array(xs[-1])):
                    unit = gmpy2.mpfr(2) ** (max(gmpy2.get_exp(exact) - 1, f.emin) - f.fraction_bits)
                    if b.kind == "ulp from the rounded result":
                        exact = gmpy2.rint(exact / unit) * unit
                        unit = gmpy2.mpfr(2) ** (max(gmpy2.get_exp(exact) - 1, f.emin) - f.fraction_bits)
                    least = gmpy2.mpfr(2) ** (f.emin - f.fraction_bits)
                    relative = max(abs(exact) * float(b.bound), least)
                    allowed = {"ulp": unit * b.bound, "relative": relative, "absolute": b.bound}[b.kind.split()[0]]
                    allowed = gmpy2.mpfr(allowed)
                    parts.append(float(abs(g - exact) / allowed))
            assert found.outside[i] == (max(parts, default=0) > 1)
            assert found.error[i] == pytest.approx(max(parts, default=0), rel=1e-8, abs=1e-9)
            assert found.open[i] == (not parts)
            checked += 1
    assert checked > 300 and (found.error > 0).sum() > 150


def _moderate(rng: np.random.Generator, f: Any, count: int, size: int) -> Iterator[Array]:
    """Encodings of numbers between 2^-6 and 2^3."""
    for _ in range(count):
        exponent = rng.integers(f.bias - 6, f.bias + 3, size).astype(np.uint64)
        yield exponent << np.uint64(f.fraction_bits) | rng.integers(0, 1 << f.fraction_bits, size).astype(np.uint64)


@pytest.mark.parametrize(
    ("spelling", "operands", "got", "outside", "open"),
    [
        # A NaN and a number; two NaNs, of which the bits are nobody's promise.
        ("lg2.approx.f32", [0xBF800000], 0x3F800000, True, False),
        ("lg2.approx.f32", [0x3F800001], 0x7FFFFFFF, True, False),
        ("lg2.approx.f32", [0xBF800000], 0xFFC00000, False, False),
        # Zeros and infinities are in the tables, their signs too.
        ("rcp.approx.f32", [0x80000000], 0x7F800000, True, False),
        ("sin.approx.f32", [0x80000000], 0x00000000, True, False),
        ("ex2.approx.f32", [0x00000000], 0x3F800001, True, False),
        # With .ftz a subnormal operand counts as a zero, and a subnormal result is none.
        ("ex2.approx.ftz.f32", [0x00000001], 0x3F800001, True, False),
        ("ex2.approx.ftz.f32", [0xC2FC8000], 0x00400000, True, False),
        ("ex2.approx.f32", [0xC2FC8000], 0x006BA280, False, False),
        # Just above the smallest normal number a result may be flushed, well above not.
        ("rcp.approx.ftz.f32", [0x7E7FFFFF], 0x00000000, False, False),
        ("rcp.approx.ftz.f32", [0x7E000000], 0x00000000, True, False),
        # An overflow is the first number beyond the largest one.
        ("ex2.approx.f32", [0x42FFFFFF], 0x7F800000, True, False),
        ("rcp.approx.f32", [0x00200001], 0x7F800000, True, False),
        ("ex2.approx.f32", [0x43000000], 0x7F7FFFFF, False, False),
        ("ex2.approx.f32", [0x43000000], 0x7F7FFFFB, True, False),
        ("ex2.approx.f32", [0x7F000000], 0x7F7FFFFF, True, False),
        ("ex2.approx.f32", [0x7F000000], 0xFF800000, True, False),
        # The powers of two count from the rounded result: here 1, of which two units are 2^-22 on both sides.
        ("ex2.approx.f32", [0x81F36032], 0x3F7FFFFC, False, False),
        ("ex2.approx.f32", [0x81F36032], 0x3F7FFFFB, True, False),
        ("ex2.approx.f32", [0x01F36032], 0x3F800002, False, False),
        ("ex2.approx.f32", [0x01F36032], 0x3F800003, True, False),
        # 2^0.3 is 0.04 units below 0x3f9d9624: two units above that are more than two above the exact value.
        ("ex2.approx.f32", [0x3E99999A], 0x3F9D9626, False, False),
        ("ex2.approx.f32", [0x3E99999A], 0x3F9D9627, True, False),
        # Outside of every range there is no bound.
        ("sin.approx.f32", [0x4B000000], 0x3F000000, False, True),
        ("div.approx.f32", [0x7F000000, 0x7F000001], 0x3F7FFFFE, False, True),
        # Far off.
        ("sqrt.approx.f32", [0x40800000], 0x40000100, True, False),
    ],
)  # fmt: skip
def test_results_at_the_edges(spelling: str, operands: list[int], got: int, outside: bool, open: bool) -> None:
    v, j = judge(spelling)
    columns = [np.array([x], f"u{v.sources[0].type.width // 8}") for x in operands]
    found = j.judge(columns, np.array([got], columns[0].dtype), ptxemu.execute(spelling, *columns))
    assert (bool(found.outside[0]), bool(found.open[0])) == (outside, open)


@pytest.mark.parametrize("spelling", ["ex2.approx.f32", "ex2.approx.ftz.f32"])
def test_what_counts_from_the_rounded_result_is_not_evaluated_one_by_one_beside_a_power_of_two(
    spelling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third of all operands are so small that the result is 1."""
    _, j = judge(spelling)
    rng, error = np.random.default_rng(11), j.error
    magnitudes = rng.integers(0x00800000, 0x20000000, 60, dtype=np.uint32)
    operands = magnitudes | rng.integers(0, 2, 60, dtype=np.uint32) << np.uint32(31)
    want = ptxemu.execute(spelling, operands)
    got = want + rng.integers(0, 7, 60).astype(np.uint32) - np.uint32(3)
    monkeypatch.setattr(j, "error", lambda *_: pytest.fail("float64 knows it"))
    found = j.judge([operands], got, want)
    exact = [error([x], g, j.bounds[0]) for x, g in zip(operands.tolist(), got.tolist(), strict=True)]
    assert found.error.tolist() == exact and {0.5, 1.5} <= set(exact)
    assert found.outside.tolist() == [part > 1 for part in exact]


@pytest.mark.parametrize(
    ("operand", "off", "target", "outside", "excused"),
    [
        # Hardware of sm_75 has 1.05 times the bound at worst: between -2pi and 2pi.
        (4.9, 1.04, "sm_75", True, True),
        (4.9, 1.04, "sm_61", True, False),
        (4.9, 1.10, "sm_75", True, False),
        # The bound of larger angles is not known to be exceeded.
        (50.0, 1.04, "sm_75", True, False),
        (50.0, 0.99, "sm_75", False, False),
    ],
)
def test_only_the_bound_that_hardware_is_known_to_exceed_excuses(
    operand: float, off: float, target: str, outside: bool, excused: bool
) -> None:
    v = variant("cos.approx.f32")
    j = bounds.Judge(SPEC, SPEC.instructions["cos"], v, target)
    x = np.array([operand], np.float32)
    bound = 2**-20.5 if operand < 6 else 2**-14.7
    got = (np.cos(x.astype(np.float64)) + off * bound).astype(np.float32).view(np.uint32)
    found = j.judge([x.view(np.uint32)], got, ptxemu.execute("cos.approx.f32", x.view(np.uint32)))
    assert (bool(found.outside[0]), bool(found.excused[0])) == (outside, excused)


def test_every_bounded_variant_is_judged() -> None:
    for v in VARIANTS:
        if v.claim == "bounded":
            comparison = comparing.Comparison(SPEC, v, None)
            columns = vectors.operands(v, "grid", 0, 50)
            want = ptxemu.execute(v.spelling, *columns)
            assert comparison.agrees(comparison.compare(columns, want, want)) is True
            far = comparison.compare(columns, want ^ want.dtype.type(1 << (v.result.kind.format.width - 2)), want)
            assert comparison.agrees(far) is False and far.case is not None
