"""What exists where, and why not: the database's answers, and list, query and diff in the terminal."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ptxspec
import pytest
from ptxspec.cli import main

ROOT = Path(__file__).parents[1]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def db() -> ptxspec.Database:
    return ptxspec.load(ROOT)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([arguments[0], "--root", str(ROOT), *arguments[1:]])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def reasons(verdict: ptxspec.Verdict) -> list[str]:
    return [r.code for r in verdict.reasons]


def test_loading_a_root_reads_its_yaml_and_equals_the_generated_file() -> None:
    assert ptxspec.load(ROOT).data == json.loads((ROOT / "generated/data/ptxspec.json").read_text("utf-8"))


def test_a_variant_says_what_it_needs(db: ptxspec.Database) -> None:
    three = db.variant("max.f32", operands=3)
    assert (three.requires.target, three.requires.ptx, three.requires.until) == ("sm_100", "8.8", None)
    assert db.variant("max.f32").operands == 2
    assert db.variant("max.NaN.ftz.f32").spelling == "max.ftz.NaN.f32"


def test_what_the_manual_says_stands_beside_what_the_assembler_does(db: ptxspec.Database) -> None:
    v = db.variant("add.f64")
    assert v.requires.target == "sm_10"
    assert v.manual is not None and v.manual.target == "sm_13"


@pytest.mark.parametrize(
    ("spelling", "operands", "code", "message"),
    [
        ("max.NaN.f64", None, "illegal-modifier", "max.f64 has no .NaN; it has no modifiers"),
        ("add.rz.bf16", None, "illegal-modifier", "add.bf16 has no .rz; it has .rn"),
        ("add.satt.f32", None, "unknown-modifier", "did you mean '.sat'?"),
        ("max.xorsign.f32", None, "missing-modifier", "max.xorsign.f32 lacks .abs"),
        ("add.rn.rz.f32", None, "excluding-modifiers", ".rn and .rz exclude each other"),
        ("max.f32", 4, "operand-count", "max.f32 takes 2 or 3 source operands, not 4"),
        ("addd.f32", None, "unknown-opcode", "did you mean 'add'?"),
        ("add.e4m3", None, "unknown-type", "unknown type or modifier '.e4m3'"),
        ("max.f32x2", None, "illegal-type", "max has no .f32x2; it has .f32, .f64"),
        ("add.sat.sat.f32", None, "repeated-modifier", ".sat stands twice"),
    ],
)
def test_what_does_not_exist_is_explained(
    db: ptxspec.Database, spelling: str, operands: int | None, code: str, message: str
) -> None:
    verdict = db.query(spelling, operands)
    assert not verdict.exists and not verdict.available
    assert code in reasons(verdict)
    assert any(message in r.message for r in verdict.reasons)
    assert verdict.nearest


def test_what_is_too_new_says_what_it_needs_on_each_axis(db: ptxspec.Database) -> None:
    verdict = db.query("add.bf16", target="sm_80", ptx="7.0")
    assert verdict.exists and not verdict.available
    assert reasons(verdict) == ["target-too-old", "ptx-too-old"]
    assert "needs PTX 7.8 (CUDA 11.8) or newer; 7.0 is older" in verdict.reasons[1].message


def test_a_target_that_the_ptx_version_does_not_know(db: ptxspec.Database) -> None:
    assert reasons(db.query("add.f32", target="sm_90", ptx="7.0")) == ["target-unknown"]


def test_the_nearest_variants_exist_on_the_target_asked_about(db: ptxspec.Database) -> None:
    verdict = db.query("max.NaN.f32", target="sm_75")
    assert not verdict.available
    assert verdict.nearest[0].spelling == "max.f32"
    assert all(db.query(v.spelling, v.operands, target="sm_75").available for v in verdict.nearest)


def test_targets_are_understood_as_people_write_them(db: ptxspec.Database) -> None:
    assert db.target("compute_90") == db.target("9.0") == db.target("sm_90") == "sm_90"
    assert db.target("sm_90a") == "sm_90a"
    assert db.target("10.0f") == "sm_100f"
    assert db.target("12.1") == "sm_121"
    with pytest.raises(ptxspec.PtxspecError, match="unknown target 'sm_91'; did you mean 'sm_9"):
        db.target("sm_91")


def test_an_architecture_specific_target_has_what_its_base_has(db: ptxspec.Database) -> None:
    assert db.available(target="sm_90a", ptx="8.0") == db.available(target="sm_90", ptx="8.0")
    assert db.available(target="sm_90a", ptx="7.8") == []


def test_available_agrees_with_query(db: ptxspec.Database) -> None:
    for target in db.targets:
        for ptx in ("1.0", "3.1", "7.0", "8.6", "9.5"):
            listed = set(db.available(target=target, ptx=ptx))
            for v in db.variants:
                assert (v in listed) == db.query(v.spelling, v.operands, target, ptx).available


def test_unknown_versions_types_and_opcodes_are_rejected(db: ptxspec.Database) -> None:
    for arguments in ({"ptx": "7.9"}, {"type": "f31"}, {"opcode": "ad"}, {"target": "sm_1"}):
        with pytest.raises(ptxspec.PtxspecError, match="unknown"):
            db.available(**arguments)


def test_query_in_the_terminal(run: Run) -> None:
    code, out, _ = run("query", "max.NaN.f64")
    assert code == 1
    assert out.startswith("no: max.NaN.f64 does not exist\n  max.f64 has no .NaN")
    code, out, _ = run("query", "max.f32", "--operands", "3", "--target", "compute_100")
    assert code == 0
    assert out.splitlines()[:2] == [
        "yes: max.f32 (3 operands) on sm_100",
        "  needs   sm_100 or newer, PTX 8.8 or newer (CUDA 12.9)",
    ]


def test_query_as_json(run: Run) -> None:
    code, out, _ = run("query", "add.bf16", "--target", "sm_80", "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert list(found) == [
        "schema", "variant", "operands", "exists", "available", "requires", "manual", "reasons", "nearest",
    ]  # fmt: skip
    assert found["requires"] == {"ptx": "7.8", "until": None, "target": "sm_90"}
    assert found["reasons"][0]["code"] == "target-too-old"


def test_list_as_table_json_and_csv(run: Run, db: ptxspec.Database) -> None:
    asked = ("list", "--target", "sm_90", "--ptx", "8.0", "--type", "bf16x2")
    want = [v.spelling for v in db.available("sm_90", "8.0", "bf16x2")]
    code, out, _ = run(*asked)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:-2]] == want
    assert all(len(line) <= 80 for line in out.splitlines())
    assert [v["variant"] for v in json.loads(run(*asked, "--format", "json")[1])["variants"]] == want
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [r["variant"] for r in rows] == want and {r["target"] for r in rows} == {"sm_80", "sm_86", "sm_90"}


def test_diff_lists_what_a_version_or_a_target_brought(run: Run) -> None:
    code, out, _ = run("diff", "--ptx", "8.5..8.6", "--format", "json")
    found = json.loads(out)
    assert code == 0 and not found["removed"]
    assert {v["variant"].split(".")[-1] for v in found["added"]} == {"f32x2"}
    _, out, _ = run("diff", "--target", "sm_75..sm_80")
    assert "+ max.NaN.f32 (2 operands)" in out
    assert run("diff", "--ptx", "8.5")[0] == 2


def test_misuse_is_exit_2_with_a_suggestion(run: Run) -> None:
    code, out, err = run("query", "add.f32", "--target", "sm_9O")
    assert (code, out) == (2, "")
    assert "unknown target 'sm_9O'; did you mean 'sm_90'?" in err


@pytest.mark.parametrize("command", [["query", "add.f32"], ["list"], ["diff", "--ptx", "8.5..8.8"]])
def test_a_query_imports_little(command: list[str]) -> None:
    code = "import sys; from ptxspec.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"yaml", "jinja2", "jsonschema", "rich", "numpy"} & set(done.stderr.split())
