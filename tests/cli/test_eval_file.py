"""`ptxspec eval --file`: pieces of PTX as a user runs them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.commands import Run

EXP2 = str(ROOT / "spec" / "examples" / "exp2.ptx")


def test_each_result_is_printed_like_evals(run: Run) -> None:
    code, out, _ = run("eval", "--file", EXP2, "x=1.5")
    assert code == 0
    assert out.splitlines() == [
        f"{EXP2}, exact",
        "  x  1.5 0x1.8p+0 0x3fc00000",
        "  y  2.8284268 0x1.6a09e4p+1 0x403504f2",
    ]


def test_a_trace_shows_each_statement_with_its_line(run: Run) -> None:
    _, out, _ = run("eval", "--file", EXP2, "%x=1.5", "--trace")
    assert "\n  12  add.rn.f32 k, t, 12582912.0\n    after   k = 12582914.0 0x1.800004p+23 0x4b400002\n" in out
    assert "\n    before  f = 2.0 0x1p+1 0x40000000\n    after   f = -0.5 -0x1p-1 0xbf000000\n" in out


def test_json_has_registers_and_statements(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: Any = io.TextIOWrapper(io.BytesIO(b"setp.lt.f32 p, a, b;\n@p mov.b32 {h, g}, a;\nex2.approx.f32 d, b;"))
    monkeypatch.setattr("sys.stdin", given)
    registers = ["a=0x40490fdb", "b=4", "h=0x1234", "g=0xffff"]
    code, out, _ = run("eval", "--file", "-", *registers, "--trace", "--format", "json", "--target", "H100")
    assert code == 0
    found = json.loads(out)
    trace = found.pop("trace")
    assert found == {
        "schema": 1,
        "hazards": [],
        "file": "<stdin>",
        "target": "sm_90",
        "inputs": {"a": "0x40490fdb", "b": "0x40800000", "h": "0x1234", "g": "0xffff"},
        "results": {"h": "0x0fdb", "g": "0x4049", "d": "0x41800000"},
        "claim": "exact, bounded",
    }
    assert trace[0] == {
        "line": 1, "statement": "setp.lt.f32 p, a, b", "register": "p", "type": "pred", "before": None, "after": True,
    }  # fmt: skip
    assert [t["before"] for t in trace] == [None, "0x1234", "0xffff", None]


@pytest.mark.parametrize(
    ("text", "registers", "said"),
    [
        ("add.f32 d, a, b;", ["a=1"], "k.ptx takes a, b; b missing: add b=1.5"),
        ("add.f32 d, a, b;", ["a=1", "b=1", "a=2"], "register a was given twice"),
        ("add.f32 d, alpha, b;", ["alpa=1", "b=1"], "did you mean 'alpha'?"),
        ("add.f32 d, a, b;", ["1", "2"], "'1' does not have the form NAME=VALUE, as in a=1.5"),
        ("add.f32 d, a, b;", ["a=1", "b=x"], "operand 'x' is not a number"),
        ("add.f32 d, a, b; add.f32 a, d, d; add.f32 d, a, a; add.f32 a, d, d; @p mov.f32 a, d; mov.f32 d, a;",
         ["a=1", "b=1", "p=1"], "operand '1': .pred takes true or false"),
        ("bra L;\n  ret;", [], "k.ptx:2:3: error: ret: ret is a PTX instruction; ptxemu does not emulate it"),
        ("bra L;\n  ret;", [], "2 statements cannot be run"),
        ("", [], "there is no statement to run"),
        (None, [], "No such file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_the_code_is_2(
    text: str | None, registers: list[str], said: str, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "k.ptx"
    if text is not None:
        path.write_text(text)
    code, out, err = run("eval", "--file", str(path), *registers)
    assert (code, out) == (2, "") and said in err, err


def test_eval_takes_a_variant_or_a_file(run: Run) -> None:
    code, _, err = run("eval")
    assert code == 2 and "eval requires a VARIANT and its OPERANDs, or --file FILE and registers" in err


def test_a_hazard_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text("mul.f32 x, y, y;\nfma.rz.bf16 d, a, b, c;\n")
    given = ("--file", str(tmp_path / "a.ptx"), "a=1", "b=2", "c=3", "y=1", "--target", "sm_90")
    assert "\n  2: fma.rz.bf16 is a hazard on sm_90. " in run("eval", *given)[1]
    (found,) = json.loads(run("eval", *given, "--format", "json")[1])["hazards"]
    assert found["line"] == 2 and found["message"].startswith("fma.rz.bf16 is a hazard")
