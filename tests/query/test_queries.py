"""Queries on what exists where, and why not: the database's answers, and list, query and diff in the terminal."""

from __future__ import annotations

import csv
import io
import itertools
import json
import shlex
import subprocess
import sys
from collections.abc import Callable

import ptxspec
import pytest
from helpers import ROOT
from helpers.sizes import each_size, spread
from ptxspec.catalog.explaining import explain, ranked, recipe_told
from ptxspec.cli.main import main

pytestmark = pytest.mark.inputs(
    "requirements", "codegen/ptxspec/catalog", "codegen/ptxspec/query", "codegen/ptxspec/proving/ptxas"
)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([arguments[0], "--root", str(ROOT), *arguments[1:]])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def reasons(verdict: ptxspec.Verdict) -> list[str]:
    return [r.code for r in verdict.reasons]


@pytest.mark.exhaustive
def test_loading_a_root_reads_its_yaml_and_equals_the_generated_file() -> None:
    folder = ROOT / "generated/data"
    db = ptxspec.load(ROOT)
    assert db.data == json.loads((folder / "ptxspec.json").read_text("utf-8"))
    assert {p.stem for p in (folder / "opcodes").iterdir()} == db.opcodes.keys()
    for name, opcode in db.opcodes.items():
        assert opcode.data == json.loads((folder / f"opcodes/{name}.json").read_text("utf-8"))


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
        ("add.rn.rz.f32", None, "excluding-modifiers", "cannot have both .rn and .rz"),
        ("max.f32", 4, "operand-count", "max.f32 takes 2 or 3 source operands, not 4"),
        ("addd.f32", None, "unknown-opcode", "did you mean 'add'?"),
        ("add.foo", None, "unknown-type", "unknown type or modifier '.foo'; add has .f32, "),
        ("add.float", None, "unknown-type", "there is no type .float"),
        ("add.rn", None, "missing-type", "add.rn lacks a type; add has .f32, "),
        ("add.bf16x4", None, "unknown-type", "unknown type or modifier '.bf16x4'; did you mean '.bf16x2'?"),
        ("testp.nan.f32", None, "illegal-modifier", "testp.f32 has no .nan; it has .finite, "),
        ("max.f32x2", None, "illegal-type", "max has no .f32x2; it has .f32, .f64"),
        ("cvt.f32", None, "illegal-type", "cvt has no .f32; it has .f32.f32, .f32.u8, .f32.u16 and other forms of 2"),
        ("cvt.rn.e4m3x2.f64", None, "illegal-type", "it has .e4m3x2.f32, .e4m3x2.f16x2, .u8.f64 and other forms of 2"),
        ("cvt.rn.satfinite.e4m3.f32", None, "illegal-type", "it has .e4m3x2.f32, .e4m3x4.f32, .e5m2x2.f32 and other"),
        ("add.f64.f64", None, "illegal-type", "add has no .f64.f64; it has .f64, .f32, .f32x2 and others"),
        ("add.f8", None, "unknown-type", "unknown type or modifier '.f8'; add has .f32, .f32x2, .f64, "),
        ("add.sat.sat.f32", None, "repeated-modifier", ".sat appears twice"),
        (
            "add..f32",
            None,
            "syntax",
            "a spelling consists of names separated by dots, such as add.f32, without operands",
        ),
        ("max.f32 d, a, b, c", None, "syntax", "such as max.f32, without operands"),
        # What is wrong before the operands is told too.
        ("fma.bad.f32 d, a, b, c", None, "unknown-modifier", "fma.f32 has no .bad; it has .rn, "),
        ("fma.fzt.f32", 4, "unknown-modifier", "did you mean '.ftz'?"),
        # If a modifier is missing, the number of operands may be wrong with any.
        ("fma.f32", 4, "missing-modifier", "fma.f32 lacks .rn or .rz or .rm or .rp"),
        ("fma.f32", 4, "operand-count", "fma.f32 takes 3 source operands, not 4"),
        ("max.xorsign.f32", 3, "operand-count", "max.xorsign.f32 takes 2 source operands, not 3"),
        ("neg.f32", 3, "operand-count", "neg.f32 takes 1 source operand, not 3"),
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


