"""The machine code that spec/observed/ has of every variant: all of them are there, and ptxas makes it anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import Project, Result, copied
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.model import MachineCode, Spec, Variant
from ptxspec.proving.machine import evidence, matrices
from ptxspec.proving.machine.evidence import matches
from ptxspec.proving.machine.kernels import Listed, listed as kernels_listed
from ptxspec.proving.ptxas.asking import Pair, PtxasError
from ptxspec.query import machine_code, show
from ptxspec.read.notation import expand

pytestmark = pytest.mark.inputs(
    "spec/observed/machine_code.yaml",
    "requirements",
    "codegen/ptxspec/proving/machine",
    "codegen/ptxspec/proving/ptxas",
)

PATH, MATRICES = evidence.PATH, matrices.PATH
# Machines that differ most: HFMA2 and FADD2 are not on all of them.
TWO = ["sm_90a", "sm_120a"]


def told(spec: Spec) -> dict[Variant, dict[str, MachineCode]]:
    """Return the machine code that the evidence records for each variant, by target."""
    assert spec.machine is not None
    found: dict[Variant, dict[str, MachineCode]] = {}
    for opcode, entries in spec.machine.opcodes.items():
        forms = {v.form: v for v in spec.instructions[opcode].variants}
        for e in entries:
            for text in e.forms:
                for names in expand(text.removeprefix(opcode), spec.notation):
                    types = tuple(n for n in names if n in spec.types)
                    v = forms[frozenset(n for n in names if n not in spec.types), types, e.operands]
                    assert v not in found, f"{v} is told twice"
                    found[v] = {t: c for c in e.codes for t in c.targets}
    return found


def test_every_variant_is_told_of_on_every_target_that_takes_it(spec: Spec) -> None:
    every = evidence.targets(spec)
    assert spec.machine is not None and list(spec.machine.targets) == every
    found = told(spec)
    for v in (v for i in spec.instructions.values() for v in i.variants):
        on = [t for t in every if evidence.assembled(spec, t, [v])]
        assert list(found.get(v, ())) == [] if not on else set(found[v]) == set(on), v
    every_variant = [v for i in spec.instructions.values() for v in i.variants]
    assert len(found) == sum(spec.has_kernel(v) and not v.has_implicit for v in every_variant)
    assert spec.machine.asked == {opcode: spec.asked(opcode) for opcode in spec.machine.opcodes}


def test_what_is_kept_stays_small() -> None:
    assert (ROOT / PATH).stat().st_size < 200_000


@pytest.mark.sampled(0)
@each_size
def test_ptxas_makes_the_recorded_machine_code_anew(spec: Spec, ptxas: Path, nvdisasm: Path, whole: bool) -> None:
    found = told(spec)
    variants = list(found) if whole else spread(list(found), 8)
    works = evidence.examine(spec, ptxas, variants, evidence.targets(spec) if whole else TWO)
    assert sum(map(len, works.values())) > len(variants) / 2
    for v, by in works.items():
        for target, w in by.items():
            c = found[v][target]
            assert (w.count, w.beyond) == (c.count, c.beyond) and matches(w.text, c.text), (v, target, w, c)


@pytest.mark.sampled(0)
@each_size
def test_the_kinds_of_an_architecture_have_one_machine_code(
    spec: Spec, ptxas: Path, nvdisasm: Path, whole: bool
) -> None:
    """So one of them is enough: the one that takes most."""
    variants = spread([v for i in spec.instructions.values() for v in i.variants], 600 if whole else 12)
    kinds = [t.name for t in spec.targets.values() if t.nvcc and (t.kind != "family" or whole)]
    works = evidence.examine(spec, ptxas, variants, kinds if whole else ["sm_100", "sm_100a"])
    for v, by in works.items():
        for target, w in by.items():
            base = spec.targets[target].base or target
            assert by.get(base, w) == w, (v, target)


def test_two_floats_are_one_instruction_here_and_two_there(spec: Spec) -> None:
    v = next(v for v in spec.instructions["fma"].variants if v.spelling == "fma.rn.f32x2")
    found = told(spec)[v]
    assert (found["sm_100a"].count, found["sm_120a"].count) == (1, 2)
    assert found["sm_100a"].text.startswith("FFMA2")


def test_the_file_is_what_is_read_of_it(spec: Spec) -> None:
    assert spec.machine is not None
    assert evidence.as_yaml(spec.machine) == (ROOT / PATH).read_text("utf-8")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("old", "new", "message", "help"),
    [
        ("targets: [sm_75,", "targets: [sm_74,", "unknown target 'sm_74'", "did you mean"),
        ('- "add.f64"', '- "sub.f64"', "'sub.f64' is no notation of add", "begins with add"),
        ("on: sm_80,", "on: sm_81,", "unknown target 'sm_81'", "sm_80"),
        ('- "add.f64"', '- "{add.f64"', "'{add.f64' is no notation of add", "begins with add"),
        ("on: sm_80,", "on: sm_80..sm_75,", "'sm_80..sm_75' names no target", "sm_75 stands before sm_80"),
        ("on: sm_80,", "on: 80,", "'80' is not what belongs here", "as in sm_75..sm_90a"),
        ("count: 1,", "count: one,", "'one' is not what belongs here", "count: one"),
        ("    - operands: 2", "    - operand: 2", "unknown key 'operand'", "'operands'"),
    ],
)
def test_mistakes_in_the_file_are_reported_by_their_place(
    project: Project, old: str, new: str, message: str, help: str
) -> None:
    text = (
        "assembler: ptxas 13.5.37\ndisassembler: nvdisasm 13.5.37\ntargets: [sm_75, sm_80]\nasked: {}\n"
        "opcodes:\n  add:\n"
        '    - operands: 2\n      for:\n        - "add.f64"\n      code:\n'
        '        - {count: 1, on: sm_80, text: "DADD d, a, b"}\n'
    )
    assert text.count(old) == 1
    project.write(PATH, text)
    assert project.run("validate").code == 0
    project.edit(PATH, old, new)
    result = project.run("validate")
    assert result.code == 1 and message in result.err and help in result.err, result.err
    line = text[: text.index(old)].count("\n") + 1
    assert f"{PATH}:{line}:" in result.err


@pytest.mark.exhaustive
def test_without_the_file_pages_leave_the_section_out(project: Project) -> None:
    project.bring(PATH)
    assert project.run("generate").code == 0
    pages = [project.root / "generated/manual" / f"max.{suffix}" for suffix in ("html", "md")]
    assert all("Machine code" in p.read_text("utf-8") for p in pages)
    (project.root / PATH).unlink()
    assert project.run("generate").code == 0
    assert not any("Machine code" in p.read_text("utf-8") for p in pages)


@pytest.mark.exhaustive
def test_evidence_of_another_state_of_an_opcode_says_so(project: Project) -> None:
    project.bring(PATH)
    project.edit("spec/instructions/max.yaml", "ptx: 8.8, target: sm_100", "ptx: 8.7, target: sm_100")
    assert project.run("generate").code == 0
    max, min = ((project.root / f"generated/manual/{name}.html").read_text("utf-8") for name in ("max", "min"))
    said = "The variants or their requirements have changed since this was recorded."
    assert said in max and said not in min


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    return Project(ROOT, capsys).run("machine-code", *arguments)


def test_the_command_tells_one_variant_by_targets(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "add.ftz.rn.f32x2")
    assert result.code == 0 and result.out == (
        "add.rn.ftz.f32x2 (2 operands)\n"
        "  1 instruction on sm_100a, sm_103a, sm_107a\n"
        "    FADD2.* d, a.F32x2.HI_LO, b.F32x2.HI_LO\n"
        "  2 instructions on sm_110a, sm_120a, sm_121a\n"
        "    FADD.* d, a, b\n"
        "    FADD.* d+1, a+1, b+1\n"
        ".* stands for modifiers that depend on the variant\n"
    )
    # The kinds of an architecture have one machine code.
    for target in ("sm_90", "sm_90a", "H100"):
        found = json.loads(run(capsys, "add.f64", "--target", target, "--format", "json").out)
        code = {"count": 1, "beyond": 0, "text": "DADD.* d, a, b"}
        name = "sm_90" if target == "H100" else target
        assert found["variants"] == [{"variant": "add.f64", "operands": 2, "code": {name: code}}]
    result = run(capsys, "add.rn.f32x2", "--target", "sm_90")
    assert result.code == 1 and result.out.startswith("there is no machine code of add.rn.f32x2 for sm_90")
    assert [v["operands"] for v in json.loads(run(capsys, "max.f32", "--format", "json").out)["variants"]] == [2, 3]
    opcode = json.loads(run(capsys, "max", "--operands", "3", "--format", "json").out)["variants"]
    assert opcode and all(v["variant"].startswith("max.") and v["operands"] == 3 for v in opcode)


def test_the_command_tells_what_was_recorded_of_every_variant(spec: Spec, db: Database) -> None:
    known = {str(v): by for v, by in told(spec).items()}
    for v in spread(db.variants, 60):
        by = machine_code.by_target(db, v)
        assert {t: c["text"] for t, c in by.items()} == {t: c.text for t, c in known.get(str(v), {}).items()}


@pytest.mark.exhaustive
def test_the_command_says_what_it_cannot_do(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["add.f46"], "unknown type or modifier '.f46'"),
        (["add.f32", "--target", "sm_70"], "ptxas generates no machine code for sm_70"),
        (["add.f32", "--record"], "--record writes all variants on all targets"),
        (["--target", "sm_90"], "--target requires a VARIANT"),
        (["--operands", "2"], "--operands requires a VARIANT"),
        (["add.f32", "--ptxas", "/nowhere"], "--ptxas checks all variants"),
        (["--ptxas", "/nowhere"], "no file /nowhere"),
    ):
        result = run(capsys, *arguments)
        assert result.code == 2 and message in result.err
    assert project.run("generate").code == 0
    assert "no machine code is recorded" in project.run("machine-code", "max.f32").err


def test_show_tells_what_was_recorded(spec: Spec, db: Database) -> None:
    known = {str(v): by for v, by in told(spec).items()}
    for v in [*spread(db.variants, 40), *(v for v in db.variants if v.opcode in ("abs", "testp", "tanh"))]:
        codes = list(dict.fromkeys(known.get(str(v), {}).values()))
        shown = [line for line in machine_code.lines(db, v) if line.startswith("- machine code on")]
        assert len(shown) == len(codes)
        for line, c in zip(shown, codes, strict=True):
            assert (
                f"{c.targets[0]}" in line
                and f": {c.count} instruction" in line
                and line.endswith(f"`{c.text}`" * bool(c.text))
            )
    one = next(v for v in db.variants if v.spelling == "abs.f64")
    line = "- machine code on sm_75 to sm_121a (ptxas 13.5.37): 1 instruction, `DADD d, -RZ, |a|`"
    assert list(machine_code.lines(db, one)) == [line] and line in show.page(db, ROOT, "abs.f64")


@pytest.mark.exhaustive
def test_recording_holds_afterwards_and_a_change_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ptxas: Path, nvdisasm: Path
) -> None:
    monkeypatch.setattr(evidence, "targets", lambda spec: ["sm_100a"])
    one = Project(copied(tmp_path / "project", ("neg",)), capsys)
    one.bring("spec/tensor", PATH, MATRICES)
    assert one.run("machine-code").code == 1
    written = json.loads(one.run("machine-code", "--record", "--format", "json").out)
    assert written.pop("written") == str(one.root / PATH)
    result = one.run("machine-code", "--format", "json")
    assert result.code == 0 and json.loads(result.out) == {**written, "different": []}
    assert written["schema"] == 1 and written["targets"] == ["sm_100a"] and written["forms"] == 346
    one.edit(MATRICES, "{HMMA.1688.F32: 1}", "{HMMA.1688.F32: 2}")
    assert one.run("machine-code").out.endswith("not as recorded: mma\n")
    one.edit(MATRICES, "{HMMA.1688.F32: 2}", "{HMMA.1688.F32: 1}")
    one.edit(PATH, 'text: "DADD d, -RZ, -a"', 'text: "DADD d, -RZ, a"')
    result = one.run("machine-code")
    about = f"{written['assembler']}: {written['variants']} variants on 1 target, {written['ways']} ways; 346 forms"
    assert result.code == 1 and result.out == f"{about}: not as recorded: neg\n"
    (one.root / PATH).unlink()
    assert "write it with --record" in one.run("machine-code").err


@pytest.mark.exhaustive
def test_an_older_ptxas_is_asked_in_the_newest_version_that_it_knows(
    spec: Spec, ptxas: Path, nvdisasm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def older(ptxas: Path, pairs: list[Pair]) -> dict[Pair, str]:
        return {(t, v): "unknown" for t, v in pairs if spec.versions[v].order > spec.versions["8.8"].order}

    def listed(ptxas: Path, nvdisasm: Path, kernels: list[str], target: str, ptx: str) -> dict[str, list[Listed]]:
        asked.append((target, ptx))
        return kernels_listed(ptxas, nvdisasm, kernels, target, ptx)

    monkeypatch.setattr(evidence, "refused", older)
    monkeypatch.setattr(evidence, "listed", listed)
    v = next(v for v in spec.instructions["abs"].variants if v.spelling == "abs.f64")
    found = evidence.examine(spec, ptxas, [v], ["sm_90"])
    assert asked == [("sm_90", "8.8")] and found[v]["sm_90"].text == "DADD d, -RZ, |a|"
    with pytest.raises(PtxasError, match="does not know sm_107a; --target names one that it knows"):
        evidence.examine(spec, ptxas, [v], ["sm_90", "sm_107a"])
