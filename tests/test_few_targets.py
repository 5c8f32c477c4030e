"""Variants that few targets have (architecture- and family-specific ones), from the specification to every product."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import ptxspec
import pytest
from helpers import few
from helpers.few import FAMILIES, ONE_FAMILY, OWN
from helpers.manual import Matrix
from helpers.project import Project
from helpers.standin import StandIn
from ptxspec.emit.generate import generate
from ptxspec.evaluate import emulator
from ptxspec.explain.log import as_text, explanations
from ptxspec.model import Spec, Variant
from ptxspec.proving.gpu import run as running, vectors
from ptxspec.proving.ptxas import verify
from ptxspec.proving.ptxas.asking import UnsupportedTarget, judge
from ptxspec.roots import find
from ptxspec.specification import read


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = few.project(tmp_path_factory.mktemp("few") / "project")
    generate(root)
    return root


@pytest.fixture(scope="module")
def made(root: Path) -> Spec:
    return read(root)


@pytest.fixture(scope="module")
def base(root: Path) -> ptxspec.Database:
    return ptxspec.load(root=root)


@pytest.fixture
def copy(root: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """The command line on the project, which nobody changes."""
    return Project(root, capsys)


def variant(spec: Spec, spelling: str) -> Variant:
    return next(v for v in spec.instructions["cvt"].variants if v.spelling == spelling)


# Reading


def test_the_assemblers_targets_stand_in_the_place_of_the_manuals(made: Spec) -> None:
    manual = variant(made, FAMILIES).manual
    assert manual is not None and manual.on == (("sm_100a", "8.6"), ("sm_101a", "8.6"), ("sm_120a", "8.7"))
    assert {e.variant: (e.manual, e.assembler) for e in made.differences} == {
        FAMILIES: (
            "sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7",
            "sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7; sm_100f, sm_101f, sm_120f families from PTX 8.8",
        )
    }


@pytest.mark.parametrize(
    ("rules", "on"),
    [
        # Of several rules all hold: the targets that every one names, and the highest floor.
        (
            ["on: {sm_100f: 8.8, sm_120a: 8.7}", "on: {sm_103f: 9.1, sm_120a: 8.8}"],
            "103a 9.1, 103f 9.1, 107a 9.4, 107f 9.4, 120a 8.8",
        ),
        (["on: {sm_100a: 8.6, sm_103a: 8.8}", "ptx: 8.7"], "100a 8.7, 103a 8.8"),
        (["on: {sm_100a: 8.6, sm_103a: 8.8}", "target: sm_103"], "103a 8.8"),
        # Of several entries of one rule any does: the lowest floor.
        (["on: {sm_100f: 9.1, sm_103a: 8.8}"], "100a 9.1, 100f 9.1, 103a 8.8, 103f 9.1, 107a 9.4, 107f 9.4"),
        (["on: {sm_100a: 8.6, sm_103a: 8.8}", "within: sm_89..sm_90, ptx: 8.1"], "100a 8.6, 103a 8.8"),
        # What is not family-specific stands for itself.
        (["on: {sm_100: 8.6, sm_121f: 8.8}"], "100 8.6, 121a 8.8, 121f 8.8"),
        (["on: {sm_110f: 9.0}"], "110a 9.0, 110f 9.0"),
        (["on: {sm_101f: 8.8}"], "101a 8.8, 101f 8.8, 110a 9.0, 110f 9.0"),
    ],
)
def test_rules_together(project: Project, rules: list[str], on: str) -> None:
    listed = "".join(f"  - {{{rule}, section: 9.7}}\n" for rule in rules)
    text = f'opcode: max\nsummary: x\nsyntax: ["max.f32 d, a, b"]\nrequires:\n{listed}semantics: |\n  d = a\n'
    project.write("spec/instructions/max.yaml", text)
    (v,) = read(project.root).instructions["max"].variants
    assert ", ".join(f"{t.removeprefix('sm_')} {ptx}" for t, ptx in v.requires.on) == on
    # A range with none of the targets says nothing of them.
    assert v.requires.within == ()


@pytest.mark.parametrize("observed", ["", "assembler: {observed: x, requires: [{on: {sm_100a: 8.6}}]}\n"])
def test_rules_without_a_target_in_common_are_a_mistake(project: Project, observed: str) -> None:
    text = 'opcode: max\nsummary: x\nsyntax: ["max.f32 d, a, b"]\nsemantics: |\n  d = a\nrequires:\n'
    text += "  - {on: {sm_100a: 8.6}, section: 9.7}\n  - {on: {sm_103f: 8.8}, section: 9.7}\n"
    project.write("spec/instructions/max.yaml", text + observed)
    result = project.run("validate")
    assert result.code == 1
    assert "max.yaml:6:1: error: max.f32 (2 operands) can never be taken: the rules that match it have no" in result.err


# Against the assembler


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("sm_120f: 8.8}}\n", "}}\n", f"{FAMILIES} with 2 operands on sm_121f, PTX 9.5: ptxas accepts it"),
        ("{sm_107f: 9.4}", "{sm_103f: 9.4}", f"{ONE_FAMILY} with 1 operands on sm_103a, PTX 9.5: ptxas refuses"),
        ("sm_121a: 9.1}", "sm_121a: 9.2}", f"{OWN} with 2 operands on sm_121a, PTX 9.1: ptxas accepts it"),
    ],
)
def test_a_wrong_list_is_found(
    tmp_path: Path, ptxas: Path, old: str, new: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = few.project(tmp_path / "project")
    path = root / "spec/instructions/cvt.yaml"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
    target, ptx = re.search(r"on (\w+), PTX ([\d.]+)", found).groups()  # type: ignore[union-attr]
    monkeypatch.setattr(verify, "pairs", lambda spec: [(target, ptx), ("sm_100", "9.5")])
    (wrong,) = map(str, verify.variants(read(root), ptxas))
    assert wrong.startswith(found)


def test_families_are_what_the_assembler_takes_for_one(made: Spec, ptxas: Path, tmp_path: Path) -> None:
    """A module for a family-specific target is assembled for its family alone."""
    catalog, ptx = made.catalog, tmp_path / "k.ptx"
    for name in ("sm_100f", "sm_103f", "sm_110f", "sm_120f"):
        version = max(catalog.targets[name].ptx, "9.0")
        ptx.write_text(
            f".version {version}\n.target {name}\n.address_size 64\n.visible .entry k() {{ ret; }}\n", "utf-8"
        )
        family = {t.name for t in catalog.family(name)}
        for other in ("sm_100a", "sm_103f", "sm_107a", "sm_110a", "sm_120f", "sm_121a"):
            command = [ptxas, "-arch", other, ptx, "-o", tmp_path / "k.cubin"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) == (other in family), (name, other, done.stderr)


# Answers


def test_query_says_which_kind_is_needed(base: ptxspec.Database, copy: Project) -> None:
    assert base.query(FAMILIES, target="sm_120a").available and base.query(FAMILIES, target="sm_120f").available
    verdict = base.query(FAMILIES, target="sm_120")
    assert [r.code for r in verdict.reasons] == ["target-specific"]
    result = copy.run("query", FAMILIES, "--target", "sm_120")
    assert result.code == 1
    before, claim, after = result.out.partition("  claim     unjudged: ")
    assert claim and "  help      compile for sm_120a or sm_120f" in after.splitlines()
    assert before.splitlines() == [
        f"no: {FAMILIES} (2 operands) is not available on sm_120; sm_120a and sm_120f, for the same GPUs, support it",
        f"  sm_120 does not support {FAMILIES} (2 operands), which requires sm_120a or sm_120f",
        "  requires  sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7; "
        "sm_100f, sm_101f, sm_120f families from PTX 8.8",
        "  manual    NVIDIA's manual says sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7",
    ]


@pytest.mark.parametrize(
    ("spelling", "target", "ptx", "said"),
    [
        (FAMILIES, "sm_90", None, ["which requires sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7; sm_100f, "]),
        (FAMILIES, "sm_90a", "8.5", ["which requires sm_100a, sm_101a from PTX 8.6; ", "requires PTX 8.6 (CUDA 12.8)"]),
        (FAMILIES, "sm_103", None, ["which requires sm_103a or sm_103f"]),
        (OWN, "sm_103f", None, ["sm_103f does not support", "which requires sm_103a"]),
        (OWN, "sm_103a", "9.0", ["requires PTX 9.1 (CUDA 13.1) or newer; 9.0 is older"]),
        (ONE_FAMILY, "sm_121a", None, ["which requires sm_107f family from PTX 9.4"]),
        (FAMILIES, None, "8.5", ["requires PTX 8.6 (CUDA 12.8) or newer; 8.5 is older"]),
        (OWN, "sm_110a", None, []),
        (FAMILIES, None, "8.6", []),
    ],
)
def test_a_refusal_says_what_is_needed(
    base: ptxspec.Database, spelling: str, target: str | None, ptx: str | None, said: list[str]
) -> None:
    verdict = base.query(spelling, target=target, ptx=ptx)
    text = "\n".join(r.message for r in verdict.reasons)
    assert verdict.available == (not said) and all(s in text for s in said), text


def test_requirements_as_json_and_csv(copy: Project) -> None:
    requires = json.loads(copy.run("query", ONE_FAMILY, "--format", "json").out)["requires"]
    assert requires == {
        "ptx": "9.4", "until": None, "target": "sm_107a",
        "on": [{"target": "sm_107a", "ptx": "9.4"}, {"target": "sm_107f", "ptx": "9.4"}],
    }  # fmt: skip
    listed = json.loads(copy.run("list", "--target", "sm_107f", "--format", "json").out)["variants"]
    assert {v["variant"] for v in listed if "on" in v["requires"]} == {FAMILIES, ONE_FAMILY}
    rows = {r["variant"]: r for r in csv.DictReader(io.StringIO(copy.run("list", "--format", "csv").out))}
    assert rows[ONE_FAMILY]["on"] == "sm_107a:9.4 sm_107f:9.4" and rows["cvt.rn.bf16x2.f32"]["on"] == ""


def test_what_has_more_targets_is_marked_in_tables(copy: Project) -> None:
    table = copy.run("list").out
    assert f"{ONE_FAMILY}           1         sm_107a*  9.4" in re.sub(r" {2,}(?=1 )", " " * 11, table)
    assert "* the first of the few targets that support it; `query` and `show` list them all" in table
    assert "*" not in copy.run("list", "--target", "sm_90").out
    changed = copy.run("diff", "--target", "sm_100..sm_100a").out
    assert f"+ {OWN}" in re.sub(" +", " ", changed) and "sm_100 to sm_100a: 2 variants added, 0 removed" in changed
    assert "0 variants added, 1 removed" in copy.run("diff", "--target", "sm_103a..sm_103f").out
    assert "sm_107f family from PTX 9.4" in copy.run("show", ONE_FAMILY).out


@pytest.mark.parametrize(
    ("target", "ptx", "codes"),
    [
        ("sm_120", "8.8", ["target-specific"]),
        ("sm_120a", "8.7", []),
        ("sm_120f", "8.8", []),
        ("sm_121a", "8.8", []),
        ("sm_110f", "9.0", []),
        ("sm_100", "8.5", ["target-specific", "target-unknown"]),
    ],
)
def test_lint_says_what_ptxas_says(
    base: ptxspec.Database, ptxas: Path, target: str, ptx: str, codes: list[str]
) -> None:
    statement = f"{FAMILIES} %y0, %f0, %f1;"
    head = f".version {ptx}\n.target {target}\n.entry k() {{\n.reg .b8 %y<2>; .reg .f32 %f<2>;\n"
    found = [f for f in base.lint(f"{head}{statement}\n}}\n") if f.severity == "error"]
    assert sorted({f.code for f in found}) == codes
    try:
        (messages,) = judge(ptxas, [statement], target, ptx)
    except UnsupportedTarget as e:
        messages = [str(e)]
    assert bool(messages) == bool(codes)
    if codes == ["target-specific"]:
        (f,) = found
        assert f.message.endswith("which requires sm_120a or sm_120f") and f.help == "compile for sm_120a or sm_120f"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Feature 'cvt.e2m1x2.f32' not supported on .target 'sm_120'", ["which requires sm_120a or sm_120f"]),
        (
            "Feature '.pzo' not supported on .target 'sm_103f'",
            ["sm_103f does not have '.pzo'; cvt.rn.pzo.f16.f32 requires sm_107f family from PTX 9.4"],
        ),
        ("Instruction 'cvt with .s2f6x2' not supported on .target 'sm_110f'", ["which requires sm_110a"]),
        # One word for what different targets have: each with one that needs it.
        (
            "Feature '.satfinite' not supported on .target 'sm_121f'",
            ["compile for sm_121a\n"],
        ),
        (
            "Feature '.satfinite' not supported on .target 'sm_120'",
            [f"compile for sm_120a or sm_120f for {FAMILIES}; sm_120a for {OWN}"],
        ),
    ],
)
def test_what_ptxas_says_of_a_target_is_explained(base: ptxspec.Database, message: str, said: list[str]) -> None:
    text = "\n".join(as_text(explanations(base, [f"ptxas a.ptx, line 5; error   : {message}"])))
    assert all(s in text for s in said), text


# Products


def test_the_emulator_knows_where_it_is(root: Path) -> None:
    emu = emulator(find(root))
    assert emu.compile(FAMILIES, target="sm_103f").operands == 2
    with pytest.raises(LookupError, match=r"requires sm_107f family from PTX 9\.4"):
        emu.compile(ONE_FAMILY, target="sm_103f")


def test_the_matrix_names_the_kinds_that_have_what_their_target_has_not(root: Path) -> None:
    matrix = Matrix(root / "generated/manual")
    (row,) = [row for row in matrix.rows if any("s2f6x2" in text for text in row.texts)]
    cells = dict(zip(matrix.columns, row.cells, strict=True))
    assert cells["sm_107"] == "a 9.4" and cells["sm_103"] == "a 9.1" and cells["sm_90"] == ""
    (row,) = [row for row in matrix.rows if FAMILIES in row.names]
    cells = dict(zip(matrix.columns, row.cells, strict=True))
    assert cells["sm_100"].splitlines()[-1].startswith("f ")


@pytest.mark.parametrize(
    ("target", "release", "skipped"),
    [
        (
            "sm_90",
            "13.5",
            {FAMILIES: "requires sm_100a, sm_101a from PTX 8.6; ", ONE_FAMILY: "requires sm_107f family", OWN: ""},
        ),
        ("sm_100", "13.5", {ONE_FAMILY: "requires sm_107f family from PTX 9.4"}),
        ("sm_120", "13.0", {ONE_FAMILY: "requires sm_107f", OWN: "requires PTX 9.1; CUDA 13.0 supports 9.0"}),
        ("sm_107", "13.4", {}),
    ],
)
def test_a_gpus_kernels_are_compiled_as_its_a_kind(
    root: Path, made: Spec, target: str, release: str, skipped: dict[str, str]
) -> None:
    emu = emulator(find(root))
    newest = running._newest(made, release)
    device = StandIn(emu, target=target, release=release, ptx=int(newest.replace(".", "")))
    sizes = vectors.Sizes(random=64, sample=16)
    report = running.run(device, made, emu, root / "generated/cuda", sizes, None)
    assert device.compiled == f"{target}a" and report.target == target
    found: dict[str, Any] = {r.variant.spelling: r for r in report.rows}
    assert {s for s, r in found.items() if r.skipped} == set(skipped)
    assert all(found[s].why.startswith(why) for s, why in skipped.items())
    assert not report.disagrees and not report.failed
    assert set(device.launches) == set(found) - set(skipped)