@pytest.mark.parametrize("operands", [None, 0, 2, 7])
def test_no_reason_ends_where_a_list_should_follow(db: ptxspec.Database, operands: int | None) -> None:
    for about in db.opcodes.values():
        for v in spread(about.variants, 5):
            opcode, *names = v.spelling.split(".")
            for less in ([n for n in names if n not in gone] for gone in itertools.combinations(names, 1)):
                why = explain(db, ".".join((opcode, "bad", *less)), operands)
                for said in (*(r.message for r in why.reasons), str(why.advice)):
                    assert said == said.strip() and not said.endswith((",", ":", "; it has")) and "  " not in said


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        (
            "mov.b128",
            "mov.b128 is described in another section of PTX (section 9.7.10, Data movement and conversion) and ",
        ),
        ("vadd.u32.u32.u32", "vadd is a PTX instruction (section 9.7.20, "),
        ("ld.global.f32", "ld is a PTX instruction (section 9.7.10, "),
        # A function that an opcode resembles is not meant.
        ("exp.f32", "PTX has no exp; `ptxspec query __expf` shows the PTX of CUDA's __expf\n"),
        ("pow.approx.f32", "PTX has no pow; `ptxspec query __powf` shows the PTX of CUDA's __powf\n"),
        ("coshf.f32", "PTX has no coshf; `ptxspec query coshf` shows the PTX of CUDA's coshf\n"),
        ("pow.f64", "PTX has no pow; `ptxspec query pow` shows the PTX of CUDA's pow\n"),
        ("gcd.s32", "PTX has no gcd; opcodes that are spelled alike compute something else"),
        ("exp2.f32", "unknown opcode 'exp2'; did you mean 'ex2'?"),
    ],
)
def test_what_ptx_may_have_outside_of_the_database_is_not_denied(run: Run, spelling: str, said: str) -> None:
    code, out, _ = run("query", spelling)
    assert code == 1 and out.startswith(f"no: {spelling} is not in this database\n  {said}")
    assert "nearest" not in out


@pytest.mark.parametrize(
    ("asked", "command", "holds"),
    [
        ("bf16 fma", "list --where 'opcode=fma and type=bf16'", "fma.rn.bf16"),
        ("which sm has bf16 fma", "list --where 'opcode=fma and type=bf16'", "fma.rn.bf16"),
        ("f32 to e4m3", "list --where 'type=f32 and result=e4m3x2'", "cvt.rn.satfinite.e4m3x2.f32"),
        ("half to float", "list --where 'type=f16 and result=f32'", "cvt.f32.f16"),
        ("min NaN f16x2", "list --where 'opcode=min and modifier=NaN and type=f16x2'", "min.NaN.f16x2"),
        ("tanh accuracy", "show tanh", "tanh.approx.f32"),
    ],
)
def test_a_question_in_words_gets_the_command_that_answers_it(run: Run, asked: str, command: str, holds: str) -> None:
    code, out, _ = run("query", asked)
    assert code == 1 and f"`ptxspec {command}`" in out
    code, out, _ = run(*shlex.split(command))
    assert code == 0 and holds in out


def test_other_words_are_no_spelling(run: Run) -> None:
    for asked in ("fused multiply add", "hello world", "bf16 popc", "add.f32 d, a, b"):
        code, out, _ = run("query", asked)
        assert code == 1 and "separated by dots" in out and "--where" not in out


@pytest.mark.parametrize(
    ("spelling", "said", "nearest"),
    [
        ("cvt.rn.bf16.e4m3", "it has .bf16x2.e4m3x2, ", "cvt.rn.bf16x2.e4m3x2"),
        ("cvt.rn.f16.e5m2", "it has .f16x2.e5m2x2, ", "cvt.rn.f16x2.e5m2x2"),
        ("cvt.rn.satfinite.e2m1.bf16", "it has .e2m1x2.bf16x2, ", "cvt.rn.satfinite.e2m1x2.bf16x2"),
        ("cvt.rn.satfinite.e4m3.f32", ".e4m3 comes in pairs only, as .e4m3x2", "cvt.rn.satfinite.e4m3x2.f32"),
    ],
)
def test_what_comes_in_pairs_is_said_to(db: ptxspec.Database, spelling: str, said: str, nearest: str) -> None:
    verdict = db.query(spelling)
    assert said in verdict.reasons[0].message and "comes in pairs only" in verdict.reasons[0].message
    assert verdict.nearest[0].spelling == nearest


