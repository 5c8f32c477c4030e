"""Every answer about a variant says where its machine code does something else, and none tells anybody to write it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.commands import Run
from ptxspec import Database

# Its machine code reads f16; this one's is not known on sm_75 alone.
EVERYWHERE, OLD = "fma.rz.bf16", "cvt.rn.satfinite.f16.f32"


def test_query_says_yes_but(run: Run) -> None:
    code, text, _ = run("query", EVERYWHERE, "--target", "sm_90")
    assert code == 0
    first, *rest = text.splitlines()
    assert first == "yes, but: fma.rz.bf16 (3 operands) on sm_90 is a hazard"
    assert any(line.startswith("  hazard    ptxas 13.5.37 reads the operands as f16") for line in rest)
    assert all(len(line) <= 80 for line in rest)
    found = json.loads(run("query", EVERYWHERE, "--format", "json")[1])
    assert found["available"] and found["hazard"].startswith("ptxas 13.5.37 reads the operands as f16")
    assert json.loads(run("query", "fma.rn.bf16", "--format", "json")[1])["hazard"] is None


def test_a_hazard_holds_where_it_was_seen(run: Run, db: Database) -> None:
    assert run("query", OLD, "--target", "sm_75")[1].startswith(f"yes, but: {OLD} (1 operand) on sm_75 is a hazard\n")
    assert run("query", OLD, "--target", "sm_80")[1].startswith(f"yes: {OLD} (1 operand) on sm_80\n")
    assert "  hazard    From sm_70 to sm_75: sm_75 is the oldest target " in run("query", OLD)[1]
    listed = {
        target: json.loads(run("list", "--target", target, "--opcode", "cvt", "--format", "json")[1])["variants"]
        for target in ("sm_75", "sm_80")
    }
    hazards = {t: {v["variant"]: v["hazard"] for v in found}[OLD] for t, found in listed.items()}
    assert hazards["sm_75"].startswith("sm_75 is the oldest target ") and hazards["sm_80"] is None
    codes = {t: [f.code for f in db.lint(f"{OLD} %h0, %f1;", target=t)] for t in ("sm_75", "sm_80")}
    assert codes == {"sm_75": ["hazard"], "sm_80": []}


def test_list_marks_it_in_every_format(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("list", "--opcode", "fma", "--format", "csv")[1])))
    marked = {r["variant"] for r in rows if r["hazard"] == "yes"}
    assert EVERYWHERE in marked and {r["hazard"] for r in rows if r["variant"] not in marked} == {""}
    table = run("list", "--opcode", "fma")[1].splitlines()
    assert {line.split()[0] for line in table if line.endswith(", hazard")} == marked
    listed = json.loads(run("list", "--opcode", "fma", "--format", "json")[1])["variants"]
    assert {v["variant"] for v in listed if v["hazard"]} == marked


def test_lint_warns_and_strictly_fails(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.ptx"
    file.write_text(".version 9.0\n.target sm_90\n  fma.rz.bf16 %h0, %h1, %h2, %h3;\n")
    code, text, _ = run("lint", file)
    assert code == 0
    assert text.startswith(f"{file}:3:3: warning: fma.rz.bf16 is a hazard on sm_90. ptxas 13.5.37 reads the operands")
    assert "[hazard]\n" in text
    assert text.endswith("1 warning\n1 instruction in 1 file, checked for its own .version and .target\n")
    assert run("lint", "--strict", file)[0] == 1
    (result,) = json.loads(run("lint", file, "--format", "sarif")[1])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("hazard", "warning")
    file.write_text(".version 9.0\n.target sm_90\n  add.f32 %f0, %f1, %f2;\n")
    assert run("lint", "--strict", "--quiet", file) == (0, "", "")


def test_lint_writes_commands_for_githubs_actions(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a,b.ptx"
    file.write_text("  fma.rz.bf16 %h0, %h1, %h2, %h3;\n  max.NaN.f64 %d0, %d1, %d2;\n")
    lines = [line for line in run("lint", file, "--format", "github")[1].splitlines() if line.startswith("::")]
    name = str(file).replace(",", "%2C")
    assert [line.split("::")[1] for line in lines] == [
        f"warning file={name},line=1,col=3,endColumn=13,title=hazard",
        f"error file={name},line=2,col=6,endColumn=9,title=illegal-modifier",
    ]


def test_eval_and_show_say_it(run: Run) -> None:
    text = run("eval", EVERYWHERE, "1", "2", "3", "--target", "sm_90")[1]
    assert "\n  hazard: ptxas 13.5.37 reads the operands as f16" in text
    found = [json.loads(run("eval", v, *x, "--format", "json")[1]) for v, *x in ((EVERYWHERE, *"123"), (OLD, "1"))]
    assert [f["hazard"][:12] for f in found] == ["ptxas 13.5.3", "From sm_70 t"]
    assert json.loads(run("eval", OLD, "1", "--target", "sm_80", "--format", "json")[1])["hazard"] is None
    assert "\n- hazard: ptxas 13.5.37 reads the operands as f16" in run("show", EVERYWHERE)[1]
    page = run("show", "fma")[1]
    assert "## Hazards" in page and "ptxas 13.5.37 reads the operands as f16" in page
    rows = [line for line in page.splitlines() if line.startswith("| `fma.{rz,rm,rp}") and "d, a, b, c" in line]
    assert rows and all("[hazard](#hazards)" in row for row in rows if "bf16" in row)


def test_the_matrix_tells_it_with_its_targets() -> None:
    text = (ROOT / "generated/manual/availability.md").read_text("utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith("| `cvt.{rn,rz}.satfinite.f16.f32` |"))
    number = row.rstrip("| ").rpartition("|")[2].strip()
    (told,) = re.findall(rf"^{number}\. .*\n((?:   .*\n)+)", text, re.MULTILINE)
    assert "   `cvt.{rn,rz}.satfinite.f16.f32`: from sm_70 to sm_75.\n" in told


@pytest.mark.parametrize("target", [None, "sm_75", "sm_80", "sm_90", "sm_107a"])
def test_nothing_spelled_alike_is_one(db: Database, target: str | None) -> None:
    for asked in ("fma.rz.b16", "fma.rz.sat.bf16", "cvt.satfinite.f16.f32", "cvt.rm.ftz.f16", "cvt.rna.satfinite.tf16"):
        for v in db.query(asked, target=target).nearest:
            assert db.catalog.is_safe(v, target), (asked, v, target)


def test_where_no_target_is_named_advice_is_for_the_newest(db: Database) -> None:
    assert "write cvt.rn.satfinite.f16.f32" in db.query("cvt.satfinite.f16.f32").help
    for target in (None, "sm_75", "sm_90"):
        text = db.query("cvt.ftz.f16.f32", target=target).help
        assert "cvt.rn.ftz.f16.f32" in text and "cvt.rm" not in text and "cvt.rp" not in text


def test_what_is_loose_is_told_and_no_finding(run: Run, db: Database) -> None:
    loose = {"div.full.f32": "not the division of IEEE 754", "mul.f32": "fused multiply-add", "ex2.approx.f32": "folds"}
    for spelling, words in loose.items():
        code, text, _ = run("query", spelling)
        assert code == 0 and text.startswith("yes: ")
        assert words in " ".join(text.partition("\n  loose     ")[2].split()), text
        assert any(words in said for said in json.loads(run("query", spelling, "--format", "json")[1])["loose"])
        assert words in run("show", spelling)[1]
        operands = ", ".join(f"%f{i}" for i in range(db.variant(spelling).operands + 1))
        assert db.lint(f"{spelling} {operands};") == []
    assert db.query("mul.rn.f32").loose == ()
