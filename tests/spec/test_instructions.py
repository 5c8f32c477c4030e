"""What spec/instructions says: spellings, requirements, claims and meanings, in another notation than the files'."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.project import copied
from ptxspec.catalog import Requirement
from ptxspec.check.checking import Checked
from ptxspec.diagnostics import SpecError
from ptxspec.model import Spec, Variant
from ptxspec.read.link import read

# The manual's syntax in another notation than the files': a word is needed, word? may be missing, x|y is a choice.
RND = "rn|rz|rm|rp"
CMP = "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
IRND = "rni|rzi|rmi|rpi"
INT = "u8|u16|u32|u64|s8|s16|s32|s64"
# The integers that do not have every number of a type.
SMALLER = {
    "u8": "u16|u32|u64|s8|s16|s32|s64", "u16": "u32|u64|s8|s16|s32|s64", "u32": "u64|s8|s16|s32|s64",
    "u64": "s8|s16|s32|s64", "s8": "u8|u16|u32|u64|s16|s32|s64", "s16": "u16|u32|u64|s32|s64", "s32": "u32|u64|s64",
    "s64": "u64",
}  # fmt: skip
ALTERNATE = "e5m2x4|e4m3x4|e3m2x4|e2m3x4|e2m1x4|e2m1p4x4|ue8m0x4"
SUMS = [
    f"{RND}|- sat? f32 f16|bf16 /2",
    f"{RND}|- f32x2 f16x2|bf16x2 f32x2 /2",
    "rz ftz f16x2 f32x2 f32x2 /2",
    "rz bf16x2 f32x2 f32x2 /2",
    f"rn? satfinite? e5m2x4|e4m3x4 {ALTERNATE} /2",
]
PRODUCTS = [
    "rz ftz f16x2 f32x2 f32x2 /2",
    "rz bf16x2 f32x2 f32x2 /2",
    "bf16x2 bf16x2 f16x2 /2",
    "f16x2 f16x2 bf16x2 /2",
    f"rn? satfinite? e5m2x4|e4m3x4 {ALTERNATE} {ALTERNATE} /2",
]
NARROW = "e4m3x2|e5m2x2|e2m3x2|e3m2x2|e2m1x2"
MANUAL = {
    "cvt": [
        f"{IRND} sat? {INT} f16|f64 /1",
        f"{IRND} ftz? sat? {INT} f32 /1",
        f"{IRND} {INT} bf16 /1",
        f"{RND} sat? f16|f64 {INT} /1",
        f"{RND} ftz? sat? f32 {INT} /1",
        f"{RND} bf16 {INT} /1",
        f"{INT} {INT} /1",
        *(f"sat {to} {source} /1" for to, source in SMALLER.items()),
        f"{IRND}|- sat? f16 f16 /1",
        f"{IRND}|- bf16 bf16 /1",
        f"{IRND}|- ftz? sat? f32 f32 /1",
        f"{IRND}|- sat? f64 f64 /1",
        "ftz? sat? f32 f16 /1",
        "ftz? f32 bf16 /1",
        "sat? f64 f16 /1",
        f"{RND}|- f64 bf16 /1",
        "ftz? sat? f64 f32 /1",
        f"{RND} ftz? sat? f32 f64 /1",
        f"{RND} sat? f16 f64 /1",
        f"{RND} bf16 f64 /1",
        f"{RND} ftz? sat? f16 f32 /1",
        f"{RND} ftz? bf16 f32 /1",
        "rn|rz relu satfinite? f16|bf16 f32 /1",
        "rn|rz satfinite f16|bf16 f32 /1",
        f"{RND} f16 bf16 /1",
        f"{RND} bf16 f16 /1",
        "rna satfinite? tf32 f32 /1",
        "rn|rz satfinite? relu? tf32 f32 /1",
        "rn|rz relu? satfinite? f16x2|bf16x2 f32 /2",
        "rn|rz relu? satfinite? pzo f16|bf16 f32 /1",
        "rn|rz satfinite? relu? pzo tf32 f32 /1",
        "rn|rz relu? satfinite? pzo f16x2|bf16x2 f32 /2",
        f"rn|rz satfinite relu? pzo? {NARROW} f32 /2",
        f"rn|rz satfinite relu? pzo? {NARROW} f16x2|bf16x2 /1",
        f"rn|rz satfinite relu? pzo? scaled::n1::ue8m0 {NARROW} f32 /3",
        f"rn|rz satfinite relu? pzo? scaled::n1::ue8m0 {NARROW} f16x2|bf16x2 /2",
        f"rn relu? f16x2 {NARROW} /1",
        f"rn relu? satfinite? bf16x2 {NARROW} /1",
        f"rn relu? satfinite? scaled::n2::ue8m0 bf16x2 {NARROW} /2",
        "rs relu? satfinite? pzo? f16x2|bf16x2 f32 /3",
        "rs relu? satfinite pzo? e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4 f32 /5",
        "rz|rp satfinite? ue8m0x2 f32 /2",
        "rz|rp satfinite? ue8m0x2 bf16x2 /1",
        "rn bf16x2 ue8m0x2 /1",
        "rn|rz satfinite relu? s2f6x2 f32 /2",
        "rn|rz satfinite relu? s2f6x2 bf16x2 /1",
        "rn|rz satfinite relu? scaled::n2::ue8m0 s2f6x2 f32 /3",
        "rn|rz satfinite relu? scaled::n2::ue8m0 s2f6x2 bf16x2 /2",
        "rn satfinite? relu? bf16x2 s2f6x2 /1",
        "rn satfinite? relu? scaled::n2::ue8m0 bf16x2 s2f6x2 /2",
        "rn|rz|rp satfinite? ue5m3x2 f32 /2",
        "rn|rz|rp satfinite? ue5m3x2 f16x2|bf16x2 /1",
        "rn|rz satfinite? scaled::n1::ue8m0 ue5m3x2 f32 /3",
        "rn|rz satfinite? scaled::n1::ue8m0 ue5m3x2 f16x2|bf16x2 /2",
        "rn f16x2 ue5m3x2 /1",
        "rn satfinite? bf16x2 ue5m3x2 /1",
        "rn satfinite? scaled::n2::ue8m0 bf16x2 ue5m3x2 /2",
    ],
    "testp": ["finite|infinite|number|notanumber|normal|subnormal f32|f64 /1"],
    "copysign": ["f32|f64 /2"],
    **{
        op: [
            f"{RND}|- ftz? sat? f32 /2",
            f"{RND}|- ftz? f32x2 /2",
            f"{RND}|- f64 /2",
            "rn? ftz? sat? f16|f16x2 /2",
            "rn? bf16|bf16x2 /2",
            *more,
        ]
        for op, more in {"add": SUMS, "sub": SUMS, "mul": PRODUCTS}.items()
    },
    "fma": [
        f"{RND} ftz? sat? f32 /3",
        f"{RND} ftz? f32x2 /3",
        f"{RND} f64 /3",
        "rn ftz? sat? f16|f16x2 /3",
        "rn ftz? relu f16|f16x2 /3",
        "rn relu? bf16|bf16x2 /3",
        "rn oob relu? f16|f16x2|bf16|bf16x2 /3",
        f"{RND} sat? f32 f16|bf16 /3",
        f"{RND} f32x2 f16x2|bf16x2 f32x2 f32x2 /3",
        f"rn? satfinite? e5m2x4|e4m3x4 {ALTERNATE} {ALTERNATE} /3",
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
    "setp": [
        f"{CMP} {combined} {types} /{operands}"
        for combined, operands in (("-", 2), ("and|or|xor", 3))
        for types in ("ftz? f32|f16|f16x2", "f64|bf16|bf16x2")
    ],
    "set": [
        f"{operators} {combined} {types} /{operands}"
        for combined, operands in (("-", 2), ("and|or|xor", 3))
        for operators, types in (
            (CMP, "ftz? u32|s32|f32 f32"),
            (CMP, "u32|s32|f32 f64"),
            ("eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "f32 u16|u32|u64"),
            ("eq|ne|lt|le|gt|ge", "f32 s16|s32|s64"),
            ("eq|ne", "f32 b16|b32|b64"),
            (CMP, "ftz? f16 f16|f32"),
            (CMP, "f16 f64"),
            (CMP, "bf16 f16|f32|f64"),
            ("eq|ne|lt|le|gt|ge", "f16|bf16 u16|u32|u64|s16|s32|s64"),
            ("eq|ne", "f16|bf16 b16|b32|b64"),
            (CMP, "ftz? u16|s16|u32|s32 f16"),
            (CMP, "u16|s16|u32|s32 bf16"),
            (CMP, "ftz? f16x2|u32|s32 f16x2"),
            (CMP, "bf16x2|u32|s32 bf16x2"),
        )
    ],
    "selp": ["f32|f64|b16|b32|b64 /3"],
    "mov": [
        "f32|f64|b16|b32|b64|u16|u32|u64|s16|s32|s64|pred /1",
        "b16|b32|b64 /2",
        "b32|b64 /4",
    ],
    **{op: ["b16|b32|b64|pred /2"] for op in ("and", "or", "xor")},
    "not": ["b16|b32|b64|pred /1"],
    "shl": ["b16|b32|b64 /2"],
    "shr": ["b16|b32|b64|u16|u32|u64|s16|s32|s64 /2"],
    "slct": ["f32|f64 s32 /3", "ftz? f32|f64|b16|b32|b64|s16|s32|s64|u16|u32|u64 f32 /3"],
}
# Integers
MANUAL["add"] = [*MANUAL["add"], "sat? s32|u32 /2"]
MANUAL["sub"] = [*MANUAL["sub"], "sat? s32 /2", "u32 /2"]
ASSEMBLER_ONLY = {
    "set": [
        f"{CMP} bf16 bf16 /2",
        f"{CMP} and|or|xor bf16 bf16 /3",
        "lo|ls|hi|hs f16|bf16 u16|u32|u64 /2",
        "lo|ls|hi|hs and|or|xor f16|bf16 u16|u32|u64 /3",
    ],
    "cvt": [
        f"{RND} ftz? f32 bf16 /1",
        "f16 bf16 /1",
        "bf16 f16 /1",
        "rm|rp pzo f16|bf16 f32 /1",
        f"{RND} ftz pzo bf16 f32 /1",
        "rn|rz|rp satfinite? ue5m3x2 f16x2|bf16x2 /2",
    ],
    "fma": ["rz|rm|rp oob? relu? bf16|bf16x2 /3", "rn sat oob f16|f16x2 /3"],
    "rcp": [f"{RND} ftz f64 /1"],
}
# What the manual lists and ptxas takes nowhere.
ON_107A = Requirement("9.4", "sm_107a", on=(("sm_107a", "9.4"),))
REFUSED = {
    "rcp.f64": (1, Requirement("1.0", "sm_13", "1.3"), "rcp.rn.f64"),
    **{
        f"cvt.rs{relu}{finite}.pzo.{type_}.f32": (3, ON_107A, "")
        for relu in ("", ".relu")
        for finite in ("", ".satfinite")
        for type_ in ("f16x2", "bf16x2")
    },
    **{
        f"cvt.rs{relu}.satfinite.pzo.{type_}.f32": (5, ON_107A, "")
        for relu in ("", ".relu")
        for type_ in ("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4")
    },
}
COUNTS = {
    "abs": 9, "add": 147, "copysign": 2, "cos": 3, "cvt": 1284, "div": 18, "ex2": 7, "fma": 494, "lg2": 3, "mad": 25,
    "max": 41, "min": 41, "mul": 451, "neg": 9, "rcp": 20, "rsqrt": 6, "sin": 3, "sqrt": 16, "sub": 146, "tanh": 5,
    "testp": 12, "setp": 504, "set": 2832, "selp": 5, "slct": 24, "mov": 17, "and": 4, "or": 4,
    "xor": 4, "not": 4, "shl": 3, "shr": 9,
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
    assert len(variants(spec)) == 6152
    assert len({v.spelling for v in variants(spec)}) == 6127
    assert sum(not v.listed for v in variants(spec)) == 212
    newest, latest = spec.targets["sm_121a"].order, spec.versions["9.5"].order
    current = [
        v
        for v in variants(spec)
        if spec.targets[v.requires.target].order <= newest
        and spec.versions[v.requires.ptx].order <= latest
        and v.requires.until is None
        and not any(m.until for m in v.requires.within if spec.targets[m.last].order >= newest)
    ]
    assert len(current) == 6136


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
