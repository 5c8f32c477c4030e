"""Why an element of D is what it is: the steps are of exact products, and lead to the result."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from ptxemu import tensor

MX = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e3m2.f32.ue8m0"
NV = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
FORMS = [
    ("m16n8k16.f32.f16", "A100"), ("m16n8k32.f32.e4m3", "L40S"), ("m16n8k32.f16.e5m2", "sm_120a"), (MX, "sm_120a"),
    (NV, "sm_120a"), (NV.replace("4X", "2X").replace("ue4m3", "ue8m0"), "sm_121a"),
]  # fmt: skip
NEAR_1 = {"ue8m0": (122, 133), "ue4m3": (0x28, 0x48)}


def drawn(rng: np.random.Generator, of: str, count: int) -> Any:
    if of in NEAR_1:
        return tensor.elements_of(rng.integers(*NEAR_1[of], count, np.uint64), of)
    native = tensor.native_of(of)
    assert native is not None
    return rng.standard_normal(count).astype(np.float32).astype(native)


def exact(x: Any) -> Fraction:
    return Fraction(float(x))


@pytest.mark.parametrize(("form", "target"), FORMS)
def test_terms_are_exact_and_lead_to_the_result(form: str, target: str) -> None:
    f, rng = ptxemu.fragments(form).form, np.random.default_rng(754)
    k, each = f.size[2], f.size[2] // max(1, f.scales)
    for _ in range(20):
        row, column, c = (drawn(rng, of, n) for of, n in zip(f.types[1:], (k, k, 1), strict=True))
        scales = [drawn(rng, f.scale_type, f.scales) for _ in "ab"] if f.is_scaled else []
        given = dict(zip(("scale_a", "scale_b"), scales, strict=True)) if scales else {}
        why = ptxemu.mma_steps(form, row, column, c[0], target=target, **given)
        factors = [exact(x) * exact(y) for x, y in zip(*scales, strict=True)] if scales else [Fraction(1)]
        products = [exact(x) * exact(y) * factors[n // each] for n, (x, y) in enumerate(zip(row, column, strict=True))]
        told = {t.k: t.value for step in why.steps for t in step.terms if t.k is not None}
        for n in range(0, k, why.group):
            assert told.get(n, 0) == sum(products[n : n + why.group])
        for step in why.steps:
            assert step.total == sum(t.kept for t in step.terms)
            assert all((t.kept / step.unit).denominator == 1 and abs(t.kept) <= abs(t.value) for t in step.terms)
        assert why.steps[-1].result == why.result
    assert why.group == (16 if f.kind == "mxf4nvf4" else 1)


def test_a_scale_that_is_no_number_decides() -> None:
    zeros = np.zeros(32, ml_dtypes.float8_e4m3fn), np.zeros(32, np.uint8), np.float32(1)
    one, nan = (np.array([x], np.uint8) for x in (127, 255))
    why = ptxemu.mma_steps(MX, *zeros, target="sm_120a", scale_a=one, scale_b=nan)
    assert why.result == 0x7FFFFFFF and why.steps == (((), 0, 0, 0x7FFFFFFF),)


@pytest.mark.parametrize(
    ("form", "given", "says"),
    [
        (MX, {}, r"scale_a of .* must have the shape \(1,\) in one sum, not nothing"),
        (MX, {"scale_a": np.ones(2, np.uint8), "scale_b": np.ones(1, np.uint8)}, r"\(1,\) in one sum, .* \(2,\)"),
        ("m16n8k16.f32.f16", {"scale_a": np.ones(1, np.uint8)}, "takes no scales"),
        ("m16n8k64.sp.s32.s8", {}, "is sparse, and its steps are not available"),
    ],
)
def test_what_has_no_steps_is_told(form: str, given: dict[str, Any], says: str) -> None:
    f = ptxemu.fragments(form).form
    row, column = (np.zeros(1, tensor.native_of(of) or np.int8) for of in f.types[1:3])
    with pytest.raises(ptxemu.OperandError, match=says):
        ptxemu.mma_steps(form, row, column, 0, target="sm_120a", **given)
