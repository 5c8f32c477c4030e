"""mma of sparse matrices: of integers the product with the zeros that are not stored, and of floats nothing."""

from __future__ import annotations

import re

import numpy as np
import ptxemu
import pytest
from helpers.sparse import drawn, integers
from ptxemu.tensor_cores import FORMS

SPARSE = [f for f in FORMS if f.is_sparse]
EXACT = [f for f in SPARSE if f.types[0] == "s32"]
S8 = ptxemu.fragments("m16n8k64.sp.s32.s8").form


def test_integers_are_those_of_the_whole_matrix() -> None:
    assert len(EXACT) == 2 * 2 * 2 * 4 * 2
    rng = np.random.default_rng(1)
    for f in EXACT:
        stored, places, whole = drawn(f, rng, integers(f.types[1]))
        b = rng.choice(integers(f.types[2]), f.sizes[2])
        c = rng.choice(np.array([-(2**31), -1, 0, 2**31 - 1], np.int32), f.sizes[3])
        exact = [[sum(int(x) * int(y) for x, y in zip(r, k, strict=True)) for k in b.T] for r in whole]
        total = np.array(exact) + c.astype(np.int64)
        want = np.clip(total, -(2**31), 2**31 - 1) if "satfinite" in f.names else (total + 2**31) % 2**32 - 2**31
        found = ptxemu.mma(f.spelling, stored, b, c, target="sm_120a", metadata=places)
        assert np.array_equal(found, want), f.spelling


def test_a_row_is_read_as_it_is_explained() -> None:
    a, places = np.zeros((16, 32), np.int8), np.tile([0, 1], (16, 16))
    a[0, :4], places[0, :4] = [5, 6, 7, 8], [1, 2, 0, 3]
    b = np.zeros((64, 8), np.int8)
    b[:, 0] = np.arange(64)
    (found, *_), *_ = ptxemu.mma("m16n8k64.sp.s32.s8", a, b, 0, target="H100", metadata=places)
    assert found == 5 * 1 + 6 * 2 + 7 * 4 + 8 * 7


def test_batches_broadcast() -> None:
    rng = np.random.default_rng(2)
    (a, places, _), (other, others, _) = (drawn(S8, rng, integers("s8")) for _ in range(2))
    b = rng.choice(integers("s8"), (64, 8))
    both = ptxemu.mma("m16n8k64.sp.s32.s8", a, b, 0, target="A100", metadata=np.stack([places, others]))
    assert np.array_equal(both[1], ptxemu.mma("m16n8k64.sp.s32.s8", a, b, 0, target="A100", metadata=others))
    with pytest.raises(ptxemu.OperandError, match=r"A has the shape \(3, 16, 32\), and metadata \(2, 16, 32\)"):
        ptxemu.mma(
            "m16n8k64.sp.s32.s8", np.stack([a, other, a]), b, 0, target="A100", metadata=np.stack([places, others])
        )


def test_nobody_has_told_how_floats_are_summed() -> None:
    floats = [f for f in SPARSE if f not in EXACT]
    assert len(floats) > 150
    for f in floats:
        target = f.requires.target or next(iter(f.requires.on))[0]
        with pytest.raises(ptxemu.NoRuleError, match="of sparse forms those of integers are known"):
            ptxemu.mma(f.spelling, None, None, None, target=target)


def places(first: list[int], of: int, size: tuple[int, int]) -> np.ndarray:
    """Places of a matrix that stores the first half of each group of so many, but for its row 3, group 1."""
    found = np.tile(np.arange(of // 2), (size[0], size[1] * 2 // of))
    found[3, of // 2 : of] = first
    return found


@pytest.mark.parametrize(
    ("form", "of", "given", "right"),
    [
        ("m16n8k64.sp.s32.s8", 4, [2, 2], "of 4 elements 2 are stored: write two of the places 0 to 3, different ones"),
        ("m16n8k64.sp.s32.s8", 4, [0, 4], "two of the places 0 to 3"),
        ("m16n8k64.sp.s32.s8", 4, [-1, 2], "two of the places 0 to 3"),
        ("m16n8k64.sp::ordered_metadata.s32.s8", 4, [2, 1], "the lower one first, and A's elements likewise"),
        ("m16n8k64.sp.s32.s4", 8, [0, 1, 3, 4], "two of the pairs [0, 1], [2, 3], [4, 5], [6, 7], different ones"),
        ("m16n8k64.sp.s32.s4", 8, [2, 3, 2, 3], "of 8 elements 4 are stored: write two of the pairs"),
        ("m16n8k64.sp.s32.s4", 8, [1, 0, 4, 5], "two of the pairs"),
        ("m16n8k64.sp::ordered_metadata.s32.s4", 8, [4, 5, 0, 1], "the lower one first"),
    ],
)
def test_what_is_no_half_of_a_group_is_told(form: str, of: int, given: list[int], right: str) -> None:
    f = ptxemu.fragments(form)
    a, b = np.zeros(f.a.size, np.int8), np.zeros(f.b.size, np.int8)
    says = re.escape(f"metadata of row 3, group 1 is {given}; ") + ".*" + re.escape(right)
    with pytest.raises(ptxemu.OperandError, match=says):
        ptxemu.mma(form, a, b, 0, target="sm_90", metadata=places(given, of, f.a.size))


def test_other_metadata_is_told() -> None:
    a, b = np.zeros((16, 32), np.int8), np.zeros((64, 8), np.int8)
    right = places([0, 1], 4, (16, 32))
    for given, says in (
        (None, r"requires metadata: an array \(16, 32\) of integers, for each stored element of A"),
        (right.tolist(), "metadata must be an array of integers, .*, not a list"),
        (right.astype(np.float32), "metadata must be an array of integers, .*, not float32"),
        (right[:8], r"metadata must have the shape \(16, 32\), .*, not \(8, 32\)"),
    ):
        with pytest.raises(ptxemu.OperandError, match=says):
            ptxemu.mma("m16n8k64.sp.s32.s8", a, b, 0, target="sm_80", metadata=given)
    with pytest.raises(
        ptxemu.OperandError, match=r"A of m16n8k64 has 16 rows of 32, but the array has the shape \(16, 64\)"
    ):
        ptxemu.mma("m16n8k64.sp.s32.s8", np.zeros((16, 64), np.int8), b, 0, target="sm_80", metadata=right)
    with pytest.raises(ptxemu.OperandError, match="takes no metadata; only sparse forms do"):
        ptxemu.mma("m16n8k32.s32.s8", a, b[:32], 0, target="sm_80", metadata=right)
