"""The statements of spec/instructions about variants: requirements, claims and meanings."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.project import copied
from helpers.variants import variant, variants
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
