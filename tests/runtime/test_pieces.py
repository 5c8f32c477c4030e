"""Functions in C: one loop where that can be, and the same bits as NumPy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import skip_without_a_compiler
from helpers.straightline import bits, made_up
from ptxemu import accelerator, compiling, pieces
from ptxemu.steps import Alone, Piece

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/semantics")

skip_without_a_compiler()

F32 = np.float32
STEERED = "add.rz.f32 t, a, b; mov.b32 u, t; add.rp.f32 d, u, a; min.f32 e, a, u; @p neg.f32 e, d;"


def same(text: str, *arrays: Any, monkeypatch: pytest.MonkeyPatch) -> list[type]:
    """The kinds of pieces of a function whose C gives what NumPy gives."""
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "0")
    due = ptxemu.function(text)(*arrays)
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "1")
    f = ptxemu.function(text)
    found = f(*arrays)
    for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, due)), strict=True):
        np.testing.assert_array_equal(bits(x), bits(y), text)
    return [type(p) for p in f._pieces]


def operands(count: int, size: int = 5000) -> list[Any]:
    return [np.random.default_rng(i).standard_normal(size).astype(F32) for i in range(count)]


@pytest.mark.usefixtures("fresh")
def test_a_function_is_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever directions its statements round in, and whatever the operands' layout is."""
    a, b = operands(2)
    p = a > b
    assert same(STEERED, a, b, p, monkeypatch=monkeypatch) == [Piece]
    assert same(STEERED, a[::2], b[:2500].reshape(-1, 1)[:, 0], p[1], monkeypatch=monkeypatch) == [Piece]


@pytest.mark.usefixtures("fresh")
def test_results_may_take_the_operands_place(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = operands(2)
    p = a > b
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "0")
    due = ptxemu.function(STEERED, results=["d", "e"])(a, b, p)
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "1")
    f = ptxemu.function(STEERED, results=["d", "e"])
    f(a, b, p, out=(b, a))
    np.testing.assert_array_equal([b, a], due)


@pytest.mark.usefixtures("fresh")
def test_what_is_not_decided_in_c_runs_between_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """An approximation leaves lanes to NumPy."""
    a, b = operands(2)
    text = "mul.f32 t, a, b; ex2.approx.f32 u, t; cvt.rn.f16x2.f32 h, t, u; sub.f32 d, u, t; and.b32 e, h, r;"
    assert same(text, a, b, a.view(np.uint32), monkeypatch=monkeypatch) == [Piece, Alone, Piece]


@pytest.mark.usefixtures("fresh")
def test_a_library_is_found_again(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, (a, b) = "add.f32 t, a, b; mul.f32 d, t, t;", operands(2)
    for _ in range(2):
        np.testing.assert_array_equal(ptxemu.function(text)(a, b), (a + b) * (a + b))
        # Other names, the same loop.
        np.testing.assert_array_equal(ptxemu.function(text.replace("t", "%s"))(a, b), (a + b) * (a + b))
    assert capsys.readouterr().err.count("compiling") == 1 and len(list(fresh.glob("function-*.so"))) == 1


@pytest.mark.usefixtures("fresh")
def test_c_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    right = pieces.lanes("add")["add_f32_2"]
    wrong = right._replace(text=right.text.replace("return ", "return 1 ^ "))
    monkeypatch.setattr(pieces, "lanes", lambda opcode: {"add_f32_2": wrong})
    a, b = operands(2)
    np.testing.assert_array_equal(ptxemu.function("add.f32 d, a, b;")(a, b), a + b)
    assert "the compiled function disagrees with NumPy's and is not used; NumPy goes on" in capsys.readouterr().err


@pytest.mark.usefixtures("fresh")
def test_without_a_compiler_numpy_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    a, b = operands(2)
    np.testing.assert_array_equal(ptxemu.function("add.f32 t, a, b; neg.f32 d, t;")(a, b), -(a + b))
    assert "there is no compiler no-such-compiler" in capsys.readouterr().err


def test_every_function_of_one_lane_is_found() -> None:
    """Those of the generated C that decide every lane."""
    for opcode in {v.spelling.partition(".")[0] for v in ptxemu.variants()}:
        known = {name for name, head in accelerator.exported(opcode).items() if head == "LANE"}
        found = pieces.lanes(opcode)
        assert set(found) == known and all(lane.text.endswith("\n}") for lane in found.values())
    assert compiling.source("no-such-opcode.c") == b""


@pytest.mark.exhaustive
@pytest.mark.usefixtures("fresh")
def test_made_up_functions_are_the_same_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(10_000, 10_012):
        program = made_up(seed, size=2000)
        if program.results:
            text = "\n".join(program.lines)
            same(text, *(program.inputs[n] for n in ptxemu.function(text).inputs), monkeypatch=monkeypatch)
