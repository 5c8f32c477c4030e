"""generated/data: one file for what opcodes share, one for each opcode, and only what is asked about is read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.project import Project
from ptxspec import Database, PtxspecError, load
from ptxspec.query.database import SourceOperand

FOLDER = ROOT / "generated/data"


def opened(code: str) -> list[str]:
    """The JSON files that a program reads."""
    hook = "import sys; sys.addaudithook(lambda e, a: e == 'open' and str(a[0]).endswith('.json') and print(a[0]));"
    command = [sys.executable, "-c", f"{hook} from ptxspec.cli.main import main; main({code})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return [str(Path(line).relative_to(FOLDER)) for line in done.stdout.splitlines() if line.endswith(".json")]


@pytest.mark.parametrize(
    "command",
    ["['query', 'add.f32']", "['query', 'add.NaN.f32']", "['list', '--opcode', 'add']", "['show', 'add.f32']"],
)
def test_a_question_about_an_opcode_reads_two_files(command: str) -> None:
    shown = ["machine_code.json", "calls.json"] if "show" in command else []
    assert sorted(opened(command)) == sorted(["ptxspec.json", "opcodes/add.json", *shown])


def test_what_variants_share_stands_once() -> None:
    shared: dict[str, Any] = json.loads((FOLDER / "ptxspec.json").read_text("utf-8"))
    assert "requirements" not in shared
    for path in FOLDER.glob("opcodes/*.json"):
        data = json.loads(path.read_text("utf-8"))
        assert data["schema"] == shared["schema"] and data["opcode"] == path.stem
        # What the manual asks for may be something else than what the assembler does.
        for table, most in (("signatures", 1), ("classes", 1), ("requirements", 2)):
            assert len({json.dumps(x) for x in data[table]}) == len(data[table]) <= most * len(data["variants"])
        assert {v[1] for v in data["variants"]} == {*range(len(data["signatures"]))}
        assert {v[2] for v in data["variants"]} == {*range(len(data["classes"]))}


def test_what_each_lane_reads_of_random_bits_is_said() -> None:
    data = json.loads((FOLDER / "opcodes/cvt.json").read_text("utf-8"))
    first, *_ = data["lane_bits"]
    assert (first["for"], first["operand"], first["lanes"]) == (".rs.f16x2", "r", {"1": "28..16", "0": "12..0"})
    assert "9.7.10.24" in json.dumps(data["bases"][first["basis"]])
    assert "lane_bits" not in json.loads((FOLDER / "opcodes/add.json").read_text("utf-8"))


def test_a_variant_says_what_its_result_and_its_operands_are(db: Database) -> None:
    v = db.variant("testp.normal.f64")
    assert (v.opcode, v.modifiers, v.types) == ("testp", {"normal"}, ("f64",))
    assert (v.kind, v.result, v.second) == ("predicate", "pred", None)
    assert v.sources == (SourceOperand(type="f64", registers=1, braced=False, negatable=False),)
    v = db.variant("fma.ftz.rn.f32")
    assert (v.kind, v.result, [s.type for s in v.sources], v.operands) == ("float", "f32", ["f32"] * 3, 3)
    assert {v.kind for v in db.variants} == {"float", "integer", "bits", "predicate"}
    assert all(v.operands == sum(s.registers for s in v.sources) for v in db.variants)


def test_a_variant_is_found_by_its_modifiers_in_any_order_and_its_types_in_theirs(db: Database) -> None:
    for v in db.variants:
        modifiers = v.spelling.split(".")[1 : -len(v.types)]
        assert db.find(v.opcode, [*v.types, *reversed(modifiers)], v.operands) is v
        assert db.find(v.opcode, [*modifiers, *v.types, *v.types], v.operands) is None
    assert db.find("add", ["sat", "sat", "f32"], None) is None


@pytest.mark.exhaustive
def test_what_cannot_be_read_is_said_with_the_way_out(project: Project) -> None:
    assert project.run("generate").code == 0
    path = project.root / "generated/data/opcodes/add.json"
    whole = path.read_text("utf-8")
    for text, said in (("{", "not a database"), (whole.replace('"schema":', '"schema":1'), "is not supported")):
        path.write_text(text, "utf-8")
        asked = project.run("query", "add.f32")
        assert asked.code == 2 and said in asked.err and "run `ptxspec generate`" in asked.err
        assert project.run("query", "mul.f32").code == 0
    path.unlink()
    assert "run `ptxspec generate`" in project.run("query", "add.f32").err


@pytest.mark.exhaustive
def test_a_root_is_read_as_its_files_are() -> None:
    assert load(ROOT).variants == load().variants
    with pytest.raises(PtxspecError):
        load(ROOT / "tests")