@each_size
def test_what_lint_leaves_alone_is_not_denied_by_a_query(db: ptxspec.Database, whole: bool) -> None:
    left = 0
    for opcode in db.opcodes if whole else ["mov", "set", *spread(list(db.opcodes), 7)]:
        for other in (*db.types - db.floats, *db.other_types):
            text = f"{opcode}.{other} %r0, %r1, %r2;"
            asked = db.query(f"{opcode}.{other}")
            left += (alone := not asked.exists and db.lint(text) == [])
            assert (reasons(asked) == ["not-in-database"]) == alone, text
    assert left


SUGGESTED = [
    ("cos.aprox.f32", "cos.approx.f32"),
    ("sqrt.RN.f32", "sqrt.rn.f32"),
    ("rcp.RN.f32", "rcp.rn.f32"),
    ("div.aprox.f32", "div.approx.f32"),
    ("ex2.fast.f32", "ex2.approx.f32"),
    ("min.nan.f32", "min.NaN.f32"),
    ("max.xorsign.f32", "max.xorsign.abs.f32"),
    ("add.bf16x4", "add.bf16x2"),
    ("add.foo.f32", "add.f32"),
]


@pytest.mark.parametrize(("spelling", "meant"), SUGGESTED)
def test_the_spelling_that_was_meant_comes_first(db: ptxspec.Database, spelling: str, meant: str) -> None:
    assert db.query(spelling).nearest[0].spelling == db.query(spelling.upper()).nearest[0].spelling == meant


@pytest.mark.parametrize(("spelling", "meant"), SUGGESTED)
def test_lint_offers_the_spelling_that_was_meant(db: ptxspec.Database, spelling: str, meant: str) -> None:
    operands = ", ".join(f"%f{i}" for i in range(db.variant(meant).operands + 1))
    (found,) = db.lint(f"{spelling} {operands};")
    # A name that is like none is not left out without a word.
    lost = next((f", without .{n}" for n in ("foo", "fast") if n in spelling), "")
    # The number is said where there are others: min and max have three operands as well.
    several = " (2 operands)" * (meant.startswith(("min.", "max.")) and "xorsign" not in meant)
    assert found.help == f"write {meant}{several}{lost}"


@pytest.mark.sampled(0)
@each_size
def test_only_what_an_opcode_has_is_suggested(db: ptxspec.Database, whole: bool) -> None:
    for opcode, about in db.opcodes.items():
        for name in ("nan", "aprox", "foo", "RN", "oobb", "fulll", "relux"):
            for types in about.types if whole else spread(list(about.types), 3):
                for r in db.query(".".join((opcode, name, *types))).reasons:
                    meant = r.message.partition("did you mean '.")[2].rstrip("'?")
                    assert not meant or any(meant in w.names for w in about.variants if w.types == types)


def test_what_ended_is_offered_last(db: ptxspec.Database) -> None:
    # What only a few targets have goes on where one of them has it.
    gone = {
        v: not (db.takes(v, None, "9.5") if v.requires.on else db.takes(v, "sm_121f", "9.5"))
        for about in db.opcodes.values() for v in about.variants if not v.crash
    }  # fmt: skip
    assert 10 < sum(gone.values()) < 20
    for about in db.opcodes.values():
        ended = [gone[v] for _, v in ranked(db, about.variants, ["nothing", "f32"], None, None, None)]
        assert ended == sorted(ended)
    assert db.query("sqrt.f23", ptx="1.3").nearest[0].spelling == "sqrt.f32"


def test_what_is_too_new_says_what_it_needs_on_each_axis(db: ptxspec.Database) -> None:
    verdict = db.query("add.bf16", target="sm_80", ptx="7.0")
    assert verdict.exists and not verdict.available
    assert reasons(verdict) == ["target-too-old", "ptx-too-old"]
    assert "requires PTX 7.8 (CUDA 11.8) or newer; 7.0 is older" in verdict.reasons[1].message


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


@each_size
def test_available_agrees_with_query(db: ptxspec.Database, whole: bool) -> None:
    """Of an opcode's variants that require the same, one."""
    pairs = list(itertools.product(db.targets, ("1.0", "3.1", "7.0", "8.6", "9.5")))
    some = list({(v.opcode, v.requires): v for v in db.variants}.values())
    for target, ptx in pairs if whole else spread(pairs, 8):
        listed = {(v.spelling, v.operands) for v in db.available(target=target, ptx=ptx)}
        for v in some if whole else spread(some, 100):
            assert ((v.spelling, v.operands) in listed) == db.query(v.spelling, v.operands, target, ptx).available


