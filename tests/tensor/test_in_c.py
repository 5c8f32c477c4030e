"""Products of matrices in C have NumPy's bits, whatever the form, and C of another specification is not used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import extension
from helpers.control import DIRECTIONS, left, needs_x86
from helpers.layouts import Subclass
from helpers.matrices import SORTS, computed, drawn, installed, operands
from helpers.recorded_tensor_cores import FOLDER, sets
from helpers.sizes import each_size, spread
from numpy.typing import NDArray
from ptxemu import formats, matrices_in_c, sums
from ptxemu.matrices.forms import Form

pytestmark = pytest.mark.inputs(
    *(f"generated/python/ptxemu/{name}.py" for name in ("matrices_in_c", "sums", "tensor", "tensor_cores")),
    *(f"generated/native/src/{name}" for name in ("matrices.c", "module.c", "kernel.h", "rounding.h")),
)
FORMS = list(computed())
HALVES = "m16n8k16.f32.f16"


@pytest.fixture(autouse=True)
def built(in_c: Callable[..., AbstractContextManager[None]]) -> Iterator[None]:
    with installed(in_c("matrices")):
        assert matrices_in_c.ufunc("sums") is not None
        yield


def in_numpy(form: str, *matrices: Any, **keywords: Any) -> NDArray[Any]:
    with installed(extension.installed(None)):
        assert matrices_in_c.ufunc("sums") is None
        found: NDArray[Any] = ptxemu.mma(form, *matrices, **keywords)
        return found


def differing(f: Form, target: str, count: int) -> list[str]:
    """The sorts of stacks, so many matrices of A by two of B, of which not all bits are the same."""
    rng, wrong = np.random.default_rng([754, *f.spelling.encode(), *target.encode()]), []
    for sort in SORTS:
        matrices, scales = operands(rng, f, sort, (count, 1), (2,))
        found = ptxemu.mma(f.spelling, *matrices, target=target, **scales)
        want = in_numpy(f.spelling, *matrices, target=target, **scales)
        if found.dtype != want.dtype or found.shape != want.shape or found.tobytes() != want.tobytes():
            wrong.append(f"{f} on {target}: {sort}")
    return wrong


@each_size
def test_every_form_has_numpys_bits(whole: bool) -> None:
    assert len(FORMS) > 150
    forms = FORMS if whole else spread(FORMS, 50)
    assert [x for f, target in forms for x in differing(f, target, 60 if whole else 1)] == []


@pytest.mark.exhaustive
@pytest.mark.skipif(not FOLDER.is_dir(), reason="PTXSPEC_RECORDED names no folder of recorded results")
def test_every_recorded_result_is_that_of_the_gpu() -> None:
    for one in sets():
        assert np.array_equal(one.computed(), one.d), (one.gpu, one.form)


def test_arrays_of_any_layout() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (drawn(rng, of, s, "near") for of, s in (("f16", (6, 16, 16)), ("f16", (6, 16, 8)), ("f32", (6, 16, 8))))
    for change in (
        lambda x: x[::-1], lambda x: x[::2], lambda x: x[:0], lambda x: x[0], lambda x: x[None, :1], np.asfortranarray,
        lambda x: np.broadcast_to(x[:1], (4, *x.shape[1:])), lambda x: x.view(Subclass),
        lambda x: np.frombuffer(b"x" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    ):  # fmt: skip
        given = [change(x) for x in (a, b, c)]
        found, want = ptxemu.mma(HALVES, *given, target="A100"), in_numpy(HALVES, *given, target="A100")
        assert type(found) is np.ndarray and np.array_equal(found, want)
    a = a[:, None]
    for added in (c[2], np.float32(1.5), 2):
        found = ptxemu.mma(HALVES, a, b, added, target="H100")
        assert found.shape == (6, 6, 16, 8) and np.array_equal(found, in_numpy(HALVES, a, b, added, target="H100"))


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 5, 7), (2, 40, 9), (5, 8, 20)])
def test_matrices_of_any_size(m: int, k: int, n: int) -> None:
    """No form has them: columns are computed together, and few may be left over; the last step may be shorter."""
    rng, s = np.random.default_rng([m, k, n]), sums.Sum(16, 24, {"f32": -132})
    a, b = (sums.numbers(drawn(rng, "bf16", size, "wide"), formats.bf16) for size in ((4, m, k), (4, k, n)))
    c = drawn(rng, "f32", (4, m, n), "wide")
    found = sums.summed(a, b, c, formats.f32, formats.f32, s)
    with installed(extension.installed(None)):
        assert np.array_equal(found, sums.summed(a, b, c, formats.f32, formats.f32, s))


@needs_x86
@pytest.mark.parametrize("form", [HALVES, "m16n8k16.f16.f16", "m16n8k8.f32.bf16", "m16n8k4.f64"])
def test_what_another_library_left_in_the_processor_does_not_count(form: str) -> None:
    f = ptxemu.fragments(form).form
    for sort in ("wide", "tiny"):
        matrices, _ = operands(np.random.default_rng(5), f, sort, (2,), (2,))
        want = in_numpy(form, *matrices, target="H100")
        for direction in DIRECTIONS:
            for flushing in (False, True):
                with left(direction, flushing):
                    found = ptxemu.mma(form, *matrices, target="H100")
                assert np.array_equal(found, want)
        with left("toward zero"), pytest.raises(RuntimeError, match="does not round to nearest"):
            in_numpy(form, *matrices, target="H100")


def test_c_of_another_specification_is_not_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrices_in_c, "NATIVE", "0" * 16)
    matrices_in_c._module.cache_clear()
    matrices_in_c.ufunc.cache_clear()
    matrices, _ = operands(np.random.default_rng(9), ptxemu.fragments(HALVES).form, "near", (), ())
    found = [ptxemu.mma(HALVES, *matrices, target="A100") for _ in range(2)]
    assert matrices_in_c.ufunc("sums") is None and np.array_equal(*found)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "was built from another specification" in said
