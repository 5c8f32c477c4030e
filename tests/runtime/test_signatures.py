"""Variants whose operands and results have types of their own."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from helpers import extension
from helpers.made_up_instructions import Array, Exact, operands, project
from helpers.project import Project
from helpers.sizes import each_size, spread
from ptxspec.evaluate import emulator
from ptxspec.roots import Root

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/semantics")

COUNT = 300


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("signatures"))


@pytest.fixture(scope="module")
def exact(root: Path) -> Exact:
    return Exact(root)


@pytest.fixture(scope="module")
def emu(root: Path) -> ModuleType:
    return emulator(Root(root))


@each_size
@pytest.mark.parametrize("opcode", ["compare", "turn", "choose", "sum", "scale", "flip"])
def test_every_variant_does_what_the_exact_back_end_does(
    emu: ModuleType, exact: Exact, opcode: str, whole: bool
) -> None:
    variants = [(key, v) for key, v in exact.variants.items() if v.opcode == opcode]
    for key, v in variants if whole else spread(variants, 12):
        columns = operands(v, COUNT)
        want = exact.run(v, columns)
        # Where many are asked for, NumPy reads results in tables.
        for times in (1, 17):
            many = [np.tile(c, times) for c in columns]
            assert_equal(key, columns, emu.execute(v.spelling, *many, results=len(v.results)), want)


def assert_equal(what: object, columns: list[Array], found: Any, want: list[list[int]]) -> None:
    """The last of what was found, be it one result or several."""
    for f, w in zip(found if isinstance(found, tuple) else (found,), want, strict=True):
        got = (f if f.dtype == bool else f.view(f"u{f.itemsize}"))[-len(w) :]
        wrong = [
            (tuple(hex(c[i]) for c in columns), hex(int(g)), hex(x))
            for i, (g, x) in enumerate(zip(got, w, strict=True))
            if int(g) != x
        ]
        assert not wrong, (what, len(wrong), wrong[:3])


@pytest.mark.exhaustive
def test_c_does_what_the_exact_back_end_does(root: Path, emu: ModuleType, exact: Exact, tmp_path: Path) -> None:
    built = extension.build(tmp_path / "built", source=root / "generated/native")
    with extension.installed(built, emu):
        for v in exact.variants.values():
            kernel, columns = emu.compile(v.spelling, v.operands), operands(v, COUNT)
            assert kernel.is_in_c, v.spelling
            assert_equal(v.spelling, columns, kernel(*columns, results=len(v.results)), exact.run(v, columns))


F32 = np.array([1.5, -2.0, np.nan, np.inf], np.float32)
OTHER = np.array([1.5, 3.0, 1.0, -np.inf], np.float32)


def test_a_predicate_is_bool() -> None:
    p = ptxemu.execute("setp.lt.f32", F32, OTHER)
    assert p.dtype == bool
    assert p.tolist() == [False, True, False, False]


def test_both_results_come_where_both_are_asked_for() -> None:
    kernel = ptxemu.compile("setp.ftz.lt.f32", 2)
    p, q = kernel(F32, OTHER, results=2)
    assert (~p == q).all()
    assert (ptxemu.execute("setp.lt.ftz.f32", F32, OTHER, results=2)[1] == q).all()
    out = np.empty(4, bool), np.empty(4, bool)
    assert kernel(F32, OTHER, results=2, out=out)[1] is out[1]
    assert (out[1] == q).all()


def test_asking_for_a_second_result_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"selp.f32 \(3 operands\) has one result, not 2"):
        ptxemu.execute("selp.f32", F32, F32, np.True_, results=2)
    with pytest.raises(ValueError, match="has the results p and q, not 3"):
        ptxemu.execute("setp.lt.f32", F32, F32, results=3)
    with pytest.raises(TypeError, match="results is 'q'"):
        ptxemu.execute("setp.lt.f32", F32, F32, results="q")


def test_a_predicate_for_each_lane_comes_in_a_register_of_its_own() -> None:
    a = np.array([[1.0, 5.0], [3.0, 1.0]], np.float16).view(np.uint32)[:, 0]
    b = np.array([[2.0, 4.0], [2.0, 2.0]], np.float16).view(np.uint32)[:, 0]
    p0, p1 = ptxemu.execute("setp.lt.f16x2", a, b)
    assert (p0.tolist(), p1.tolist()) == ([True, False], [False, True])


def test_lanes_in_registers_of_their_own_are_operands() -> None:
    """The upper lane comes first, as in the statement."""
    packed = ptxemu.execute("cvt.rn.f16x2.f32", np.float32([1, 2]), np.float32(3))
    assert packed.dtype == np.uint32
    assert packed.view(np.float16).tolist() == [3, 1, 3, 2]


def test_all_lanes_share_what_has_one(emu: ModuleType) -> None:
    packed = np.array([1, 2, 3, 4], np.float16).view(np.uint32)
    scaled = emu.execute("scale.f16x2.f32", packed, np.array([2, 10], np.float32))
    assert scaled.view(np.float16).tolist() == [2, 4, 30, 40]


def test_operands_have_representations_of_their_own() -> None:
    a = np.array([1, 2], np.float16)
    native = ptxemu.execute("fma.rn.f32.f16", a, a, np.array([0.5, 1], np.float32))
    assert native.dtype == np.float32
    assert native.tolist() == [1.5, 5]
    mixed = ptxemu.execute("fma.rn.f32.f16", a, a, np.array([0.5, 1], np.float32).view(np.uint32))
    assert mixed.dtype == np.uint32
    assert (mixed.view(np.float32) == native).all()


def test_a_result_of_another_type_is_native_where_all_floats_are() -> None:
    assert ptxemu.execute("cvt.rzi.s32.f32", np.float32(-1.5)) == np.int32(-1)
    assert ptxemu.execute("cvt.rzi.s32.f32", np.float32(-1.5)).dtype == np.int32
    assert ptxemu.execute("cvt.rzi.s32.f32", np.uint32(0xBFC00000)).dtype == np.int32
    assert ptxemu.execute("cvt.rn.f32.s32", np.int32(-3)) == np.float32(-3)
    assert ptxemu.execute("cvt.rn.f32.s32", np.uint32(0xFFFFFFFD)) == np.float32(-3)
    assert ptxemu.execute("cvt.rn.f32.s32", np.uint32(0xFFFFFFFD)).dtype == np.float32
    # No float type of NumPy's has the numbers of tf32, which stand in the upper bits.
    assert ptxemu.execute("cvt.rn.tf32.f32", np.float32(1)) == np.uint32(0x3F800000)


def test_types_of_ml_dtypes_come_only_where_such_came(emu: ModuleType) -> None:
    """Results have types of ml_dtypes only where operands have; whether it is installed changes nothing else."""
    narrow = emu.execute("turn.rn.e4m3.f32", np.float32([240, 1000]))
    assert narrow.dtype == np.uint8
    native = narrow.view(ml_dtypes.float8_e4m3fn)
    assert emu.execute("turn.rn.f32.e4m3", native[:1]).tolist() == [240]
    assert emu.execute("turn.rn.e5m2.e4m3", native).dtype == ml_dtypes.float8_e5m2
    assert emu.execute("turn.rn.e5m2.e4m3", narrow).dtype == np.uint8
    out = np.empty(2, ml_dtypes.float8_e4m3fn)
    assert emu.execute("turn.rn.e4m3.f32", np.float32([240, 1000]), out=out) is out
    b = np.ones(2, ml_dtypes.bfloat16)
    assert ptxemu.execute("fma.rn.f32.bf16", b, b, np.float32([1, 2])).dtype == np.float32
    for c in (np.float32([1, 2]), np.uint32([1, 2])):
        assert ptxemu.execute("fma.rn.f32.bf16", b.view(np.uint16), b.view(np.uint16), c).dtype == c.dtype


def test_an_integer_result_is_one_of_its_type_whatever_came() -> None:
    for a in (np.int32([-1]), np.uint32([0xFFFFFFFF])):
        for spelling, dtype in (("cvt.s32.s32", np.int32), ("cvt.s8.s32", np.int8), ("cvt.u64.s32", np.uint64)):
            assert ptxemu.execute(spelling, a).dtype == dtype
    out = np.empty(1, np.uint32)
    assert ptxemu.execute("cvt.s32.s32", np.int32([-1]), out=out) is out
    assert out[0] == 0xFFFFFFFF


def test_out_may_be_bits_or_native_where_the_result_has_a_type_of_its_own() -> None:
    for dtype in (np.int32, np.uint32, ">i4"):
        out = np.empty(2, dtype)
        assert ptxemu.execute("cvt.rzi.s32.f32", np.float32([7.5, 8]), out=out) is out
        assert out.tolist() == [7, 8]
    with pytest.raises(ptxemu.OperandError, match="out is float32; the result is int32"):
        ptxemu.execute("cvt.rzi.s32.f32", np.float32([1]), out=np.empty(1, np.float32))
    with pytest.raises(ptxemu.OperandError, match="out is a tuple of 2 arrays, of p0, p1"):
        ptxemu.execute("setp.lt.f16x2", np.uint32([1]), np.uint32([1]), out=np.empty(1, bool))


def test_errors_say_what_an_operand_may_be(emu: ModuleType) -> None:
    with pytest.raises(emu.OperandError, match=r"operand c is float32; expected bool for .pred"):
        emu.execute("choose.f32", F32, F32, F32)
    with pytest.raises(ptxemu.OperandError, match=r"operand c is float32; expected int32 or uint32 \(bits\)"):
        ptxemu.execute("slct.f32.s32", F32, F32, F32)
    with pytest.raises(emu.OperandError, match=r"operand a0 is float64; expected float32 or uint32 \(bits\)"):
        emu.execute("turn.rn.f16x2.f32", F32, np.float64(1))
    with pytest.raises(emu.OperandError, match=r"operand a is float32; expected uint32 \(bits\)"):
        emu.execute("sum.tf32", F32, F32)
    with pytest.raises(emu.OperandError, match=r"operand a1 is float32, operand a0 is uint32; all must be of one"):
        emu.execute("turn.rn.f16x2.f32", F32, F32.view(np.uint32))
    with pytest.raises(
        emu.OperandError, match=r"operand a is float32; expected uint16 \(the bits of 2 lanes\) for .e4m3x2"
    ):
        emu.execute("turn.rn.f16x2.e4m3x2", F32)
    with pytest.raises(emu.OperandError, match=r"operand a is uint8; expected float16 or uint16 \(bits\) for .f16"):
        emu.execute("turn.rn.f32.f16", np.uint8(1))
    with pytest.raises(emu.OperandError, match=r"operand c is uint8; expected bool for .pred"):
        emu.execute("choose.f32", F32, F32, np.ones(4, np.uint8))


def test_operands_broadcast_and_large_ones_go_in_blocks_on_threads() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 500, 700)).astype(np.float32)
    c = rng.random(700) < 0.5
    want = np.where(c, a, b)
    np.testing.assert_array_equal(ptxemu.execute("selp.f32", a, b, c), want)
    np.testing.assert_array_equal(ptxemu.execute("selp.f32", a, b, c, threads=2, out=a), want)
    p, q = ptxemu.execute("setp.lt.f32", b.T, want.T, results=2, threads=2)
    np.testing.assert_array_equal(p, (b < want).T)
    np.testing.assert_array_equal(q, ~(b < want).T)
    assert ptxemu.execute("selp.f32", a[:0], b[:0], c).shape == (0, 700)


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        (["compare.lt.f32", "1.0", "2.0"], ["true", "false"]),
        (["compare.lt.f16x2", "1.0,2.0", "2.0,1.0"], ["true", "false"]),
        (["turn.rz.s32.f32", "-1.5"], ["0xffffffff"]),
        (["turn.rn.e4m3.f32", "1000.0"], ["0x7f"]),
        (["choose.f32", "1.0", "2.0", "false"], ["0x40000000"]),
        (["turn.rn.f16x2.f32", "1.0", "2.0"], ["0x3c004000"]),
    ],
)
def test_eval_shows_them(
    root: Path, capsys: pytest.CaptureFixture[str], statement: list[str], printed: list[str]
) -> None:
    made = Project(root, capsys).run("eval", *statement, "--format", "json")
    assert not made.code, made.err
    result = json.loads(made.out)["result"]
    shown = [str(x).lower() for x in (result if isinstance(result, list) else [result])]
    assert shown == printed
    assert not Project(root, capsys).run("eval", *statement, "--trace").code
