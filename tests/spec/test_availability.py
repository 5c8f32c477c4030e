"""The availability of each variant that the specification states, checked against a real ptxas."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.project import Project
from helpers.sizes import each_size
from ptxspec.model import Spec
from ptxspec.proving.ptxas import verify

_ASKING = "codegen/ptxspec/proving/ptxas"
of_all = pytest.mark.inputs("requirements", _ASKING)


def some(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> Spec:
    """At most 400 variants, on 16 pairs of a target and a PTX version."""
    r, every = random.Random(4), verify.pairs(spec)
    monkeypatch.setattr(verify, "pairs", lambda spec: r.sample(every, 16))
    count = sum(len(i.variants) for i in spec.instructions.values())
    parts = [
        replace(i, variants=tuple(r.sample(i.variants, -(-len(i.variants) * min(count, 400) // count))))
        for i in spec.instructions.values()
    ]
    return replace(spec, instructions={i.opcode: i for i in parts})


def test_ptxas_takes_variants_where_the_specification_says(
    spec: Spec, ptxas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verify.variants(some(spec, monkeypatch), ptxas) == []


def of_each_opcode() -> list[Any]:
    """The opcodes; what is asked of one depends on its own file alone."""
    opcodes = sorted(p.stem for p in (ROOT / "spec/instructions").glob("*.yaml"))
    folder = "generated/python/ptxemu/opcodes"
    return [pytest.param(o, marks=pytest.mark.inputs(f"{folder}/{o}.py", _ASKING)) for o in opcodes]


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", of_each_opcode())
def test_ptxas_takes_what_the_specification_says_and_nothing_else(opcode: str, spec: Spec, ptxas: Path) -> None:
    result = verify.verify(replace(spec, instructions={opcode: spec.instructions[opcode]}), ptxas)
    assert not result.disagreements, "\n".join(map(str, result.disagreements[:40]))
    assert result.spellings


def test_combinations_are_judged_on_each_kind_of_target_and_where_something_ended(spec: Spec) -> None:
    found = verify.eras(spec)
    newest = spec.catalog.newest_version
    assert {spec.targets[t].kind for t, v in found if v == newest} == {"", "architecture", "family"}
    assert ("sm_13", "1.3") in found
    requirements = {v.requires for i in spec.instructions.values() for v in i.variants}
    missed = [r for r in requirements if not any(spec.catalog.takes(r, *pair) for pair in found)]
    assert missed == []


@of_all
@pytest.mark.exhaustive
def test_a_wrong_requirement_is_found(project: Project, ptxas: Path) -> None:
    for path in (project.root / "spec/instructions").iterdir():
        if path.stem != "add":
            path.unlink()
    project.edit("spec/instructions/add.yaml", "ptx: 7.8, target: sm_90", "ptx: 8.0, target: sm_90")
    project.edit("spec/instructions/add.yaml", "{.sat}.{f16,f16x2}", "{.sat}.f16x2")
    result = project.run("verify", "--record")
    assert result.code == 1
    assert "add.bf16 with 2 operands on sm_90, PTX 7.8: ptxas accepts it" in result.out
    assert "add.ftz.sat.f16 with 2 operands on sm_121f, PTX 9.5: ptxas accepts it" in result.out
    assert "unexplained differences" in result.out


def test_the_evidence_is_what_was_seen_here(spec: Spec) -> None:
    assert spec.evidence is not None
    every = [v for i in spec.instructions.values() for v in i.variants]
    assert spec.evidence.variants == len(every)
    assert spec.evidence.asked == {opcode: spec.asked(opcode) for opcode in spec.instructions}
    assert spec.evidence.pairs == len(verify.pairs(spec))
    listed = [v for i in spec.instructions.values() for v in (*i.variants, *i.refused)]
    differing = [(v.spelling, v.operands) for v in listed if v.manual != v.requires]
    assert [(e.variant, e.operands) for e in spec.evidence.differences] == differing
    e = spec.evidence
    written = verify.as_yaml(spec, verify.Result(e.assembler, e.pairs, e.variants, e.spellings, ()))
    assert written == (ROOT / "spec/observed/evidence.yaml").read_text("utf-8")


def test_the_words_of_a_requirement_are_those_of_no_other(spec: Spec) -> None:
    """Each requirement has words of its own, by which generated files refer to it."""
    every = {v.requires for i in spec.instructions.values() for v in i.variants}
    every |= {i.requires for found in spec.instead.values() for i in found}
    assert len({spec.catalog.text(r) for r in every}) == len(every) > 1


@of_all
@each_size
def test_what_is_said_to_be_refused_must_be_refused_everywhere(
    project: Project, ptxas: Path, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not whole:
        monkeypatch.setattr(verify, "pairs", lambda spec: [("sm_10", "1.0"), ("sm_121f", "9.5")])
        monkeypatch.setattr(verify, "eras", lambda spec, on: [])
    for path in (project.root / "spec/instructions").iterdir():
        if path.stem != "min":
            path.unlink()
    project.edit("spec/instructions/min.yaml", "assembler:\n", "assembler:\n  refuses: min.f64\n")
    project.edit("spec/instructions/min.yaml", "    - {for: .f64, target: sm_10}\n", "")
    result = project.run("verify")
    assert result.code == 1
    assert "min.f64 with 2 operands on sm_10, PTX 1.0: ptxas accepts it" in result.out


def test_without_ptxas_verify_says_what_to_do(project: Project) -> None:
    result = project.run("verify", "--ptxas", "nowhere")
    assert result.code == 2
    assert "no file nowhere; install it with `pip install nvidia-cuda-nvcc`" in result.err
