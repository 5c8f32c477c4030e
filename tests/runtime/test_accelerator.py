"""Calling kernels in C: whatever the operands' layout and the compiler's options, as NumPy's are called."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import A, B, add, built, skip_without_a_compiler
from ptxemu import accelerator, compiling, environment, kernel as kernels, switch
from ptxemu.binary import Array

skip_without_a_compiler()


# The compiler's options

NEAR_A_TIE = [np.full(64, x, np.uint32) for x in (0x0211DAA5, 0x13BE8006, 0x847784FC)]


def the_compiler_with(options: str) -> str:
    return " ".join([*compiling._compiler().command, options])


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    "options",
    ["-ffast-math", "-funsafe-math-optimizations", "-Ofast", "-ffp-contract=fast", "-ffinite-math-only",
     "-fassociative-math -fno-signed-zeros -fno-trapping-math", "-freciprocal-math"],
)  # fmt: skip
def test_options_that_change_what_is_computed_are_taken_back(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", the_compiler_with(options))
    kernel = ptxemu.compile("fma.rn.f16x2")
    assert kernel._native is not None
    # Wrong with the error of a sum taken for zero, on few operands.
    np.testing.assert_array_equal(kernel(*NEAR_A_TIE), np.uint32(0x84778000))
    assert add() is not None


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
def test_options_that_cannot_be_taken_back_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of a compiler that appends them to whatever it is asked for."""
    script = tmp_path / "fast-cc"
    script.write_text(f'#!/bin/sh\nexec {" ".join(compiling._compiler().command)} "$@" -ffast-math\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    assert add() is None and add("add.rm.f32") is None
    _, said = capsys.readouterr().err.splitlines()
    assert said.startswith("ptxemu: fast-cc does not compile: ") and "change what operations compute" in said


@pytest.mark.skipif(not environment.STEERS, reason="the environment cannot be steered on this platform")
@pytest.mark.usefixtures("fresh")
def test_what_a_library_does_as_it_is_loaded_does_not_count(tmp_path: Path) -> None:
    text = "#include <fenv.h>\n__attribute__((constructor)) static void on_load(void) { fesetround(FE_UPWARD); }\n"
    text += "void some_run(void) {}\n"
    one, small = np.float32([1]), np.float32([2**-30])
    path = built(tmp_path, text)
    accelerator.kernels_of(path, {"some": (np.add, ptxemu.compile("add.f32")._signature)})
    assert one + small == 1


# Calling them


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize(
    "spelling", ["add.rz.f32", "fma.rp.f64", "mul.ftz.sat.f16", "fma.rm.bf16x2", "max.f16x2", "testp.normal.f64"]
)
def test_operands_of_any_layout(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ptxemu.compile(spelling)
    assert kernel._native is not None
    rng = np.random.default_rng(7)
    every = [
        rng.integers(0, 1 << 64, (50, 70, 20), np.uint64).astype(kernel._signature.registers[0][1].bits)
        for _ in range(kernel.operands)
    ]
    bytes_ = np.frombuffer(rng.bytes(1 + every[0].nbytes), np.uint8)[1:]
    layouts: list[list[Array]] = [
        every,
        [x[::-1, ::3, 1::2] for x in every],
        [x.T for x in every],
        [np.asfortranarray(x) for x in every],
        [x[: 1 + 49 * (i == 0), :1] for i, x in enumerate(every)],
        [x[0, 0, :1] for x in every[:-1]] + [every[-1]],
        [bytes_.view(kernel._signature.registers[0][1].bits), *(x.ravel() for x in every[1:])],
        [x[:0] for x in every],
        [x[1, 2, 3] for x in every],
    ]
    got = [kernel(*operands) for operands in layouts]
    monkeypatch.setenv(switch.SWITCH, "0")
    kernels._compile.cache_clear()
    plain = ptxemu.compile(spelling)
    assert plain._native is None
    for operands, result in zip(layouts, got, strict=True):
        want = plain(*operands)
        assert result.dtype == want.dtype and result.shape == want.shape
        np.testing.assert_array_equal(result, want)


@pytest.mark.usefixtures("accelerated")
def test_out_may_be_an_operand_or_overlap_one() -> None:
    a = np.arange(40_000, dtype=np.float32)
    want = a[:-1] + a[1:]
    ptxemu.execute("add.f32", a[:-1], a[1:], out=a[1:])
    np.testing.assert_array_equal(a[1:], want)
    b = np.arange(40_000, dtype=np.float32)
    ptxemu.execute("mul.f32", b, b, out=b)
    np.testing.assert_array_equal(b, np.arange(40_000, dtype=np.float32) ** 2)


@pytest.mark.usefixtures("accelerated")
def test_lanes_left_undecided_are_found_also_in_place() -> None:
    kernel = ptxemu.compile("cos.approx.f32")
    native = kernel._native
    assert native is not None and native.decides
    # Where the cosine is nearly zero, its margin is wider than the steps of float32.
    near = (np.arange(1, 200_000, 2) * (np.pi / 2)).astype(np.float32).view(np.uint32)
    near = np.tile(near, 2)
    want = np.concatenate([kernel._function(part) for part in np.split(near, 100)])
    assert native.left([near, np.empty_like(near)]).size > 10
    np.testing.assert_array_equal(kernel(near), want)
    kernel(near, out=near)
    np.testing.assert_array_equal(near, want)


@pytest.mark.usefixtures("accelerated")
def test_a_kernel_can_be_pickled_after_it_has_run() -> None:
    kernel = ptxemu.compile("add.f32")
    kernel(A, B)
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(A, B), kernel(A, B))


@pytest.mark.usefixtures("accelerated")
def test_the_processors_state_is_left_alone() -> None:
    third = np.float64([1]) / np.float64([3])
    with np.errstate(all="raise"):
        ptxemu.execute("div.rp.f32", A, B - B)
        np.testing.assert_array_equal(np.float64([1]) / np.float64([3]), third)
