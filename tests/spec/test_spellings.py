"""The spellings of spec/instructions, in another notation than the files'."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from helpers.variants import refused, variants
from ptxspec.catalog import Requirement
from ptxspec.model import Spec

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
        f"{IRND} sat? {INT} bf16 /1",
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
        "ftz? sat? f32 bf16 /1",
        "sat? f64 f16 /1",
        f"{RND}|- sat? f64 bf16 /1",
        "ftz? sat? f64 f32 /1",
        f"{RND} ftz? sat? f32 f64 /1",
        f"{RND} sat? f16 f64 /1",
        f"{RND} bf16 f64 /1",
        f"{RND} ftz? sat? f16 f32 /1",
        f"{RND} ftz? bf16 f32 /1",
        "rn|rz relu satfinite? f16|bf16 f32 /1",
        "rn|rz satfinite f16|bf16 f32 /1",
        f"{RND} sat? f16 bf16 /1",
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
        f"{operators} {combined} {types} /{operands}"
        for combined, operands in (("-", 2), ("and|or|xor", 3))
        for operators, types in (
            (CMP, "ftz? f32|f16|f16x2"),
            (CMP, "f64|bf16|bf16x2"),
            ("eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "u16|u32|u64"),
            ("eq|ne|lt|le|gt|ge", "s16|s32|s64"),
            ("eq|ne", "b16|b32|b64"),
        )
    ],
    "set": [
        f"{operators} {combined} {types} /{operands}"
        for combined, operands in (("-", 2), ("and|or|xor", 3))
        for operators, types in (
            (CMP, "ftz? u32|s32|f32 f32"),
            (CMP, "u32|s32|f32 f64"),
            ("eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "u32|s32|f32 u16|u32|u64"),
            ("eq|ne|lt|le|gt|ge", "u32|s32|f32 s16|s32|s64"),
            ("eq|ne", "u32|s32|f32 b16|b32|b64"),
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
    "selp": ["f32|f64|b16|b32|b64|s16|s32|s64|u16|u32|u64 /3"],
    "mov": [
        "f32|f64|b16|b32|b64|u16|u32|u64|s16|s32|s64|pred /1",
        "b16|b32|b64 /2",
        "b32|b64 /4",
    ],
    **{op: ["b16|b32|b64|pred /2"] for op in ("and", "or", "xor")},
    "not": ["b16|b32|b64|pred /1"],
    "shl": ["b16|b32|b64 /2"],
    "shr": ["b16|b32|b64|u16|u32|u64|s16|s32|s64 /2"],
    "slct": [
        "f32|f64|b16|b32|b64|s16|s32|s64|u16|u32|u64 s32 /3",
        "ftz? f32|f64|b16|b32|b64|s16|s32|s64|u16|u32|u64 f32 /3",
    ],
}
EVERY = "u16|u32|u64|s16|s32|s64"
INTEGERS = {
    "add": [f"{EVERY} /2", "sat s32|u32 /2", "sat? u16x2|s16x2|u8x4|s8x4 /2", "cc u32|s32|u64|s64 /2"],
    "sub": [f"{EVERY} /2", "cc u32|s32|u64|s64 /2", "sat s32 /2", "sat? u8x4|s8x4 /2"],
    "mul": [f"hi|lo {EVERY} /2", "wide u16|u32|s16|s32 /2"],
    "mad": [f"hi|lo {EVERY} /3", "wide u16|u32|s16|s32 /3", "hi sat s32 /3", "hi|lo cc u32|s32|u64|s64 /3"],
    "addc": ["cc? u32|s32|u64|s64 /2"],
    "subc": ["cc? u32|s32|u64|s64 /2"],
    "madc": ["hi|lo cc? u32|s32|u64|s64 /3"],
    "cvt": ["pack sat u16|s16 s32 /2", "pack sat u8|s8|u4|s4|u2|s2 s32 b32 /3"],
    "set": ["eq|ne|lt|le|gt|ge u16x2|s16x2|u8x4|s8x4 /2", "lo|ls|hi|hs u16x2|u8x4 /2"],
    "lop3": ["b32 /4", "and|or b32 /5"],
    "clmad": ["hi|lo u64 /3"],
    "mul24": ["hi|lo u32|s32 /2"],
    "mad24": ["hi|lo u32|s32 /3", "hi sat s32 /3"],
    "sad": [f"{EVERY} /3"],
    "div": [f"{EVERY} /2"],
    "rem": [f"{EVERY} /2"],
    "abs": ["s16|s32|s64 /1"],
    "neg": ["s16|s32|s64|s8x4 /1"],
    **{op: [f"{EVERY} /2", "u16x2|u8x4 /2", "relu? s16x2|s8x4 /2", "relu s32 /2"] for op in ("min", "max")},
    **{op: ["b32|b64 /1"] for op in ("popc", "clz", "brev")},
    "bfind": ["shiftamt? u32|u64|s32|s64 /1"],
    "fns": ["b32 /3"],
    "bfe": ["u32|u64|s32|s64 /3"],
    "bfi": ["b32|b64 /4"],
    "bmsk": ["clamp|wrap b32 /2"],
    "szext": ["clamp|wrap u32|s32 /2"],
    "dp4a": ["u32|s32 u32|s32 /3"],
    "dp2a": ["lo|hi u32|s32 u32|s32 /3"],
    "cnot": ["b16|b32|b64 /1"],
    "shf": ["l|r clamp|wrap b32 /3"],
    "prmt": ["b32 /3", "f4e|b4e|rc8|ecl|ecr|rc16 b32 /3"],
}
MANUAL |= {op: [*MANUAL.get(op, ()), *lines] for op, lines in INTEGERS.items()}
ASSEMBLER_ONLY = {
    "clmad": ["hi|lo s64 /3"],
    "addc": ["u16|s16 /2", "sat s32 /2"],
    "subc": ["u16|s16 /2", "sat s32 /2"],
    "madc": ["hi|lo u16|s16 /3", "hi sat s32 /3"],
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
REFUSED_LINES = [
    f"{IRND} sat {INT} bf16 /1",
    "ftz sat f32 bf16 /1",
    f"{RND}|- sat f64 bf16 /1",
    f"{RND} sat f16 bf16 /1",
]
REFUSED = {
    "rcp.f64": (1, Requirement("1.0", "sm_13", "1.3"), "rcp.rn.f64"),
    "cvt.sat.f32.bf16": (1, Requirement("7.1", "sm_80"), ""),
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


def written_out(opcode: str, lines: list[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        *words, operands = line.split()
        choices = [[w[:-1], ""] if w.endswith("?") else w.replace("-", "").split("|") for w in words]
        for names in itertools.product(*choices):
            yield ".".join([opcode, *filter(None, names)]), int(operands[1:])


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
    lines = {s: (n, Requirement("7.8", "sm_90"), "") for s, n in written_out("cvt", REFUSED_LINES)}
    assert found == {**REFUSED, **lines}
