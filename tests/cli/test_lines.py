"""query - and eval -: many at once, a line for each."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from ptxspec.__main__ import main
from ptxspec.cli import eval_lines
from ptxspec.model import Spec


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


def test_each_line_of_a_query_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "max.NaN.f64\n# a comment\n\n  add.f32  # another\nadd.f32 d, a, b;\nmul.bf16\n"
    given(monkeypatch, asked)
    assert main(["query", "-", "--target", "A100"]) == 1
    assert [line.partition(":")[0] + line.partition(":")[2][:12] for line in capsys.readouterr().out.splitlines()] == [
        "no max.NaN.f64", "yes add.f32 (2 ", "no add.f32 d, ", "no mul.bf16 (2",
    ]  # fmt: skip
    given(monkeypatch, asked)
    assert main(["query", "-", "--target", "A100", "--format", "jsonl"]) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for one in told:
        main(["query", one["variant"], "--target", "A100", "--format", "json"])
        assert json.loads(capsys.readouterr().out) == {**one, "operands": one["operands"]}
    given(monkeypatch, "add.f32\nmul.f64")
    assert main(["query", "-"]) == 0


def test_each_line_of_eval_has_a_line(
    spec: Spec, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(eval_lines, "read", lambda root: spec)
    given(monkeypatch, "add.f16 70000 1\nfoo.f32 1\nadd.f16x2 1,2 3,4\nsetp.lt.f32 1 2\n")
    assert main(["eval", "-"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "add.f16 70000 1: d = +inf 0x7c00 (70000 is +inf in f16, whose largest number is 65504.0)",
        "add.f16x2 1,2 3,4: d = lane 0: 4.0 0x1p+2 0x4400, lane 1: 6.0 0x1.8p+2 0x4600  0x46004400",
        "setp.lt.f32 1 2: p = true; q = false",
    ]
    assert err.startswith("<stdin>:2: error: foo.f32 with 1 operand: unknown opcode 'foo'")
    given(monkeypatch, "add.f32 1 2\nadd.f32 1\n")
    assert main(["eval", "-", "--format", "jsonl"]) == 2
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert main(["eval", "add.f32", "1", "2", "--format", "json"]) == 0
    assert first == json.loads(capsys.readouterr().out)
    assert (second["line"], second["error"]) == (2, second["error"]) and "takes 2" in second["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "-", "--format", "json"], "use --format jsonl"),
        (["eval", "-", "--format", "json"], "use --format jsonl"),
        (["eval", "-", "--trace"], "accepts no options but --target and --format"),
        (["eval", "add.f32", "1", "2", "--format", "jsonl"], "use --format json"),
    ],
)
def test_what_many_answers_do_not_take(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
