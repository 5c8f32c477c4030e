"""ptxspec compare: what it prints, what it answers to misuse, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.commands import Run

FEW = ("--samples", "1000")


def test_what_differs_is_told_with_an_example(run: Run) -> None:
    code, out, _ = run("compare", "max.f32", "numpy.maximum", *FEW)
    assert code == 1
    assert " ".join(out.split()).startswith("max.f32 and numpy.maximum differ. Tried: 5,776 combinations of special")
    assert "one is a NaN\n  NaN, number   " in out
    assert "of NaN 0x7fc00000, 0.0 0x00000000: A 0.0 0x00000000, B NaN 0x7fc00000" in out
    assert "may differ: NumPy leaves open which of two zeros" in out
    assert max(map(len, out.splitlines())) <= 80


def test_equal_is_never_said_of_more_than_was_tried(run: Run) -> None:
    code, out, _ = run("compare", "max.f32", "fmaxf", *FEW)
    assert code == 0
    assert "are equal on the operands tried: 5,776 combinations of special" in " ".join(out.split())
    assert "except where the result is left open" in " ".join(out.partition("\nA ")[0].split())
    code, out, _ = run("compare", "abs.f16", "abs.f16 %d, %a;", *FEW)
    assert code == 0
    assert out.startswith("abs.f16 and abs.f16 %d, %a; are equal on all 65,536 operands.\n")
    code, out, _ = run("compare", "sqrt.approx.f32", "sqrt.rn.f32", *FEW)
    assert code == 0
    verdict = " ".join(out.partition("\nA ")[0].split())
    assert verdict.endswith("for the emulator, which rounds sqrt.approx.f32 correctly (hardware may not).")


def test_json_has_all_that_the_text_has(run: Run) -> None:
    code, out, _ = run("compare", "ex2.approx.f32", "numpy.exp2", "--format", "json", "--samples", "100000")
    data = json.loads(out)
    assert code == 1 and data["schema"] == 1 and data["equal"] is False
    assert data["a"]["name"] == "ex2.approx.f32" and data["a"]["loose"] and not data["b"]["loose"]
    assert data["operands"] == [{"name": "a", "type": "f32"}]
    assert data["tried"] == [
        {"stream": "grid", "count": 76, "whole": False}, {"stream": "uniform", "count": 100000, "whole": False},
    ]  # fmt: skip
    numbers = next(d for d in data["differences"] if d["what"] == "number")
    assert numbers["apart"] >= 1 and numbers["count"] <= numbers["tried"] and numbers["classes"] == ["normal"]
    assert {*numbers["example"]} == {"operands", "a", "b"} and numbers["example"]["a"].startswith("0x")
    assert data["open"] and all(o["why"] for o in data["open"])


def test_a_file_of_ptx(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.ptx"
    path.write_text(".reg .f32 %a, %b, %t, %d;\nmul.rn.f32 %t, %a, %a;\nadd.rn.f32 %d, %t, %b;\n", "utf-8")
    assert run("compare", str(path), "fma.rn.f32 %d, %a, %a, %b;", *FEW)[0] == 1
    path.write_text("mul.rn.f32 %t, %a, %a;\nfrobnicate.f32 %d, %t;\n", "utf-8")
    code, _, err = run("compare", str(path), "add.f32")
    assert code == 2
    assert "2:1: frobnicate.f32: unknown opcode 'frobnicate'" in err and "frobnicate.f32 %d, %t;" in err


MISUSE = {
    ("add.f32", "add.f64"): "add.f32 takes .f32, .f32, add.f64 takes .f64, .f64: only functions of the same types",
    ("max.f16", "fmaxf"): "max.f16 takes .f16, .f16, fmaxf takes .f32, .f32",
    ("add.f16", "add.bf16 %d, %a, %b;"): "only functions of the same types can be compared",
    ("numpy.fmin", "numpy.minimum"): "the other side must have a type of its own",
    ("max.f32", "numpy.maximun"): "did you mean 'numpy.maximum'?",
    ("max.f32", "numpy.sum"): "numpy.sum is no universal function of NumPy",
    ("max.f32", "numpy.sqrt"): "numpy.sqrt takes 1 and gives 1, not 2 and 1",
    ("add.f16", "numpy.bitwise_and"): "numpy.bitwise_and has nothing for float16, float16",
    ("max.f32", "fmaxx"): "did you mean the function 'fmax'?",
    ("max.f33", "fmaxf"): "max.f33",
    ("max.f32", "__fadd_rx"): "did you mean the function '__fadd_r",
    ("max.f32", "  "): "there is nothing to compare",
    ("max.f32", "mov.f32 %a, %b"): "a semicolon is missing here",
    ("max.f32", "fmaxf@sm_90"): "fmaxf is the same on all targets; remove @sm_90",
    ("max.f32", "somewhere/else.ptx"): "somewhere/else.ptx: there is no such file",
    ("max.f32@sm_91", "fmaxf"): "sm_91",
    ("max.bf16@sm_75", "max.bf16"): "max.bf16",
    ("max.f32", "max.f32", "--samples", "0"): "--samples 0: expected a number from 1 to 2^32",
    ("max.f32", "mpfr"): "max.f32 does not round, so it cannot be compared with mpfr",
    ("numpy.add", "mpfr"): "requires a variant such as add.rn.f16 on the other side",
    ("add.f32", "mpfr@sm_90"): "mpfr is the same on all targets; remove @sm_90",
    ("mov.f32 %d, 1.0;", "mov.f32 %d, 2.0;"): "takes no operands: only functions of 1 to 4 operands can be compared",
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("arguments", MISUSE, ids=" ".join)
def test_misuse_is_told(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run("compare", *arguments)
    assert code == 2 and not out
    assert MISUSE[arguments] in err
    assert "Traceback" not in err
