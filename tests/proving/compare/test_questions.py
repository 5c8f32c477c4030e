"""Questions that people ask of two instructions, or of one and its counterpart in other languages."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from helpers import ROOT
from helpers.sizes import each_size, spread
from ptxspec.model import Spec, Variant
from ptxspec.proving.compare.comparing import ComparisonResult, all_operands, signature
from ptxspec.proving.compare.differing import FLUSHED, INFINITE, MAY, NAN, NAN_BITS, SIGN, VALUE
from ptxspec.proving.compare.sides import MOST
from ptxspec.proving.compare.tallying import Difference
from ptxspec.proving.compare.telling import as_json, as_text
from ptxspec.proving.gpu.vectors import operands_of

Compare = Callable[..., ComparisonResult]


def differing(found: ComparisonResult) -> dict[tuple[int, tuple[str, ...]], Difference]:
    """Return the differences that are not allowed, by what differs and by the classes of operands."""
    return {(r.kind, r.classes): r for r in found.rows if not r.open}


def opened(found: ComparisonResult) -> set[tuple[str, tuple[str, ...]]]:
    return {(r.open, r.classes) for r in found.rows if r.kind == MAY}


def test_max_is_c_s_fmax_but_for_what_c_leaves_open(compared: Compare) -> None:
    found = compared("max.f32", "fmaxf")
    assert found.equal and not differing(found)
    zeros, signaling = "C11 leaves open which of two zeros", "C11 leaves open what becomes of signaling NaNs"
    assert opened(found) == {
        (zeros, ("+0", "-0")), (zeros, ("-0", "+0")), (signaling, ("sNaN", "any")), (signaling, ("any", "sNaN")),
    }  # fmt: skip


def test_max_drops_nans_that_numpy_keeps(compared: Compare) -> None:
    found = compared("max.f32", "numpy.maximum")
    assert {*differing(found)} == {(NAN, ("NaN", "number")), (NAN, ("number", "NaN"))}
    row = differing(found)[NAN, ("NaN", "number")]
    assert row.count == row.tried > 500
    assert row.example.operands == (0x7FC00000, 0) and row.example.a == 0
    assert row.example.b & 0x7FFFFFFF > 0x7F800000
    assert {classes for _, classes in opened(found)} == {("+0", "-0"), ("-0", "+0")}


@pytest.mark.parametrize(
    ("a", "b"), [("max.NaN.f32", "numpy.maximum"), ("min.f32", "numpy.fmin"), ("cvt.rn.f16.f32", "numpy.float16")]
)
def test_what_is_equal_but_for_the_bits_of_nans(compared: Compare, a: str, b: str) -> None:
    found = compared(a, b)
    assert found.equal and not found.whole
    assert {r.kind for r in found.rows} <= {NAN_BITS, MAY}


def test_flushing_shows_where_a_subnormal_number_comes_or_goes(compared: Compare) -> None:
    found = differing(compared("add.f32", "add.ftz.f32"))
    assert {kind for kind, _ in found} == {VALUE, FLUSHED}
    for classes in (("0", "subnormal"), ("subnormal", "0")):
        assert found[FLUSHED, classes].count == found[FLUSHED, classes].tried
    assert all("subnormal" in "".join(classes) for kind, classes in found if kind == VALUE)
    assert {("+normal", "-normal"), ("-normal", "+normal")} <= {classes for kind, classes in found if kind == FLUSHED}


def test_a_fused_operation_against_two(compared: Compare) -> None:
    found = compared("fma.rn.f16", "mul.f16 %t, %a, %b; add.f16 %d, %t, %c;")
    rows = differing(found)
    assert {kind for kind, _ in rows} >= {VALUE, SIGN, INFINITE}
    # Of infinities that only the product has, and of numbers that overflow before the addend brings them back.
    assert all("normal" in "".join(classes) or "nonzero" in "".join(classes) for _, classes in rows)
    assert max(r.worst for r in rows.values()) > 1000
    assert len(rows) <= 30


def test_a_recipe_for_what_is_missing(compared: Compare) -> None:
    one = "mov.b16 %one, 0x3f80; fma.rn.bf16 %d, %a, %one, %b;"
    assert compared(one, "add.bf16").rows == ()
    # With +0.0 for the product's addend, the sign of a zero is lost.
    zero = "mov.b16 %zero, {}; fma.rn.bf16 %d, %a, %b, %zero;"
    assert compared(zero.format("0x8000"), "mul.bf16").rows == ()
    assert {kind for kind, _ in differing(compared(zero.format("0"), "mul.bf16"))} == {SIGN}


def test_rounding_by_integers_forgets_nans(compared: Compare) -> None:
    trick = (
        "shr.b32 %odd, %a, 16; and.b32 %odd, %odd, 1; add.u32 %odd, %odd, 0x7fff; add.u32 %odd, %odd, %a;"
        "shr.b32 %odd, %odd, 16; mov.b32 {%d, _}, %odd;"
    )
    found = compared("cvt.rn.bf16.f32", trick)
    assert {*differing(found)} == {(NAN, ("NaN",)), (NAN_BITS, ("NaN",))}
    assert not found.equal
    cut = compared("cvt.rz.bf16.f32", "shr.b32 %t, %a, 16; mov.b32 {%d, _}, %t;")
    assert {classes for _, classes in differing(cut)} <= {("NaN",), ("sNaN",)}


@pytest.mark.parametrize(("a", "b"), [("ex2.approx.f32", "numpy.exp2"), ("tanh.approx.f32", "numpy.tanh")])
def test_an_approximation_says_how_far_another_one_is_from_it(compared: Compare, a: str, b: str) -> None:
    found = compared(a, b, samples=1 << 16)
    numbers = [r for r in found.rows if r.kind == VALUE]
    assert found.a.loose and not found.b.loose
    assert 0 < max(r.worst for r in numbers) <= 4
    assert all(sum(r.steps) == r.count and not r.open for r in numbers)
    assert all(r.steps[2] == 0 for r in numbers if r.worst <= 2)


def test_what_is_rounded_correctly_here_is_told_to_be_so_here_only(compared: Compare) -> None:
    found = compared("div.full.f32", "div.rn.f32")
    assert found.equal and found.a.loose and not found.b.loose
    assert any("2 ulp" in fact for fact in found.a.about)


def test_a_polynomial_against_what_it_approximates(compared: Compare) -> None:
    found = compared(str(ROOT / "spec/examples/exp2.ptx"), "exp2f", samples=1 << 16)
    assert not found.a.loose and found.b.loose and not found.equal
    assert found.a.about[0] == "takes x for a, returns y"
    # Its file says up to where it may be used: infinities and NaNs are not among its operands.
    assert {(r.kind, r.classes) for r in found.rows} >= {(NAN, ("NaN",)), (INFINITE, ("+normal",))}
    one, two, more = (sum(r.steps[i] for r in found.rows if r.kind == VALUE) for i in range(3))
    assert one > two > more


def test_a_flushed_reciprocal(compared: Compare) -> None:
    rows = differing(compared("rcp.approx.ftz.f32", "rcp.rn.f32"))
    assert {*rows} == {(INFINITE, ("subnormal",)), (FLUSHED, ("normal",))}


def test_on_one_target_and_on_another(compared: Compare) -> None:
    found = compared("max.f32@sm_13", "max.f32@sm_90")
    assert "sm_13" in found.a.name and "sm_90" in found.b.name
    assert {kind for kind, _ in differing(found)} >= {FLUSHED}
    assert compared("max.f32", "max.ftz.f32", target="sm_13").equal
    # A piece of PTX and a function are tied to a target alike.
    assert compared("max.f32 %d, %a, %b; @sm_13", "max.ftz.f32").equal
    assert compared("cuda.fmaxf@sm_13", "max.ftz.f32").equal and not compared("cuda.fmaxf", "max.ftz.f32").equal


def test_all_operands_of_16_bits_are_tried(compared: Compare) -> None:
    found = compared("neg.f16", "numpy.negative")
    assert found.equal and found.whole
    assert [t.stream for t in found.tried] == ["grid", "every"] and found.tried[1].count == 1 << 16


def test_lanes_are_compared_one_by_one(compared: Compare) -> None:
    found = differing(compared("max.f16x2", "max.NaN.f16x2"))
    assert {*found} == {(NAN, ("NaN", "number")), (NAN, ("number", "NaN"))}
    assert {*differing(compared("cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32"))} >= {(VALUE, ("nonzero",))}


def test_results_that_are_no_numbers(compared: Compare) -> None:
    assert compared("setp.lt.f32", "numpy.less").equal
    found = differing(compared("setp.lt.f32", "setp.ltu.f32"))
    assert {classes for _, classes in found} == {("NaN", "any"), ("number", "NaN")}
    both = compared("setp.lt.f32", "setp.gt.f32")
    assert [o.name for o in both.face.results] == ["p", "q"]
    assert {r.result for r in both.rows} == {0, 1}
    assert compared("setp.lt.f32", "setp.lt.f32 %p|%q, %a, %b;").equal
    assert compared("setp.lt.f32", "setp.gt.f32 %p, %b, %a;").equal
    integers = differing(compared("cvt.rni.s32.f32", "cvt.rzi.s32.f32"))
    assert max(r.worst for r in integers.values()) == 1


def test_registers_are_matched_by_name_and_else_by_place(compared: Compare) -> None:
    assert compared("copysign.f32", "copysign.f32 %d, %a, %b;").equal
    assert not compared("copysign.f32", "copysign.f32 %d, %b, %a;").equal
    assert compared("copysign.f32", "copysign.f32 %r, %x, %y;").equal
    assert compared("sub.f32 %d, %x, %y;", "neg.f32 %t, %y; add.f32 %d, %t, %x;").equal
    # Results that the other side does not have are left alone.
    assert compared("add.f32", "add.f32 %d, %a, %b; mul.f32 %e, %a, %b;").equal


def test_a_difference_of_nan_bits_alone_is_one_between_pieces_of_ptx(compared: Compare) -> None:
    found = compared("neg.f32", "xor.b32 %d, %a, 0x80000000;")
    assert {*differing(found)} == {(NAN_BITS, ("NaN",))} and not found.equal


@pytest.mark.parametrize(
    ("name", "stream", "count"),
    [("max.f16", "pairs", 1 << 32), ("sqrt.rn.f32", "every", 1 << 32), ("abs.f16x2", "every", 1 << 32),
     ("and.pred", "pairs", 4), ("cvt.rn.f16.s8", "every", 256)],
)  # fmt: skip
def test_all_operands_are_in_one_stream(compared: Compare, name: str, stream: str, count: int) -> None:
    s = signature(compared(name, name, samples=1).face)
    whole = all_operands(s)
    assert whole is not None and (whole.stream, whole.start, whole.count) == (stream, 0, count)


@pytest.mark.parametrize("name", ["add.f32", "fma.rn.f16", "max.f16x2", "abs.f64"])
def test_of_more_than_32_bits_there_is_no_such_stream(compared: Compare, name: str) -> None:
    assert all_operands(signature(compared(name, name, samples=1).face)) is None


def test_pairs_are_the_same_in_whole_rows_and_one_by_one(compared: Compare) -> None:
    s = signature(compared("max.f16", "max.f16", samples=1).face)
    a, b = operands_of(s, "pairs", (0x3C00 << 16) - 1, 2)
    assert (a.tolist(), b.tolist()) == ([0x3BFF, 0x3C00], [0xFFFF, 0])
    rows = operands_of(s, "pairs", 0x3C00 << 16, 2 << 16)
    pieces = [operands_of(s, "pairs", start, 1 << 15) for start in range(0x3C00 << 16, 0x3C02 << 16, 1 << 15)]
    for row, parts_of_it in zip(rows, zip(*pieces, strict=True), strict=True):
        assert row.dtype == parts_of_it[0].dtype and np.array_equal(row, np.concatenate(parts_of_it))


def signatures(spec: Spec) -> list[tuple[Variant, Variant]]:
    """Two variants, or one twice, of each combination of types and lanes that can be compared."""
    found: dict[object, list[Variant]] = {}
    for i in spec.instructions.values():
        for v in (v for v in i.variants if len(v.sources) <= MOST):
            key = tuple((o.type.name, o.registers) for o in (*v.results, *v.sources)), len(v.results)
            found.setdefault(key, []).append(v)
    return [(same[0], same[-1]) for same in found.values()]


@each_size
def test_whatever_is_compared_has_an_answer(spec: Spec, compared: Compare, whole: bool) -> None:
    every = signatures(spec)
    assert len(every) > 500
    for v, w in every if whole else spread(every, 12):
        assert compared(v.spelling, v.spelling, samples=100).rows == (), v
        found = compared(v.spelling, w.spelling, samples=100)
        lines = [*as_text(found, 80)]
        assert lines[0] and json.loads(as_json(found))["equal"] is found.equal
        for row in found.rows:
            assert 0 < row.count <= row.tried and len(row.classes) == len(found.face.sources)
