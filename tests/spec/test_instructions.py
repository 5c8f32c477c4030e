"""What the files under spec/instructions/ say, held against lists and results that were worked out without them."""

from __future__ import annotations

import itertools
import math
import random
import shutil
import struct
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.check.checking import Checked, check
from ptxspec.diagnostics import SpecError
from ptxspec.model import Requirement, Spec, Variant
from ptxspec.read.link import read
from ptxspec.semantics.exact.evaluate import run

# The manual's syntax in another notation than the files': a word is needed, word? may be missing, x|y is a choice.
RND = "rn|rz|rm|rp"
MANUAL = {
    "testp": ["finite|infinite|number|notanumber|normal|subnormal f32|f64 /1"],
    "copysign": ["f32|f64 /2"],
    **{
        op: [
            f"{RND}|- ftz? sat? f32 /2",
            f"{RND}|- ftz? f32x2 /2",
            f"{RND}|- f64 /2",
            "rn? ftz? sat? f16|f16x2 /2",
            "rn? bf16|bf16x2 /2",
        ]
        for op in ("add", "sub", "mul")
    },
    "fma": [
        f"{RND} ftz? sat? f32 /3",
        f"{RND} ftz? f32x2 /3",
        f"{RND} f64 /3",
        "rn ftz? sat? f16|f16x2 /3",
        "rn ftz? relu f16|f16x2 /3",
        "rn relu? bf16|bf16x2 /3",
        "rn oob relu? f16|f16x2|bf16|bf16x2 /3",
    ],
    "mad": [f"{RND}|- ftz? sat? f32 /3", f"{RND}|- f64 /3"],
    "div": ["approx|full ftz? f32 /2", f"{RND} ftz? f32 /2", f"{RND} f64 /2", "f32|f64 /2"],
    **{op: ["ftz? f32 /1", "f64 /1", "ftz? f16|f16x2 /1", "bf16|bf16x2 /1"] for op in ("abs", "neg")},
    **{
        op: [
            "ftz? NaN? f32 /2",
            "ftz? NaN? xorsign abs f32 /2",
            "ftz? NaN? abs? f32 /3",
            "f64 /2",
            "ftz? NaN? f16|f16x2 /2",
            "ftz? NaN? xorsign abs f16|f16x2 /2",
            "NaN? bf16|bf16x2 /2",
            "NaN? xorsign abs bf16|bf16x2 /2",
        ]
        for op in ("min", "max")
    },
    "rcp": ["approx ftz? f32 /1", f"{RND} ftz? f32 /1", f"{RND} f64 /1", "approx ftz f64 /1", "f32|f64 /1"],
    "sqrt": ["approx ftz? f32 /1", f"{RND} ftz? f32 /1", f"{RND} f64 /1", "f32|f64 /1"],
    "rsqrt": ["approx ftz? f32|f64 /1", "f32|f64 /1"],
    **{op: ["approx ftz? f32 /1", "f32 /1"] for op in ("sin", "cos", "lg2")},
    "ex2": ["approx ftz? f32 /1", "approx f16|f16x2 /1", "approx ftz bf16|bf16x2 /1", "f32 /1"],
    "tanh": ["approx f32|f16|f16x2|bf16|bf16x2 /1"],
}
ASSEMBLER_ONLY = {
    "fma": ["rz|rm|rp oob? relu? bf16|bf16x2 /3", "rn sat oob f16|f16x2 /3"],
    "rcp": [f"{RND} ftz f64 /1"],
}
# What the manual lists and ptxas takes nowhere.
REFUSED = {"rcp.f64": (1, Requirement("1.0", "sm_13", "1.3"), "rcp.rn.f64")}
COUNTS = {
    "abs": 9, "add": 55, "copysign": 2, "cos": 3, "div": 18, "ex2": 7, "fma": 78, "lg2": 3, "mad": 25, "max": 41,
    "min": 41, "mul": 55, "neg": 9, "rcp": 20, "rsqrt": 6, "sin": 3, "sqrt": 16, "sub": 55, "tanh": 5, "testp": 12,
}  # fmt: skip
# What PTX 1.0 to 1.3 left out.
MEANS = {
    "div.f32": "div.approx.ftz.f32", "div.f64": "div.rn.f64", "mad.f64": "mad.rn.f64", "rcp.f32": "rcp.approx.ftz.f32",
    "sqrt.f32": "sqrt.approx.ftz.f32", "sqrt.f64": "sqrt.rn.f64", "rsqrt.f32": "rsqrt.approx.ftz.f32",
    "rsqrt.f64": "rsqrt.approx.f64", "sin.f32": "sin.approx.ftz.f32", "cos.f32": "cos.approx.ftz.f32",
    "lg2.f32": "lg2.approx.ftz.f32", "ex2.f32": "ex2.approx.ftz.f32",
}  # fmt: skip


