"""The machine code that spec/observed/ has of every form of mma: all of them are there, ptxas makes it anew, and it is
what spec/tensor says that targets sum."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import Project, Result
from helpers.sizes import each_size, spread
from ptxspec.matrices.forms import Form
from ptxspec.matrices.rows import Row, row_of
from ptxspec.model import Spec
from ptxspec.model.tensor import FormOperand, MatrixCode, MatrixEvidence
from ptxspec.proving.machine import evidence, matrices

pytestmark = pytest.mark.inputs(
    "spec/observed/matrix_code.yaml", "spec/tensor", "codegen/ptxspec/proving/machine", "codegen/ptxspec/proving/ptxas"
)

PATH = matrices.PATH


def recorded(spec: Spec) -> MatrixEvidence:
    assert spec.tensor.machine
    return spec.tensor.machine


def by_target(codes: tuple[MatrixCode, ...]) -> dict[str, MatrixCode]:
    return {t: c for c in codes for t in c.targets}


def test_every_form_is_told_of_on_every_target_that_takes_it(spec: Spec) -> None:
    every, found = evidence.targets(spec), recorded(spec)
    assert list(found.targets) == every and found.codes.keys() == {f.spelling for f in spec.tensor.forms}
    assert spec.machine and found.assembler == spec.machine.assembler == spec.tensor.observed
    for f in spec.tensor.forms:
        taken = {t for t in every if spec.catalog.takes(f.requires, t)}
        assert sorted(by_target(found.codes[f.spelling])) == sorted(taken), f
        assert sum(len(c.targets) for c in found.codes[f.spelling]) == len(taken)


def test_the_file_is_what_is_read_of_it_and_stays_small(spec: Spec) -> None:
    text = (ROOT / PATH).read_text("utf-8")
    assert matrices.as_yaml(recorded(spec), spec.tensor.forms) == text and len(text) < 40_000


@pytest.mark.sampled(0)
@each_size
def test_ptxas_makes_the_recorded_machine_code_anew(spec: Spec, ptxas: Path, nvdisasm: Path, whole: bool) -> None:
    forms, known = spec.tensor.forms, recorded(spec).codes
    if whole:
        assert matrices.examine(spec, ptxas, evidence.targets(spec), forms) == known
        return
    on = ["sm_90a", "sm_120a"]
    found = matrices.examine(spec, ptxas, on, some := spread(forms, 24))
    for f in some:
        own = by_target(found[f.spelling])
        assert {t: told(c) for t, c in own.items()} == {
            t: told(c) for t, c in by_target(known[f.spelling]).items() if t in on
        }


def told(c: MatrixCode) -> tuple[list[tuple[str, int]], int]:
    return [*c.instructions.items()], c.others


@pytest.mark.exhaustive
def test_the_kinds_of_an_architecture_have_one_machine_code(spec: Spec, ptxas: Path, nvdisasm: Path) -> None:
    """So one of them is enough: the one that takes most."""
    kinds, known = [t.name for t in spec.targets.values() if t.nvcc], recorded(spec).codes
    one = {spec.targets[t].base or t: t for t in evidence.targets(spec)}
    for spelling, codes in matrices.examine(spec, ptxas, kinds).items():
        of = by_target(known[spelling])
        for t, c in by_target(codes).items():
            assert told(c) == told(of[one[spec.targets[t].base or t]]), (spelling, t)


# What targets sum


def summing(spec: Spec) -> Iterator[tuple[Form, str, Row | None, MatrixCode]]:
    """Each form with an architecture, what is said of its sums there, and its machine code."""
    for f in spec.tensor.forms:
        for t, c in by_target(recorded(spec).codes[f.spelling]).items():
            yield f, t, row_of(f, spec.targets[t].base or t, spec.tensor.rows), c


def on_matrices(c: MatrixCode) -> set[str]:
    """The first names of the instructions that multiply matrices."""
    return {name.partition(".")[0] for name in c.instructions if name.partition(".")[0].endswith("MMA")}


def test_one_step_is_an_instruction_on_matrices_or_a_chain_of_its_parts(spec: Spec) -> None:
    """Of floats nothing else is done: no conversion, and no addition."""
    steps = [(f, t, c) for f, t, row, c in summing(spec) if row and row.bytes]
    for f, t, c in steps:
        (name,) = on_matrices(c)
        assert name in ("HMMA", "QMMA", "OMMA") and c.others == 0, (f, t)
        parts = [n for n in c.instructions if "STEP" in n]
        assert sum(c.instructions.values()) == max(1, len(parts)), (f, t)
        assert len(parts) == len(c.instructions) or not parts
    assert len(steps) > 400


def test_halves_are_two_sums_of_the_type_they_are_converted_to_and_additions(spec: Spec) -> None:
    halves = [(f, t, row, c) for f, t, row, c in summing(spec) if row and row.halves]
    for f, t, row, c in halves:
        m, n, k = f.size
        result = f.types[0].upper()
        sums, adds = f"HMMA.{m}{n}{k // 2}.{result}", {"F32": "FADD", "F16": "HADD2"}[result]
        # A conversion has two elements of A or B, and an addition as many of D as a register has.
        converted = (f.registers[1] + f.registers[2]) * 2
        expected = {"F2FP.F16": converted, sums: 2, adds: f.registers[0]}
        assert row.halves == "f16" and c.instructions == expected and c.others == 0, (f, t)
    assert {spec.targets[t].base or t for _, t, _, _ in halves} == {"sm_90", "sm_100", "sm_103", "sm_110"}


def test_chains_are_of_doubles_and_integers_are_integers(spec: Spec) -> None:
    kinds = set()
    for f, t, row, c in summing(spec):
        if row and row.chain:
            assert on_matrices(c) == {"DMMA"} and c.others == 0 and f.types[0] == "f64", (f, t)
        if row and row.exact:
            # Nothing is summed as floats.
            (name,) = on_matrices(c)
            kinds.add(name)
            assert {n.partition(".")[0] for n in c.instructions} == {name} and f.types[0] == "s32", (f, t)
    assert kinds == {"IMMA", "BMMA"}


def test_what_computes_nothing_has_no_instruction(spec: Spec) -> None:
    nothing = [(f, c) for f, _, _, c in summing(spec) if not f.computes]
    assert nothing and all((c.instructions, c.others) == ({}, 0) for _, c in nothing)
    assert all(c.instructions for f, _, _, c in summing(spec) if f.computes)


# Reading


@pytest.mark.parametrize(
    ("old", "new", "message", "help"),
    [
        ("targets: [sm_75,", "targets: [sm_74,", "unknown target 'sm_74'", "did you mean"),
        ("sm_80: {HMMA", "sm_81: {HMMA", "unknown target 'sm_81'", "sm_80"),
        ("sm_80: {HMMA", "sm_80..sm_75: {HMMA", "'sm_80..sm_75' names no target", "sm_75 stands before sm_80"),
        ("sm_80: {HMMA", "80: {HMMA", "'80' cannot be a name here", "as in sm_75..sm_90a"),
        ("HMMA.1688.F32: 1", "HMMA.1688.F32: one", "'one' is not what belongs here", "as in 4"),
        ("HMMA.1688.F32: 1", "hmma: 1", "'hmma' cannot be a name here", "HMMA.16816.F32, or others"),
        ("for: [", "four: [", "unknown key 'four'", "'for'"),
        ("row.col.f32", "row.{col.f32", "a spelling is made of .name, .{one,of}", ""),
    ],
)
def test_mistakes_in_the_file_are_reported_by_their_place(
    project: Project, old: str, new: str, message: str, help: str
) -> None:
    text = (
        "assembler: ptxas 13.5.37\ndisassembler: nvdisasm 13.5.37\ntargets: [sm_75, sm_80]\nforms:\n"
        '  - for: ["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]\n    code:\n      sm_80: {HMMA.1688.F32: 1}\n'
    )
    assert text.count(old) == 1
    project.write(PATH, text)
    assert project.run("validate").code == 0
    project.edit(PATH, old, new)
    result = project.run("validate")
    assert result.code == 1 and message in result.err and help in result.err, result.err
    assert f"{PATH}:" in result.err and "Traceback" not in result.err


# Kernels


def test_a_kernel_loads_the_registers_of_a_form_and_stores_those_of_d() -> None:
    d, a = FormOperand("d", "f32", 2, vector=True), FormOperand("a", "b32", 1, vector=True)
    text = matrices.kernel("k", "made.up", (d, a, FormOperand("selector", constants=(0,))))
    assert "made.up {%f32_0, %f32_1}, {%b32_2}, 0;" in text
    assert [line.partition(" ")[0] for line in text.splitlines() if "volatile" in line] == [
        "ld.volatile.global.b32", "st.volatile.global.f32", "st.volatile.global.f32",
    ]  # fmt: skip


def test_what_computes_is_told_by_name_and_of_others_how_many_there_are() -> None:
    code = [
        {"opcode": "MOV", "operands": "R1,c[0x0][0x28]"},
        {"opcode": "LDG.E", "operands": "R4,[R2.64]"},
        {"opcode": "F2FP.F16.E4M3.UNPACK_B", "operands": "R5,R4"},
        {"opcode": "HMMA.16816.F32", "operands": "R8,R4,R6,R8"},
        {"opcode": "HMMA.16816.F32", "operands": "R8,R4,R6,R8"},
        # A constant, a move, and what never runs.
        {"opcode": "HFMA2", "operands": "R9,-RZ,RZ,0,5.9e-08"},
        {"opcode": "IMAD.MOV.U32", "operands": "R9,RZ,RZ,R8"},
        {"opcode": "UIADD3", "operands": "URZ,URZ,URZ,URZ", "predicate": "@!UPT"},
        {"opcode": "STG.E", "operands": "[R2.64],R8"},
        {"opcode": "EXIT"},
        {"opcode": "FADD", "operands": "R8,R8,R9"},
        {"opcode": "BRA", "operands": hex(16 * 11)},
    ]
    assert matrices.computed(code) == ({"F2FP.F16": 1, "HMMA.16816.F32": 2, "FADD": 1}, 2)


# The page


def test_the_page_tells_of_each_class_what_is_recorded(spec: Spec) -> None:
    page = (ROOT / "generated/manual/tensor-cores.md").read_text("utf-8")
    section = page.partition("\n## Machine code\n")[2].partition("\n## ")[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    groups = [text.split(", ") for text in head[3:]]
    plain = [spec.targets[t].base or t for t in recorded(spec).targets]
    assert [t for group in groups for t in group] == plain and len(rows) > 40
    known: dict[tuple[str, str, str], set[str]] = {}
    for f in spec.tensor.forms:
        d, a, b, _ = f.types
        for t, c in by_target(recorded(spec).codes[f.spelling]).items():
            text = ", ".join(f"{n} {name}" if n > 1 else name for name, n in c.instructions.items())
            text += " and others" if c.others else ""
            alike = {text, text.replace(f".{a}.{b}".upper(), ".a.b")} if a == b else set()
            known.setdefault((a, d, spec.targets[t].base or t), set()).update(alike)
    told = 0
    for _, inputs, result, *codes in ([cell.strip() for cell in row] for row in rows):
        for group, code in zip(groups, codes, strict=False):
            told += code != "–"
            assert code == "–" or all(code in known[a, result, t] for a in inputs.split(", ") for t in group), (
                inputs,
                code,
            )
    assert told > 150


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    return Project(ROOT, capsys).run("machine-code", *arguments)


def test_the_command_tells_a_form_by_targets(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, "m16n8k32.f32.e4m3")
    assert result.code == 0 and result.out == (
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32\n"
        "  QMMA.16832.F32.E4M3.E4M3 on sm_89, sm_120, sm_121\n"
        "  12 F2FP.F16, 2 HMMA.16816.F32, 4 FADD on sm_90, sm_100, sm_103, sm_107, sm_110\n"
    )
    # The kinds of an architecture have one machine code.
    for target in ("sm_100", "sm_100f", "B200"):
        found = json.loads(run(capsys, "m16n8k32.f16.e5m2", "--target", target, "--format", "json").out)
        one = {"instructions": {"F2FP.F16": 12, "HMMA.16816.F16": 2, "HADD2": 2}, "others": 0}
        assert found["machine"] == [{"targets": ["sm_100"], **one}] and found["assembler"] == "ptxas 13.5.37"
    result = run(capsys, "m16n8k32.f32.e4m3", "--target", "sm_80")
    assert result.code == 1 and result.out.endswith("f32 for sm_80; `ptxspec query` says why\n")
    assert run(capsys, "m8n8k4.f32.bf16", "--target", "sm_90").out.endswith("\n  nothing on sm_90\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m16n8k17.f32.f16",), "'m16n8k17.f32.f16' is no form of mma"),
        (("m16n8k16.f32.f16", "--operands", "3"), "--operands applies to variants only"),
        (("m16n8k16.f32.f16", "--target", "sm_81"), "unknown target"),
    ],
)
def test_the_command_says_what_it_cannot_do(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    result = run(capsys, *arguments)
    assert result.code == 2 and message in result.err