def test_a_complaint_is_a_whole_sentence_and_names_a_choice_once(db: ptxspec.Database) -> None:
    for spelling in ("add.v2.f32", "add.float", "cvt.float", "set.f32", "max.s33", "ld.f32", "add.foo", "", "."):
        for r in db.query(spelling).reasons:
            assert not r.message.rstrip().endswith(";") and r.message.count(".ftz") < 2 and len(r.message) < 150
    for target in ("hoper", "90", "", "sm_"):
        with pytest.raises(
            ptxspec.PtxspecError, match=r"; (did you mean '\w+'\?|.* lists the known targets and GPUs)$"
        ):
            db.target(target)


def test_where_a_target_is_unknown_lint_says_which_version_knows_it_and_judges_nothing(db: ptxspec.Database) -> None:
    with pytest.raises(ptxspec.PtxspecError, match=r"^sm_90 requires PTX 7.8 .* 7.0 is older"):
        db.lint("add.f32 %f0, %f1, %f2;", target="sm_90", ptx="7.0")


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
    assert out.splitlines()[:3] == [
        "yes: max.f32 (3 operands) on sm_100",
        "  here      PTX 8.8 or newer (CUDA 12.9) on sm_100",
        "  requires  sm_100 or newer, PTX 8.8 or newer (CUDA 12.9)",
    ]


def test_query_as_json(run: Run) -> None:
    code, out, _ = run("query", "add.bf16", "--target", "sm_80", "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert list(found) == [
        "schema", "variant", "operands", "exists", "available", "requires", "here", "manual", "claim", "basis",
        "hazard", "loose", "reasons", "nearest", "instead", "instead_elsewhere", "no_recipe", "family", "register",
    ]  # fmt: skip
    assert (found["schema"], found["claim"], found["hazard"]) == (4, "exact", None)
    first = found["instead"][0]
    assert first["ptx"].splitlines()[-2:] == ["    fma.rn.bf16 %d, %a, %_t, %b;", "}"]
    assert first["cuda"].startswith('asm("{') and first["cuda"].endswith(': "=h"(d) : "h"(a), "h"(b));')
    assert (first["from"], first["differs"]) == ({"target": "sm_80", "ptx": "7.0", "cuda": "11.0"}, None)
    assert (found["instead_elsewhere"], found["no_recipe"]) == ([], None)
    assert found["basis"].startswith("IEEE 754")
    assert found["nearest"][0] == {"variant": "add.f32", "operands": 2}
    assert found["requires"] == {"ptx": "7.8", "until": None, "target": "sm_90"}
    assert found["reasons"][0]["code"] == "target-too-old"


def test_on_a_target_its_own_floor_is_told(run: Run, db: ptxspec.Database) -> None:
    asked = ("list", "--target", "sm_121a", "--type", "e2m1x2")
    assert run(*asked)[1].splitlines()[1].split() == ["cvt.rn.satfinite.e2m1x2.f32", "2", "8.8", "12.9", "exact"]
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    for row, found in zip(rows, json.loads(run(*asked, "--format", "json")[1])["variants"], strict=True):
        v = db.variant(found["variant"], found["operands"])
        first = next(ptx for ptx in db.versions if db.takes(v, "sm_121a", ptx))
        assert (row["here"], found["here"]["ptx"], found["here"]["cuda"]) == (first, first, db.versions[first].cuda)
    told = run("query", "cvt.rn.satfinite.e2m1x2.f32", "--target", "sm_121a", "--driver")[1]
    assert "  here      PTX 8.8 or newer (CUDA 12.9) on sm_121a\n" in told
    assert "  driver    575.51.03 or newer, on Windows 576.02\n" in told
    refused = run("query", "cvt.rn.satfinite.e2m1x2.f32", "--target", "GB10", "--driver")[1]
    assert "is not available on sm_121; sm_121a and sm_121f, for the same GPUs, support it\n" in refused
    alone = run("query", "add.e5m2x4.e5m2x4", "--target", "sm_100")[1]
    assert "is not available on sm_100; sm_100a, for the same GPUs, supports it\n" in alone
    assert "help      compile for sm_121a or sm_121f, with PTX 8.8 (CUDA 12.9) or newer\n" in refused
    assert "compile   -arch=sm_121f: PTX 8.8 or newer (CUDA 12.9)\n" in refused
    assert "here" not in refused and "driver" not in refused