def written_out(opcode: str, lines: list[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        *words, operands = line.split()
        choices = [[w[:-1], ""] if w.endswith("?") else w.replace("-", "").split("|") for w in words]
        for names in itertools.product(*choices):
            yield ".".join([opcode, *filter(None, names)]), int(operands[1:])


@pytest.fixture(scope="module")
def checked(spec: Spec) -> dict[str, Checked]:
    found, errors = check(spec)
    assert not errors, "\n".join(map(str, errors))
    return {c.instruction.opcode: c for c in found}


def variants(spec: Spec) -> list[Variant]:
    return [v for i in spec.instructions.values() for v in i.variants]


def refused(spec: Spec) -> list[Variant]:
    return [v for i in spec.instructions.values() for v in i.refused]


def variant(spec: Spec, spelling: str, operands: int | None = None) -> Variant:
    (found,) = (v for v in variants(spec) if v.spelling == spelling and operands in (None, v.operands))
    return found


# Spellings


def test_spellings_that_the_manual_lists(spec: Spec) -> None:
    listed = {(v.spelling, v.operands) for v in [*variants(spec), *refused(spec)] if v.listed}
    assert listed == {v for op, lines in MANUAL.items() for v in written_out(op, lines)}


def test_spellings_that_only_the_assembler_takes(spec: Spec) -> None:
    found = {(v.spelling, v.operands) for v in variants(spec) if not v.listed}
    assert found == {v for op, lines in ASSEMBLER_ONLY.items() for v in written_out(op, lines)}
    for v in variants(spec):
        assert v.listed == (v.manual is not None)
        if not v.listed:
            notes = [n for n in spec.instructions[v.opcode].notes if n.selector.matches(v)]
            assert any("ndocumented" in n.text for n in notes), f"no note on {v}"


def test_spellings_that_no_assembler_takes(spec: Spec) -> None:
    found = {}
    for v in refused(spec):
        longer = spec.instructions[v.opcode].stands_for(v)
        found[v.spelling] = (v.operands, v.manual, longer.spelling if longer else "")
        assert v not in variants(spec)
    assert found == REFUSED


def test_counts(spec: Spec) -> None:
    assert Counter(v.opcode for v in variants(spec)) == COUNTS
    assert len(variants(spec)) == 463
    assert len({(v.opcode, v.names) for v in variants(spec)}) == 455
    assert sum(not v.listed for v in variants(spec)) == 30
    newest, latest = spec.targets["sm_121a"].order, spec.versions["9.5"].order
    current = [
        v
        for v in variants(spec)
        if spec.targets[v.requires.target].order <= newest
        and spec.versions[v.requires.ptx].order <= latest
        and v.requires.until is None
        and not any(m.until for m in v.requires.within if spec.targets[m.last].order >= newest)
    ]
    assert len(current) == 447


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
]


@pytest.mark.parametrize(("spelling", "operands", "manual", "assembler"), REQUIRED, ids=lambda x: str(x))
def test_requirements(
    spec: Spec, spelling: str, operands: int, manual: tuple[str, str, str | None] | None, assembler: tuple[str, ...]
) -> None:
    v = variant(spec, spelling, operands)
    assert v.manual == (Requirement(*manual) if manual else None)
    assert v.requires == Requirement(*assembler)


def test_mad_without_rounding_ends_on_newer_targets(spec: Spec) -> None:
    found = {v.spelling for v in variants(spec) if v.requires.within}
    assert found == {"mad.f32", "mad.ftz.f32", "mad.sat.f32", "mad.ftz.sat.f32"}
    for spelling in found:
        (limit,) = variant(spec, spelling).requires.within
        assert (limit.first, limit.last, limit.ptx, limit.until) == ("sm_20", "sm_121f", None, "3.1")


# Claims and meanings


def test_claims(spec: Spec) -> None:
    without_bound = {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.f64"}
    for v in variants(spec):
        full = MEANS.get(v.spelling, v.spelling)
        if not v.listed or v.spelling in without_bound:
            assert v.claim == "unspecified", v
        elif ".approx" in full or ".full" in full:
            assert v.claim == "bounded", v
        else:
            assert v.claim == "exact", v


def test_spellings_of_ptx_1(spec: Spec, checked: dict[str, Checked]) -> None:
    assert {v.spelling for v in variants(spec) if v.means} == set(MEANS)
    for short, long in MEANS.items():
        one, other = variant(spec, short), variant(spec, long)
        assert one.requires.until == "1.3"
        assert {*one.modifiers, *one.means} == set(other.modifiers)
        programs = checked[one.opcode].programs
        assert programs[one][None] == programs[other][None]
        # Whatever the target changes, it changes for both.
        for target in {*programs[one], *programs[other]}:
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
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    file = tmp_path / "spec" / "instructions" / "sin.yaml"
    text = file.read_text()
    assert "modifiers: .approx.ftz," in text
    file.write_text(text.replace("modifiers: .approx.ftz,", f'modifiers: "{modifiers}",'))
    with pytest.raises(SpecError) as e:
        read(tmp_path)
    assert [d.message for d in e.value.diagnostics] == [message]
    assert e.value.diagnostics[0].path.endswith("sin.yaml")


# Results, by hand


def f32(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def f64(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


INF32, NAN32 = 0x7F800000, 0x7FFFFFFF
SIGN32, SIGN64 = 1 << 31, 1 << 63
MIN32, MAX32, TINY32 = 0x00800000, 0x7F7FFFFF, 0x00000001
NAN64 = 0x7FFFFFFF00000000

# spelling, target, operands, result
RESULTS = [
    ("sub.rn.f32", None, (f32(1.0), f32(2.0**-25)), f32(1.0)),
    ("sub.rz.f32", None, (f32(1.0), f32(2.0**-25)), 0x3F7FFFFF),
    ("sub.rp.f64", None, (f64(1.0), f64(2.0**-60)), f64(1.0)),
    ("sub.f16", None, (0x3C00, 0x3C01), 0x9400),  # 1 - (1 + 2^-10) = -2^-10
    ("sub.bf16", None, (0x3F80, 0x3F81), 0xBC00),  # 1 - (1 + 2^-7) = -2^-7
    ("sub.ftz.f32", None, (MIN32 + 1, MIN32), 0),
    ("sub.f32", "sm_13", (MIN32 + 1, MIN32), 0),
    ("sub.f32", "sm_20", (MIN32 + 1, MIN32), TINY32),
    ("fma.rn.f32", None, (0x3F800001, 0x3F7FFFFE, f32(-1.0)), f32(-(2.0**-46))),
    ("fma.rz.f32", None, (MAX32, f32(2.0), 0), MAX32),
    ("fma.rp.f32", None, (TINY32, TINY32, 0), TINY32),
    ("fma.rm.f32", None, (SIGN32 | TINY32, TINY32, 0), SIGN32 | TINY32),
    ("fma.rn.ftz.f32", None, (MIN32, f32(0.5), SIGN32), 0),
    ("fma.rn.f64", None, (f64(1e308), f64(10.0), f64(-1e308)), f64(math.inf)),
    ("fma.rn.relu.f16", None, (0xBC00, 0x3C00, 0x3800), 0x0000),
    ("fma.rn.relu.bf16", None, (0xFFC1, 0x3F80, 0x3F80), 0x7FFF),
    ("fma.rn.oob.f16", None, (0x3C00, 0x7FFF, 0x3C00), 0x0000),
    ("fma.rn.oob.bf16", None, (0x3F80, 0x7FC0, 0x3F80), 0x7FFF),
    ("fma.rn.sat.oob.f16", None, (0x4000, 0x4000, 0x3C00), 0x3C00),
    ("fma.rz.bf16", None, (0x3F81, 0x3F81, 0x0000), 0x3F82),  # 1 + 2^-6 + 2^-14
    ("fma.rp.bf16x2", None, (0x3F81, 0x3F81, 0x0000), 0x3F83),
    ("mad.rn.f32", None, (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22 + 2.0**-46)),
    ("mad.f32", None, (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22)),
    ("mad.f32", "sm_13", (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22)),
    ("mad.f32", "sm_20", (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22 + 2.0**-46)),
    ("mad.f32", "sm_13", (TINY32, MAX32, SIGN32), 0),
    ("mad.f32", "sm_20", (TINY32, f32(1.0), 0), TINY32),
    ("mad.sat.f32", "sm_13", (f32(3.0), f32(1.0), f32(0.5)), f32(1.0)),
    ("mad.f64", None, (f64(1.0 + 2.0**-52), f64(1.0 - 2.0**-52), f64(-1.0)), f64(-(2.0**-104))),
    ("div.rn.f32", None, (f32(1.0), f32(3.0)), 0x3EAAAAAB),
    ("div.rm.f32", None, (f32(1.0), f32(3.0)), 0x3EAAAAAA),
    ("div.rp.f64", None, (f64(1.0), f64(3.0)), f64(1 / 3) + 1),
    ("div.rn.f64", None, (f64(2.0), f64(7.0)), f64(2.0 / 7.0)),
    ("div.approx.f32", None, (f32(-3.0), MAX32), SIGN32),
    ("div.approx.f32", None, (INF32, MAX32), NAN32),
    ("div.approx.f32", None, (0x7FC00000, MAX32), NAN32),
    ("div.approx.f32", None, (f32(2.0**126), f32(2.0**126)), f32(1.0)),
    ("div.full.f32", None, (f32(2.0**127), f32(2.0**127)), f32(1.0)),
    ("div.full.f32", None, (INF32, MAX32), INF32),
    ("div.f32", None, (MIN32, f32(2.0)), 0),
    ("div.f32", None, (f32(1.0), SIGN32 | TINY32), SIGN32 | INF32),
    ("div.approx.f32", "sm_10", (MIN32, f32(2.0)), 0),
    ("abs.f32", None, (0xFF800001,), NAN32),
    ("abs.f64", None, (0xFFF0000000000001,), 0x7FF0000000000001),
    ("abs.bf16", None, (0xFF81,), 0x7FFF),
    ("abs.ftz.f16", None, (0x83FF,), 0x0000),
    ("abs.f32", "sm_12", (SIGN32 | TINY32,), 0),
    ("neg.f32", None, (0x7F800001,), NAN32),
    ("neg.f64", None, (0x7FF0000000000001,), 0xFFF0000000000001),
    ("neg.f16", None, (0x0001,), 0x8001),
    ("neg.ftz.f16", None, (0x0001,), 0x8000),
    ("copysign.f32", None, (f32(-2.0), f32(3.0)), f32(-3.0)),
    ("copysign.f64", None, (f64(1.0), 0xFFF0000000000001), 0x7FF0000000000001),
    ("testp.normal.f32", None, (SIGN32,), 1),
    ("testp.normal.f64", None, (1,), 0),
    ("testp.subnormal.f64", None, (1,), 1),
    ("testp.finite.f32", None, (INF32,), 0),
    ("testp.infinite.f32", None, (SIGN32 | INF32,), 1),
    ("testp.number.f32", None, (INF32 + 1,), 0),
    ("testp.notanumber.f64", None, (0x7FF0000000000001,), 1),
    ("rcp.rn.f32", None, (f32(3.0),), 0x3EAAAAAB),
    ("rcp.rz.f32", None, (TINY32,), MAX32),
    ("rcp.rn.f64", None, (f64(49.0),), f64(1.0 / 49.0)),
    ("rcp.rn.f64", None, (0x7FE0000000000000,), 0x0008000000000000),  # 2^1023 -> 2^-1023
    ("rcp.rn.ftz.f64", None, (0x7FE0000000000000,), 0),
    ("rcp.approx.f32", None, (f32(2.0**127),), 0x00400000),
    ("rcp.approx.ftz.f32", None, (f32(-(2.0**127)),), SIGN32),
    ("rcp.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("rcp.approx.ftz.f64", None, (0xFFF8000000000000,), NAN64),
    ("rcp.approx.ftz.f64", None, (0xFFF0000000000001,), SIGN64),
    ("rcp.approx.ftz.f64", None, (f64(3.0),), 0x3FD5555500000000),
    ("rcp.approx.ftz.f64", None, (f64(-1e-310),), 0xFFF0000000000000),
    ("rcp.approx.ftz.f64", None, (0x7FE0000000000000,), 0),
    ("sqrt.rn.f32", None, (f32(2.0),), 0x3FB504F3),
    ("sqrt.rp.f32", None, (f32(2.0),), 0x3FB504F4),
    ("sqrt.rn.f64", None, (f64(2.0),), f64(math.sqrt(2.0))),
    ("sqrt.rz.f64", None, (f64(2.0),), f64(math.sqrt(2.0)) - 1),
    ("sqrt.approx.f32", None, (TINY32,), 0x1A3504F3),  # 2^-74.5
    ("sqrt.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32),
    ("sqrt.approx.f32", None, (SIGN32 | TINY32,), NAN32),
    ("sqrt.f32", None, (TINY32,), 0),
    ("rsqrt.approx.f32", None, (f32(4.0),), f32(0.5)),
    ("rsqrt.approx.f32", None, (SIGN32,), SIGN32 | INF32),
    ("rsqrt.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("rsqrt.approx.f64", None, (0xFFF8000000000001,), 0xFFF8000000000001),
    ("rsqrt.approx.ftz.f64", None, (0xFFF8000000000001,), NAN64),
    ("rsqrt.approx.ftz.f64", None, (0x7FF0000000000001,), 0),
    ("rsqrt.approx.ftz.f64", None, (f64(16.0) | 0xFFFFFFFF,), f64(0.25)),
    ("rsqrt.approx.ftz.f64", None, (f64(-16.0),), NAN64),
    ("sin.approx.f32", None, (f32(1.0),), f32(math.sin(1.0))),
    ("sin.approx.f32", None, (SIGN32 | TINY32,), SIGN32 | TINY32),
    ("sin.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32),
    ("sin.f32", None, (SIGN32 | INF32,), NAN32),
    ("cos.approx.f32", None, (f32(1.0),), f32(math.cos(1.0))),
    ("cos.f32", None, (TINY32,), f32(1.0)),
    ("lg2.approx.f32", None, (TINY32,), f32(-149.0)),
    ("lg2.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("lg2.approx.f32", None, (f32(3.0),), f32(math.log2(3.0))),
    ("lg2.approx.f32", "sm_10", (TINY32,), SIGN32 | INF32),
    ("ex2.approx.f32", None, (f32(-149.0),), TINY32),
    ("ex2.approx.ftz.f32", None, (f32(-127.0),), 0),
    ("ex2.approx.f32", None, (f32(0.5),), f32(math.sqrt(2.0))),
    ("ex2.approx.ftz.f32", None, (0xC1238D46,), 0x3A5B7D5D),
    ("ex2.approx.f16", None, (0xCE00,), 0x0001),  # 2^-24
    ("ex2.approx.ftz.bf16", None, (0x807F,), 0x3F80),
    ("ex2.f32", None, (INF32,), INF32),
    ("tanh.approx.f32", None, (SIGN32 | TINY32,), SIGN32 | TINY32),
    ("tanh.approx.f32", None, (f32(1.0),), f32(math.tanh(1.0))),
    ("tanh.approx.f16", None, (0xFC00,), 0xBC00),
    ("tanh.approx.bf16", None, (0x7FC1,), 0x7FFF),
    ("min.xorsign.abs.f32", None, (f32(-2.0), f32(1.0)), f32(-1.0)),
    ("max.abs.f32", None, (f32(-3.0), f32(1.0), f32(2.0)), f32(3.0)),
]


def outcome(
    spec: Spec, checked: dict[str, Checked], spelling: str, target: str | None, operands: tuple[int, ...]
) -> int:
    v = variant(spec, spelling, len(operands))
    programs = checked[v.opcode].programs[v]
    return run(programs.get(target, programs[None]), operands)


@pytest.mark.parametrize(("spelling", "target", "operands", "result"), RESULTS)
def test_results(
    spec: Spec, checked: dict[str, Checked], spelling: str, target: str | None, operands: tuple[int, ...], result: int
) -> None:
    got = outcome(spec, checked, spelling, target, operands)
    assert f"{got:#x}" == f"{result:#x}"


@cache
def value32(bits: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def cut(x: Fraction, digits: int) -> Fraction:
    """The first binary digits of a number."""
    if not x:
        return x
    unit = Fraction(2) ** (math.frexp(float(x))[1] - digits)
    return unit * (abs(x) // unit) * (1 if x > 0 else -1)


def test_the_cut_product_of_sm_1x(spec: Spec, checked: dict[str, Checked]) -> None:
    rng = random.Random(1)
    tried = 0
    for _ in range(400):
        a, b = (rng.randrange(2) << 31 | rng.randrange(70, 190) << 23 | rng.randrange(1 << 23) for _ in range(2))
        product = cut(value32(a) * value32(b), 24)
        exponent = max(2, min(250, math.frexp(float(product))[1] + 126 + rng.randrange(-26, 27)))
        c = rng.randrange(2) << 31 | exponent << 23 | rng.randrange(1 << 23)
        total = product + value32(c)
        unit = Fraction(2) ** (math.frexp(float(total))[1] - 24) if total else Fraction(1)
        rounded = round(total / unit) * unit
        if total and not Fraction(2) ** -126 <= abs(rounded) < Fraction(2) ** 128:
            continue
        tried += 1
        expected = f32(float(rounded))
        assert outcome(spec, checked, "mad.ftz.f32", "sm_13", (a, b, c)) == expected
        assert outcome(spec, checked, "mad.f32", "sm_10", (a, b, c)) == expected
    assert tried > 300


@pytest.mark.parametrize("spelling", ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"])
def test_results_of_the_upper_word(spec: Spec, checked: dict[str, Checked], spelling: str) -> None:
    """Rounded to nearest in 20 fraction bits, to the last of the numbers that are not flushed."""
    rng = random.Random(2)
    for exponent in (1, 2, 500, 1022, 1023, 1024, 1500, 2000, 2010, 2043, 2044):
        for _ in range(20):
            a = exponent << 52 | rng.randrange(1 << 52)
            d = outcome(spec, checked, spelling, None, (a,))
            assert d & 0xFFFFFFFF == 0
            upper = Fraction(struct.unpack("<d", struct.pack("<Q", a >> 32 << 32))[0])
            got = Fraction(struct.unpack("<d", struct.pack("<Q", d))[0])
            half = Fraction(struct.unpack("<d", struct.pack("<Q", d + (1 << 32)))[0]) - got
            low, high = got - half / 2, got + half / 2
            if d & ((1 << 52) - 1) == 0:
                low = got - half / 4
            if spelling.startswith("rcp"):
                assert low <= 1 / upper <= high
            else:
                assert low * low <= 1 / upper <= high * high
