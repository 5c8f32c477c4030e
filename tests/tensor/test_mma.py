"""mma on matrices: against exact arithmetic where that fixes it, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from helpers.matrices import SORTS, computed, drawn, operands
from helpers.sizes import spread

RNG = np.random.default_rng(7)


def test_small_integers_are_summed_exactly_by_every_rule() -> None:
    a, b = (RNG.integers(-8, 9, s) for s in ((20, 16, 16), (20, 16, 8)))
    c = RNG.integers(-64, 65, (20, 16, 8)).astype(np.float32)
    want = (a @ b + c).astype(np.float32)
    for target in ("A100", "L40S", "H100", "B200", "sm_110", "sm_120"):
        for dtype, of in ((np.float16, "f16"), (ml_dtypes.bfloat16, "bf16")):
            found = ptxemu.mma(f"m16n8k16.f32.{of}", a.astype(dtype), b.astype(dtype), c, target=target)
            assert found.dtype == np.float32 and np.array_equal(found, want), (target, of)


def fp8(result: str, row: list[float], column: list[float], target: str) -> float:
    a, b = np.zeros((16, 32), ml_dtypes.float8_e4m3fn), np.zeros((32, 8), ml_dtypes.float8_e4m3fn)
    a[0, : len(row)], b[: len(column), 0] = row, column
    dtype = np.float32 if result == "f32" else np.float16
    return float(ptxemu.mma(f"m16n8k32.{result}.e4m3", a, b, dtype(0), target=target)[0, 0])


def test_what_fp8_is_cut_to_differs_from_gpu_to_gpu() -> None:
    """Ada keeps 13 bits. In the machine code for Hopper and B200 sums of two halves may overflow f16."""
    some = [fp8("f32", [1, 2**-7], [1, 2**-7], t) for t in ("L40S", "H100", "B200", "sm_120")]
    assert some == [1, 1 + 2**-14, 1 + 2**-14, 1 + 2**-14]
    some = [fp8("f16", [240, 240, -240, -240], [256] * 4, t) for t in ("L40S", "H100", "B200", "sm_120")]
    assert some == [0, np.inf, np.inf, 0]


@pytest.mark.parametrize("result", ["f32", "f16"])
@pytest.mark.parametrize("types", ["e4m3.e4m3", "e5m2.e5m2", "e4m3.e5m2", "e5m2.e4m3"])
def test_fp8_on_hopper_is_what_its_machine_code_computes(types: str, result: str) -> None:
    """Elements become f16; the halves are summed as such, and C is added."""
    native = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
    a, b = types.split(".")
    for k, sort in ((16, "any"), (32, "any"), (32, "tiny")):
        x, y, c = (drawn(RNG, of, (200, *s), sort) for of, s in ((a, (16, k)), (b, (k, 8)), (result, (16, 8))))
        found = ptxemu.mma(f"m16n8k{k}.{result}.{types}.{result}", x, y, c, target="H100")
        wide_x, wide_y = x.view(native[a]).astype(np.float16), y.view(native[b]).astype(np.float16)
        number = np.float32 if result == "f32" else np.float16
        total: Any = number(0)
        for half in (np.arange(k) % 4 < 2, np.arange(k) % 4 >= 2):
            form = f"m16n8k{k // 2}.{result}.f16"
            total = ptxemu.mma(form, wide_x[:, :, half], wide_y[:, half], total, target="H100")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found.view(number), total + c.view(number))


@pytest.mark.parametrize(("of", "low", "high"), [("s8", -128, 127), ("u8", 0, 255), ("s4", -8, 7), ("u4", 0, 15)])
def test_integers_are_exact_and_wrap_or_are_clamped(of: str, low: int, high: int) -> None:
    k = 32 if of.endswith("8") else 64
    a, b = (RNG.integers(low, high, s, endpoint=True).astype(f"{'i' if low else 'u'}1") for s in ((16, k), (k, 8)))
    c = RNG.integers(-(2**31), 2**31, (16, 8)).astype(np.int32)
    c[0] = 2**31 - 1
    c[1] = -(2**31)
    exact = [[sum(int(x) * int(y) for x, y in zip(row, column, strict=True)) for column in b.T] for row in a]
    for suffix in ("", ".satfinite"):
        found = ptxemu.mma(f"m16n8k{k}{suffix}.s32.{of}", a, b, c, target="sm_80")
        for i in range(16):
            for j in range(8):
                total = exact[i][j] + int(c[i, j])
                want = min(max(total, -(2**31)), 2**31 - 1) if suffix else (total + 2**31) % 2**32 - 2**31
                assert found[i, j] == want


def test_bits_are_counted() -> None:
    a, b = (RNG.integers(0, 2, s).astype(np.uint8) for s in ((16, 256), (256, 8)))
    c = np.arange(128, dtype=np.int32).reshape(16, 8)
    for name, both in (("and", a[:, :, None] & b), ("xor", a[:, :, None] ^ b)):
        found = ptxemu.mma(f"m16n8k256.s32.b1.b1.s32.{name}.popc", a, b, c, target="sm_80")
        assert np.array_equal(found, both.sum(1) + c)


def test_double_precision_is_a_chain_of_fused_multiplications() -> None:
    a, b, c = (RNG.standard_normal(s) for s in ((16, 4), (4, 8), (16, 8)))
    found = ptxemu.mma("m16n8k4.f64", a, b, c, target="H100")
    for i in range(16):
        for j in range(8):
            total = float(c[i, j])
            for k in range(4):
                total = float(Fraction(a[i, k]) * Fraction(b[k, j]) + Fraction(total))
            assert found[i, j] == total


def test_scales_multiply_their_blocks() -> None:
    form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    a, b = (RNG.integers(0, 16, s).astype(np.uint8) for s in ((16, 64), (64, 8)))
    sa, sb = (RNG.integers(0x30, 0x40, s).astype(np.uint8) for s in ((16, 4), (4, 8)))
    x, y = (z.view(ml_dtypes.float4_e2m1fn).astype(np.float64) for z in (a, b))
    u, v = (z.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for z in (sa, sb))
    want = (x * np.repeat(u, 16, 1)) @ (y * np.repeat(v, 16, 0))
    found = ptxemu.mma(form, a, b, np.float32(0), target="sm_120a", scale_a=sa, scale_b=sb)
    # Each term is cut to 35 bits, and the sum to 24.
    assert np.allclose(found, want, rtol=2**-22, atol=0)
    for code in (0x7F, 0xFF):
        assert np.isnan(ptxemu.mma(form, a, b, np.float32(0), target="sm_120a", scale_a=sa | code, scale_b=sb)).all()


def test_what_is_subnormal_in_fp8_is_normal_in_the_f16_that_hopper_sums() -> None:
    """2**-9 times 2**15 and seven times 2**-9 times 2**-9: as of 2**6 the sum has 25 bits, as of 2**(-6 + 15) it would
    have lost the small products. The result of the first half is cut to a multiple of 2**-17."""
    a, b = np.zeros((16, 16), ml_dtypes.float8_e4m3fn), np.zeros((16, 8), ml_dtypes.float8_e5m2)
    a[0, np.arange(16) % 4 < 2], b[:, 0], b[0, 0] = 2.0**-9, 2.0**-9, 2.0**15
    found = ptxemu.mma("m16n8k16.f32.e4m3.e5m2.f32", a, b, np.float32(-(2.0**6)), target="H100")
    assert found[0, 0] == 3 * 2.0**-17


def test_the_exponents_of_scales_alone_align_exact_sums_of_products() -> None:
    """Where products cancel, MMA-Sim keeps what is within 35 bits of the scales, of elements of any size."""
    form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
    a, b = np.full((16, 64), 6, np.uint8), np.tile(np.uint8([6, 14]), 32)[:, None] * np.ones(8, np.uint8)
    scales = {"scale_a": np.full((16, 2), 127, np.uint8), "scale_b": np.full((2, 8), 127, np.uint8)}
    for c, want in ((2.0**-32, 2.0**-32), (2.0**-35, 2.0**-35), (2.0**-36, 0)):
        assert (ptxemu.mma(form, a, b, np.float32(c), target="sm_120a", **scales) == want).all()


def test_a_tile_does_not_depend_on_those_beside_it() -> None:
    for f, target in spread(list(computed()), 20):
        for sort in SORTS:
            matrices, scales = operands(RNG, f, sort, (5,), (5,))
            found = ptxemu.mma(f.spelling, *matrices, target=target, **scales)
            for i, one in enumerate(found):
                alone = {name: x[i] for name, x in scales.items()}
                assert (
                    one.tobytes() == ptxemu.mma(f.spelling, *(x[i] for x in matrices), target=target, **alone).tobytes()
                )


def test_batches_broadcast() -> None:
    a, b = RNG.standard_normal((3, 1, 16, 8)).astype(np.float16), RNG.standard_normal((2, 8, 8)).astype(np.float16)
    found = ptxemu.mma("m16n8k8.f16", a, b, np.float16(0), target="A100")
    assert found.shape == (3, 2, 16, 8)
    assert np.array_equal(found[2, 1], ptxemu.mma("m16n8k8.f16", a[2, 0], b[1], np.float16(0), target="A100"))


def test_special_values() -> None:
    a, b = np.zeros((16, 8), np.float16), np.zeros((8, 8), np.float16)
    a[:6, 0] = np.inf, -np.inf, np.inf, np.nan, -0.0, -0.0
    b[0] = 1
    b[0, 1] = 0
    c = np.zeros((16, 8), np.float32)
    c[2] = -np.inf
    c[4] = -0.0
    d = ptxemu.mma("m16n8k8.f32.f16", a, b, c, target="A100").view(np.uint32)
    assert [hex(x) for x in d[:6, 0]] == ["0x7f800000", "0xff800000", "0x7fffffff", "0x7fffffff", "0x0", "0x0"]
    # An infinity times zero.
    assert hex(d[0, 1]) == "0x7fffffff"


HALVES = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16), np.float32(0)


@pytest.mark.parametrize(
    ("form", "target", "error", "says"),
    [
        ("m16n8k16.f32.f16", "sm_75", ptxemu.UnknownVariantError, "it requires sm_80, PTX 7.0"),
        ("m16n8k17.f32.f16", "sm_80", ValueError, "in the shapes m8n8k4, m16n8k8, m16n8k16"),
        ("m16n8k16.f32.f15", "sm_80", ValueError, "no form of mma"),
        ("f32.f16", "sm_80", ValueError, "write its shape and the types of D and A"),
        (
            "m16n8k64.f32.e2m1",
            "sm_120a",
            ValueError,
            "there is mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale",
        ),
        ("m16n8k16.f32.f16", "sm_87x", ptxemu.UnknownTargetError, "sm_87"),
        ("m8n8k4.f32.f16", "sm_80", ptxemu.NoRuleError, "no source says how sm_80 computes"),
        ("m8n8k4.f32.bf16", "sm_80", ptxemu.NoRuleError, "no source says"),
        ("m8n8k4.rz.f64", "sm_80", ptxemu.NoRuleError, "no source says"),
    ],
)
def test_what_cannot_be_computed_is_told(form: str, target: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        ptxemu.mma(form, *HALVES, target=target)


def test_wrong_matrices_are_told() -> None:
    a, b, c = HALVES
    for given, says in (
        ((a[:8], b, c), r"A of m16n8k16 has 16 rows of 16, but the array has the shape \(8, 16\)"),
        ((a, b.T, c), r"B of m16n8k16 has 16 rows of 8, but the array has the shape \(8, 16\)"),
        ((a, b, np.zeros((8, 16), np.float32)), r"C of m16n8k16 has 16 rows of 8"),
        ((a.astype(np.float32), b, c), r"A is float32; f16 is float16 or uint16 \(bits\)"),
        (([1.0], b, c), "A is a list; write an array of float16"),
    ):
        with pytest.raises(ptxemu.OperandError, match=says):
            ptxemu.mma("m16n8k16.f32.f16", *given, target="sm_80")
    with pytest.raises(ptxemu.OperandError, match="s4 has -8 to 7"):
        ptxemu.mma("m8n8k32.s32.s4", np.full((8, 32), 9, np.int8), np.zeros((32, 8), np.int8), 0, target="sm_80")
    scaled = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    x, y = np.zeros((16, 32), np.uint8), np.zeros((32, 8), np.uint8)
    with pytest.raises(ptxemu.OperandError, match=r"scale_b of .* has the shape \(1, 8\), but the array has \(8, 1\)"):
        ones = np.full((16, 1), 127, np.uint8)
        ptxemu.mma(scaled, x, y, c, target="sm_120a", scale_a=ones, scale_b=np.zeros((8, 1), np.uint8))
    with pytest.raises(ptxemu.OperandError, match="takes no scales"):
        ptxemu.mma("m16n8k16.f32.f16", a, b, c, target="sm_80", scale_a=np.zeros((16, 1), np.uint8))