def test_list_as_table_json_and_csv(run: Run, db: ptxspec.Database) -> None:
    asked = ("list", "--target", "sm_90", "--ptx", "8.0", "--type", "bf16x2")
    want = [v.spelling for v in db.available("sm_90", "8.0", "bf16x2")]
    code, out, _ = run(*asked)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:-4]] == want
    assert out.splitlines()[-3].startswith("hazard: the machine code does not do")
    assert [line.split()[0] for line in out.splitlines() if line.endswith(", hazard")] == [
        v.spelling for v in db.available("sm_90", "8.0", "bf16x2") if v.hazards
    ]
    assert all(len(line) <= 80 for line in out.splitlines())
    assert [v["variant"] for v in json.loads(run(*asked, "--format", "json")[1])["variants"]] == want
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [r["variant"] for r in rows] == want and {r["target"] for r in rows} == {"sm_80", "sm_86", "sm_90"}


def test_list_as_json_says_which_types_a_variant_has_and_what_is_a_hazard(run: Run) -> None:
    listed = json.loads(run("list", "--opcode", "testp", "--format", "json")[1])
    assert listed["schema"] == 4
    assert list(listed["variants"][0]) == [
        "variant", "operands", "types", "requires", "here", "manual", "claim", "basis", "hazard",
    ]  # fmt: skip
    assert listed["variants"][0]["types"] == {"result": "pred", "operands": ["f32"]}
    fused = {v["variant"]: v for v in json.loads(run("list", "--opcode", "fma", "--format", "json")[1])["variants"]}
    assert fused["fma.rn.bf16"]["types"] == {"result": "bf16", "operands": ["bf16"] * 3}
    assert fused["fma.rn.bf16"]["hazard"] is None
    assert "reads the operands as f16 instead of bf16" in fused["fma.rz.bf16"]["hazard"]


def test_what_ended_on_newer_targets_only_says_so_everywhere(run: Run, db: ptxspec.Database) -> None:
    assert db.takes(db.variant("mad.f32"), "sm_13", "9.5") and not db.query("mad.f32", target="sm_90").available
    words = "from sm_20 on until PTX 3.1"
    asked = ("list", "--opcode", "mad")
    ended = [line.split()[0] for line in run(*asked)[1].splitlines() if words in line]
    assert ended == ["mad.f32", "mad.sat.f32", "mad.ftz.f32", "mad.ftz.sat.f32"]
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv")[1])))
    assert [r["variant"] for r in rows if r["within"] == words] == ended
    assert {r["within"] for r in rows if r["variant"] not in ended} == {""}
    assert words in run("query", "mad.f32")[1] and words in run("show", "mad.f32")[1]
    for page in ("mad", "differences"):
        for suffix in ("md", "html"):
            text = (ROOT / f"generated/manual/{page}.{suffix}").read_text("utf-8")
            assert f"sm_10, PTX 1.0; {words}" in text
            assert suffix == "html" or "sm_121f" not in text


def test_a_short_spelling_says_what_it_means(run: Run) -> None:
    assert "  means     sin.approx.ftz.f32\n" in run("query", "sin.f32")[1]
    assert "means" not in run("query", "sin.approx.f32")[1]


def test_list_says_how_many_more_targets_of_the_same_gpus_support(run: Run, db: ptxspec.Database) -> None:
    more = {t: len(db.available(t, type="e2m1x2")) for t in ("sm_120a", "sm_120f")}
    said = f"on the same GPUs, sm_120a supports {more['sm_120a']} more and sm_120f supports {more['sm_120f']} more\n"
    assert run("list", "--target", "RTX 5090", "--type", "e2m1x2")[1] == f"no variants\n{said}"
    # PTX 8.7 has sm_120a, and not yet sm_120f.
    assert "more and" not in run("list", "--target", "sm_120", "--ptx", "8.7", "--type", "e2m1x2")[1]
    assert "more" not in run("list", "--target", "sm_80", "--opcode", "add")[1]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        (("--target", "T4", "--type", "bf16"), "sm_80 is the first target that has some\n"),
        (("--target", "sm_90", "--type", "e2m1x2"), "sm_100a is the first target that has some\n"),
        (("--target", "sm_70", "--opcode", "tanh", "--ptx", "7.0"), "sm_75 is the first target that has some\n"),
        (("--target", "sm_70", "--opcode", "tanh", "--ptx", "6.0"), ""),
    ],
)
def test_an_empty_list_names_the_first_target_with_some(run: Run, asked: tuple[str, ...], first: str) -> None:
    code, out, _ = run("list", *asked)
    assert code == 1 and out == f"no variants\n{first}"


