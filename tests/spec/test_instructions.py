"""The statements of spec/instructions about variants: requirements, claims and meanings."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.project import copied
from helpers.variants import variant, variants
from ptxspec.catalog import Requirement
from ptxspec.check.checking import Checked
from ptxspec.diagnostics import SpecError
from ptxspec.model import Spec
from ptxspec.specification import read

# What PTX 1.0 to 1.3 left out.
MEANS = {
    "div.f32": "div.approx.ftz.f32", "div.f64": "div.rn.f64", "mad.f64": "mad.rn.f64", "rcp.f32": "rcp.approx.ftz.f32",
    "sqrt.f32": "sqrt.approx.ftz.f32", "sqrt.f64": "sqrt.rn.f64", "rsqrt.f32": "rsqrt.approx.ftz.f32",
    "rsqrt.f64": "rsqrt.approx.f64", "sin.f32": "sin.approx.ftz.f32", "cos.f32": "cos.approx.ftz.f32",
    "lg2.f32": "lg2.approx.ftz.f32", "ex2.f32": "ex2.approx.ftz.f32",
}  # fmt: skip


# Requirements: what the manual says, then what the assembler was seen to do.
REQUIRED = [
    ("add.ftz.f32", 2, ("1.0", "sm_10", None), ("1.4", "sm_10", None)),
    ("sub.f64", 2, ("1.0", "sm_13", None), ("1.0", "sm_10", None)),
    ("sub.rp.f64", 2, ("1.0", "sm_13", None), ("1.0", "sm_13", None)),
    ("sub.rm.f32", 2, ("1.0", "sm_20", None), ("1.0", "sm_20", None)),
    ("sub.ftz.f32x2", 2, ("8.6", "sm_100", None), ("8.6", "sm_100", None)),
    ("max.ftz.f32", 2, ("1.0", "sm_10", None), ("1.4", "sm_10", None)),
    ("max.ftz.f32", 3, ("8.8", "sm_100", None), ("8.8", "sm_100", None)),
    ("min.ftz.NaN.f32", 2, ("7.0", "sm_80", None), ("7.0", "sm_80", None)),
    ("min.NaN.xorsign.abs.bf16x2", 2, ("7.2", "sm_86", None), ("7.2", "sm_86", None)),
    ("fma.rz.f64", 3, ("1.4", "sm_13", None), ("1.4", "sm_10", None)),
    ("fma.rn.f32", 3, ("2.0", "sm_20", None), ("2.0", "sm_20", None)),
    ("fma.rn.ftz.relu.f16", 3, ("7.0", "sm_80", None), ("7.0", "sm_80", None)),
    ("fma.rn.oob.relu.bf16x2", 3, ("8.1", "sm_90", None), ("8.1", "sm_90", None)),
    ("fma.rm.relu.bf16", 3, None, ("7.0", "sm_80", None)),
    ("fma.rn.sat.oob.f16x2", 3, None, ("8.1", "sm_90", None)),
    ("mad.f64", 3, ("1.0", "sm_13", "1.3"), ("1.0", "sm_10", "1.3")),
    ("mad.rm.f64", 3, ("1.0", "sm_13", None), ("1.0", "sm_13", None)),
    ("mad.rn.ftz.sat.f32", 3, ("1.0", "sm_20", None), ("1.4", "sm_20", None)),
    ("div.f32", 2, ("1.0", "sm_10", "1.3"), ("1.0", "sm_10", "1.3")),
    ("div.f64", 2, ("1.0", "sm_13", "1.3"), ("1.0", "sm_10", "1.3")),
    ("div.rn.f64", 2, ("1.4", "sm_13", None), ("1.0", "sm_10", None)),
    ("div.rz.f64", 2, ("1.4", "sm_20", None), ("1.4", "sm_20", None)),
    ("div.full.f32", 2, ("1.4", "sm_10", None), ("1.4", "sm_10", None)),
    ("abs.f16", 1, ("6.5", "sm_53", None), ("6.5", "sm_53", None)),
    ("neg.ftz.f16x2", 1, ("6.0", "sm_53", None), ("5.1", "sm_53", None)),
    ("neg.bf16", 1, ("7.0", "sm_80", None), ("7.0", "sm_80", None)),
    ("copysign.f64", 2, ("2.0", "sm_20", None), ("2.0", "sm_20", None)),
    ("testp.normal.f32", 1, ("2.0", "sm_20", None), ("2.0", "sm_20", None)),
    ("rcp.f32", 1, ("1.0", "sm_10", "1.3"), ("1.0", "sm_10", "1.3")),
    ("rcp.approx.f32", 1, ("1.4", "sm_10", None), ("1.4", "sm_10", None)),
    ("rcp.rn.f64", 1, ("1.4", "sm_13", None), ("1.4", "sm_10", None)),
    ("rcp.rm.f64", 1, ("2.0", "sm_20", None), ("2.0", "sm_20", None)),
    ("rcp.approx.ftz.f64", 1, ("2.1", "sm_20", None), ("2.1", "sm_20", None)),
    ("rcp.rn.ftz.f64", 1, None, ("1.4", "sm_10", None)),
    ("sqrt.f64", 1, ("1.0", "sm_13", "1.3"), ("1.0", "sm_10", "1.3")),
    ("sqrt.rn.f64", 1, ("1.4", "sm_13", None), ("1.0", "sm_10", None)),
    ("sqrt.rn.f32", 1, ("2.0", "sm_20", None), ("2.0", "sm_20", None)),
    ("rsqrt.f64", 1, ("1.0", "sm_13", "1.3"), ("1.0", "sm_10", "1.3")),
    ("rsqrt.approx.f64", 1, ("1.4", "sm_13", None), ("1.4", "sm_10", None)),
    ("rsqrt.approx.ftz.f64", 1, ("4.0", "sm_20", None), ("4.0", "sm_20", None)),
    ("lg2.approx.ftz.f32", 1, ("1.4", "sm_10", None), ("1.4", "sm_10", None)),
    ("ex2.approx.ftz.bf16", 1, ("7.8", "sm_90", None), ("7.8", "sm_90", None)),
    ("tanh.approx.f16x2", 1, ("7.0", "sm_75", None), ("7.0", "sm_75", None)),
    ("cvt.rni.s32.f32", 1, ("1.0", "sm_10", None), ("1.0", "sm_10", None)),
    ("cvt.rzi.ftz.u8.f32", 1, ("1.0", "sm_10", None), ("1.4", "sm_10", None)),
    ("cvt.rn.ftz.f32.u8", 1, ("1.0", "sm_10", None), ("1.5", "sm_10", None)),
    ("cvt.ftz.f64.f32", 1, ("1.0", "sm_13", None), ("1.5", "sm_10", None)),
    ("cvt.sat.u8.s16", 1, ("1.0", "sm_10", None), ("1.0", "sm_10", None)),
    ("cvt.rn.bf16.f32", 1, ("7.0", "sm_80", None), ("7.0", "sm_80", None)),
    ("cvt.f32.bf16", 1, ("7.1", "sm_80", None), ("7.1", "sm_80", None)),
    ("cvt.ftz.f32.bf16", 1, ("7.8", "sm_90", None), ("7.8", "sm_90", None)),
    ("cvt.rn.bf16.s32", 1, ("7.8", "sm_90", None), ("7.8", "sm_90", None)),
    ("cvt.rzi.u16.bf16", 1, ("7.8", "sm_90", None), ("7.8", "sm_90", None)),
    ("cvt.rn.satfinite.f16.f32", 1, ("8.1", "sm_10", None), ("8.1", "sm_70", None)),
    ("cvt.rn.relu.satfinite.f16.f32", 1, ("8.1", "sm_80", None), ("8.1", "sm_80", None)),
    ("cvt.rna.satfinite.tf32.f32", 1, ("8.1", "sm_80", None), ("8.1", "sm_80", None)),
    ("cvt.rn.tf32.f32", 1, ("7.8", "sm_90", None), ("7.8", "sm_90", None)),
    ("cvt.rz.satfinite.relu.tf32.f32", 1, ("8.6", "sm_100", None), ("8.6", "sm_100", None)),
    ("cvt.rz.satfinite.bf16x2.f32", 2, ("8.1", "sm_80", None), ("8.1", "sm_80", None)),
]


@pytest.mark.parametrize(("spelling", "operands", "manual", "assembler"), REQUIRED, ids=lambda x: str(x))
def test_requirements(
    spec: Spec, spelling: str, operands: int, manual: tuple[str, str, str | None] | None, assembler: tuple[str, ...]
) -> None:
    v = variant(spec, spelling, operands)
    assert v.manual == (Requirement(*manual) if manual else None)
    assert v.requires == Requirement(*assembler)


def test_mad_without_rounding_ends_on_newer_targets(spec: Spec) -> None:
    found = {v.spelling for v in variants(spec) if any(w.until for w in v.requires.within)}
    assert found == {"mad.f32", "mad.ftz.f32", "mad.sat.f32", "mad.ftz.sat.f32"}
    for spelling in found:
        (limit,) = variant(spec, spelling).requires.within
        assert (limit.first, limit.last, limit.ptx, limit.until) == ("sm_20", "sm_121f", None, "3.1")


# Claims and meanings


def test_claims(spec: Spec) -> None:
    without_bound = {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.f64"}
    # What random bits do, and what becomes of a number below the smallest fixed-point one, nobody outside has judged.
    open_ = {v.spelling for v in variants(spec) if "rs" in v.modifiers or v.result.type.name == "s2f6x2"}
    assert len(open_) == 18 + 16
    # Where the manual converts b, how often is rounded is our reading.
    open_ |= {"mul.bf16x2.bf16x2.f16x2", "mul.f16x2.f16x2.bf16x2"}
    for v in variants(spec):
        full = MEANS.get(v.spelling, v.spelling)
        if not v.listed or v.spelling in without_bound:
            assert v.claim == "unspecified", v
        elif ".approx" in full or ".full" in full:
            assert v.claim == "bounded", v
        else:
            assert v.claim == ("unjudged" if v.spelling in open_ else "exact"), v


def test_spellings_of_ptx_1(spec: Spec, checked: dict[str, Checked]) -> None:
    assert {v.spelling for v in variants(spec) if v.means} == set(MEANS)
    for short, long in MEANS.items():
        one, other = variant(spec, short), variant(spec, long)
        assert one.requires.until == "1.3"
        assert {*one.modifiers, *one.means} == set(other.modifiers)
        programs = checked[one.opcode].programs
        assert programs[one][None] == programs[other][None]
        # Whatever the target changes, it changes for both, where both are.
        for target in {t for t in (*programs[one], *programs[other]) if t and spec.catalog.takes(one.requires, t)}:
            default = programs[one][None]
            assert programs[one].get(target, default) == programs[other].get(target, default)


@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        (".approx.rn", "'sin.f32' with .approx.rn is no spelling of sin"),
        ("{.approx}.ftz", "'sin.f32' with {.approx}.ftz is no spelling of sin"),
        (".f32", "'sin.f32' with .f32 is no spelling of sin"),
        (".aprox", "unknown modifier or type '.aprox'"),
    ],
)
def test_a_meaning_is_a_spelling(tmp_path: Path, modifiers: str, message: str) -> None:
    root = copied(tmp_path / "project", ("sin",))
    file = root / "spec" / "instructions" / "sin.yaml"
    text = file.read_text()
    assert "modifiers: .approx.ftz," in text
    file.write_text(text.replace("modifiers: .approx.ftz,", f'modifiers: "{modifiers}",'))
    with pytest.raises(SpecError) as e:
        read(root)
    assert [d.message for d in e.value.diagnostics] == [message]
    assert e.value.diagnostics[0].path.endswith("sin.yaml")