def test_list_says_how_many_variants_crash_the_assembler(run: Run, db: ptxspec.Database) -> None:
    crashing = {o: sum(bool(v.crash) for v in opcode.variants) for o, opcode in db.opcodes.items()}
    some = next(o for o, n in crashing.items() if n)
    assert f"{sum(crashing.values())} variants not listed: on no target" in run("list")[1]
    assert f"{crashing[some]} variants not listed" in run("list", "--opcode", some)[1]
    assert "not listed" not in run("list", "--opcode", "add")[1]


@pytest.mark.parametrize("target", [None, "sm_75", "sm_90"])
@pytest.mark.parametrize("spelling", ["setp.cmp.f32", "fma.rnd.f32", "setp.cmp.bf16"])
def test_list_answers_a_spelling_with_placeholders_as_query_does(run: Run, spelling: str, target: str | None) -> None:
    there = ["--target", target] * (target is not None)
    asked = json.loads(run("query", spelling, *there, "--format", "json")[1])["family"]["variants"]
    code, out, _ = run("list", spelling, *there, "--format", "json")
    listed = [v["variant"] for v in json.loads(out)["variants"]]
    assert sorted(listed) == sorted(v["variant"] for v in asked if v["available"]) and code == (not listed)


def test_list_takes_an_opcode_or_a_spelling(run: Run) -> None:
    assert run("list", "tanh") == run("list", "--opcode", "tanh")
    assert run("list", "max.f32", "--format", "csv")[1].count("\nmax.f32,") == 2
    for wrong, said in [("mma.sync", "mma is a PTX instruction"), ("__hmul2", "is a function"), ("max.f33", "'.f32'?")]:
        code, _, told = run("list", wrong)
        assert code == 2 and said in told


def test_list_says_where_a_version_does_not_know_a_target(run: Run) -> None:
    for format in ("table", "json", "csv"):
        code, _, err = run("list", "--target", "sm_90", "--ptx", "6.0", "--format", format)
        assert (code, err) == (
            1,
            "ptxspec: sm_90 requires PTX 7.8 (CUDA 11.8) or newer; 6.0 is older\n",
        )


def test_diff_lists_what_a_version_or_a_target_brought(run: Run) -> None:
    code, out, _ = run("diff", "--ptx", "8.5..8.6", "--format", "json")
    found = json.loads(out)
    assert code == 0 and not found["removed"]
    assert {v["variant"].split(".")[-1] for v in found["added"] if not v["variant"].startswith("cvt.")} == {
        "f32x2", "f16", "bf16",
    }  # fmt: skip
    assert {tuple(v["variant"].split(".")[-2:]) for v in found["added"] if v["variant"].startswith("cvt.")} == {
        ("tf32", "f32"), ("ue8m0x2", "f32"), ("ue8m0x2", "bf16x2"), ("bf16x2", "ue8m0x2"),
        *((narrow, "f32") for narrow in ("e2m3x2", "e3m2x2", "e2m1x2")),
        *(("f16x2", narrow) for narrow in ("e2m3x2", "e3m2x2", "e2m1x2")),
    }  # fmt: skip
    _, out, _ = run("diff", "--target", "sm_75..sm_80")
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "+ max{.ftz}.NaN.f32 2 operands sm_80 PTX 7.0" in rows
    assert "+ fma.rnd{.relu}.{bf16,bf16x2} 3 operands sm_80 PTX 7.0" in rows
    assert ".rnd is one of .rn, .rz, .rm, .rp" in rows
    assert run("diff", "--ptx", "8.5")[0] == 2


def test_diff_groups_as_syntax_does(run: Run) -> None:
    _, out, _ = run("diff", "--ptx", "8.5..8.8")
    *table, total = out.splitlines()
    rows = {" ".join(line.split()) for line in table}
    assert {f"+ {opcode}{{.rnd}}{{.ftz}}.f32x2 2 operands sm_100 PTX 8.6" for opcode in ("add", "mul", "sub")} <= rows
    assert "+ fma.rnd{.ftz}.f32x2 3 operands sm_100 PTX 8.6" in rows
    assert "+ max{.ftz}{.NaN}{.abs}.f32 3 operands sm_100 PTX 8.8" in rows
    # 153 variants in a screen.
    assert total == "PTX 8.5 to PTX 8.8: 153 variants added, 0 removed" and len(table) < 25
    # What is gone ended with a version.
    _, out, _ = run("diff", "--target", "sm_13..sm_20")
    assert "- rsqrt.{f32,f64} 1 operand sm_10 PTX 1.0 to 1.3" in {" ".join(line.split()) for line in out.splitlines()}


def test_the_lines_of_diff_fit_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("diff", "--ptx", "7.8..9.5")
    assert all(line.startswith("+ ") for line in out.splitlines() if "PTX 9.4" in line)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = run("diff", "--ptx", "7.8..9.5")
    assert max(map(len, out.splitlines())) <= 80


def test_misuse_is_exit_2_with_a_suggestion(run: Run) -> None:
    code, out, err = run("query", "add.f32", "--target", "sm_9O")
    assert (code, out) == (2, "")
    assert "unknown target 'sm_9O'; did you mean 'sm_90'?" in err


@pytest.mark.parametrize("command", [["query", "add.f32"], ["list"], ["diff", "--ptx", "8.5..8.8"]])
def test_a_query_imports_little(command: list[str]) -> None:
    code = "import sys; from ptxspec.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"yaml", "jinja2", "jsonschema", "rich", "numpy"} & set(done.stderr.split())


def test_a_recipe_for_newer_targets_says_that_it_is_not_for_this_one(run: Run) -> None:
    asked = run("query", "fma.rn.oob.relu.f16", "--target", "sm_53")[1]
    assert "\ninstead, not on sm_53 (sm_80, PTX 7.0 or newer; equal bit for bit):\n" in asked
    assert "\ninstead, on sm_80 (" in run("query", "fma.rn.oob.relu.f16", "--target", "sm_80")[1]


@pytest.mark.parametrize("spelling", ["div.f16", "max.NaN.f64", "set.lt.bf16.bf16", "add.bf16", "fma.rn.oob.relu.f16"])
@pytest.mark.parametrize("target", ["sm_53", "sm_80", "sm_90", "sm_121a"])
def test_a_recipe_says_from_where_it_works_on_the_target_that_is_named(
    db: ptxspec.Database, spelling: str, target: str
) -> None:
    general = {r.ptx: r.requires for r in db.query(spelling, ptx="1.0").instead}
    for told in db.query(spelling, target=target).as_json()["instead"]:
        first = next(p for p in db.versions if db.catalog.takes(general[told["ptx"]], target, p))
        assert told["from"] == {"target": target, "ptx": first, "cuda": db.versions[first].cuda or None}


def test_a_recipe_names_the_ptx_version_and_the_cuda_release_of_the_target(run: Run) -> None:
    assert (
        "\ninstead, on sm_121a (PTX 8.8 and CUDA 12.9 or newer; " in run("query", "div.f16", "--target", "sm_121a")[1]
    )
    asked = ("query", "max.f32", "--operands", "3", "--target", "sm_120", "--ptx", "8.0")
    # The target's own floor is lower than that of the variant on it, or higher.
    assert "  max.f32 (3 operands) requires PTX 8.8 (CUDA 12.9) or newer; 8.0 is older\n" in run(*asked)[1]
    newer = ("query", "max.f32", "--operands", "3", "--target", "sm_107", "--ptx", "8.0")
    assert "  max.f32 (3 operands) requires PTX 9.4 (CUDA 13.4) or newer; 8.0 is older\n" in run(*newer)[1]
    assert "  help      use PTX 8.8 or newer, which supports it on sm_120\n" in run(*asked)[1]
    assert "\ninstead, not on sm_120 and PTX 8.0 (PTX 8.7 and CUDA 12.8 or newer; " in run(*asked)[1]


def test_advice_in_a_line_says_which_version_a_recipe_needs_on_the_target(db: ptxspec.Database) -> None:
    v = db.variant("cvt.rn.satfinite.bf16x2.e4m3x2")
    # sm_90 came with PTX 7.8, and half of the recipe later.
    assert recipe_told(db, v, "sm_90", None).endswith(" --target sm_90` prints, from PTX 8.1 (CUDA 12.1) on")
    assert recipe_told(db, v, "sm_90", "8.1").endswith(" --target sm_90 --ptx 8.1` prints")
    assert recipe_told(db, db.variant("add.bf16"), "sm_80", "6.5").startswith("from PTX 7.0 (CUDA 11.0) on, instead: ")
