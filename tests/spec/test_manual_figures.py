"""The figures of NVIDIA's manual, noted down from its pages apart from spec/: no assembler shows these.

PTX ISA 9.3, sections 9.7.3 and 9.7.4: their notes on PTX ISA and targets, and their bounds on errors. A row is a
sentence. What a variant needs is the newest PTX version and target of all sentences that speak of it, and what it
needs it needs until the first version in which its spelling is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from helpers.repository import specification
from ptxspec.model import Variant

SPEC = specification()
SINGLE = r"\.(f32|f64|f32x2)$"
HALF = r"\.(f16|f16x2|bf16|bf16x2)$"
BF16 = r"\.bf16(x2)?$"


class Sentence(NamedTuple):
    """`of` is searched in spellings of the section's opcode. `operands` 0: any number of them."""

    section: str
    of: str
    ptx: str = "1.0"
    target: str = "sm_10"
    until: str | None = None
    operands: int = 0


def add_sub_mul(section: str) -> list[Sentence]:
    return [
        Sentence(section, ".f(32|64)$", "1.0"),
        Sentence(section, ".f32x2$", "8.6"),
        Sentence(section, ".f64$", target="sm_13"),
        Sentence(section, r"\.(rm|rp)\b.*\.f64$", target="sm_13"),
        Sentence(section, r"\.(rm|rp)\b.*\.f32$", target="sm_20"),
        Sentence(section, ".f32x2$", target="sm_100"),
    ]


def half_add_sub_mul(section: str) -> list[Sentence]:
    return [Sentence(section, HALF, "4.2", "sm_53"), Sentence(section, BF16, "7.8", "sm_90")]


def min_max(section: str, half: str) -> list[Sentence]:
    return [
        Sentence(section, SINGLE, "1.0"),
        Sentence(section, rf"\.NaN\b.*{SINGLE}", "7.0", "sm_80"),
        Sentence(section, rf"\.xorsign\.abs{SINGLE}", "7.2", "sm_86"),
        Sentence(section, SINGLE, "8.8", "sm_100", operands=3),
        Sentence(section, r"\.f64$", target="sm_13"),
        Sentence(half, HALF, "7.0", "sm_80"),
        Sentence(half, rf"\.xorsign\.abs{HALF}", "7.2", "sm_86"),
    ]


def abs_neg(section: str, half: str, since: str) -> list[Sentence]:
    return [
        Sentence(section, SINGLE, "1.0"),
        Sentence(section, r"\.f64$", target="sm_13"),
        Sentence(half, HALF, since, "sm_53"),
        Sentence(half, BF16, "7.0", "sm_80"),
    ]


def rcp_sqrt(section: str) -> list[Sentence]:
    return [
        Sentence(section, r"^\w+(\.ftz)?\.f(32|64)$", "1.0", until="1.3"),
        Sentence(section, r"\.approx(\.ftz)?\.f32$", "1.4"),
        Sentence(section, r"\.rn\.f64$", "1.4"),
        Sentence(section, r"\.(rz|rm|rp)\b.*\.f64$", "2.0"),
        Sentence(section, r"\.(rn|rz|rm|rp)\b.*\.f32$", "2.0", "sm_20"),
        Sentence(section, r"(\.rn|^\w+)\.f64$", target="sm_13"),
        Sentence(section, r"\.(rz|rm|rp)\.f64$", target="sm_20"),
    ]


def approximate(section: str) -> list[Sentence]:
    return [
        Sentence(section, r"\.approx(\.ftz)?\.f32$", "1.4"),
        Sentence(section, r"^\w+\.f32$", "1.0", until="1.3"),
    ]


SENTENCES: dict[str, list[Sentence]] = {
    "testp": [Sentence("9.7.3.1", SINGLE, "2.0", "sm_20")],
    "copysign": [Sentence("9.7.3.2", SINGLE, "2.0", "sm_20")],
    "add": [*add_sub_mul("9.7.3.3"), *half_add_sub_mul("9.7.4.1")],
    "sub": [*add_sub_mul("9.7.3.4"), *half_add_sub_mul("9.7.4.2")],
    "mul": [*add_sub_mul("9.7.3.5"), *half_add_sub_mul("9.7.4.3")],
    "fma": [
        Sentence("9.7.3.6", r"\.f64$", "1.4", "sm_13"),
        Sentence("9.7.3.6", r"\.f32$", "2.0", "sm_20"),
        Sentence("9.7.3.6", r"\.f32x2$", "8.6", "sm_100"),
        Sentence("9.7.4.4", HALF, "4.2", "sm_53"),
        Sentence("9.7.4.4", r"\.relu\.f16(x2)?$", "7.0", "sm_80"),
        Sentence("9.7.4.4", BF16, "7.0", "sm_80"),
        Sentence("9.7.4.4", rf"\.oob\b.*{HALF}", "8.1", "sm_90"),
    ],
    "mad": [
        Sentence("9.7.3.7", SINGLE, "1.0"),
        Sentence("9.7.3.7", r"^mad\.f64$", until="1.3"),
        Sentence("9.7.3.7", r"\.f64$", target="sm_13"),
        Sentence("9.7.3.7", r"\.(rn|rz|rm|rp)\b.*\.f32$", target="sm_20"),
    ],
    "div": [
        Sentence("9.7.3.8", r"\.f(32|64)$", "1.0"),
        Sentence("9.7.3.8", r"\.(approx|full|ftz|rn|rz|rm|rp)\b", "1.4"),
        Sentence("9.7.3.8", r"^div\.f(32|64)$", until="1.3"),
        Sentence("9.7.3.8", r"\.(rn|rz|rm|rp)\b.*\.f32$", target="sm_20"),
        Sentence("9.7.3.8", r"(\.rn|^div)\.f64$", target="sm_13"),
        Sentence("9.7.3.8", r"\.(rz|rm|rp)\.f64$", target="sm_20"),
    ],
    "abs": abs_neg("9.7.3.9", "9.7.4.6", "6.5"),
    "neg": abs_neg("9.7.3.10", "9.7.4.5", "6.0"),
    "min": min_max("9.7.3.11", "9.7.4.7"),
    "max": min_max("9.7.3.12", "9.7.4.8"),
    "rcp": [*rcp_sqrt("9.7.3.13"), Sentence("9.7.3.14", r"\.approx\.ftz\.f64$", "2.1", "sm_20")],
    "sqrt": rcp_sqrt("9.7.3.15"),
    "rsqrt": [
        *approximate("9.7.3.16"),
        Sentence("9.7.3.16", r"^rsqrt\.f64$", "1.0", "sm_13", until="1.3"),
        Sentence("9.7.3.16", r"\.approx\.f64$", "1.4", "sm_13"),
        Sentence("9.7.3.17", r"\.approx\.ftz\.f64$", "4.0", "sm_20"),
    ],
    "sin": approximate("9.7.3.18"),
    "cos": approximate("9.7.3.19"),
    "lg2": approximate("9.7.3.20"),
    "ex2": [
        *approximate("9.7.3.21"),
        Sentence("9.7.4.10", HALF, "7.0", "sm_75"),
        Sentence("9.7.4.10", rf"\.approx\.ftz{BF16}", "7.8", "sm_90"),
    ],
    "tanh": [
        Sentence("9.7.3.22", r"\.f32$", "7.0", "sm_75"),
        Sentence("9.7.4.9", HALF, "7.0", "sm_75"),
        Sentence("9.7.4.9", rf"\.approx{BF16}", "7.8", "sm_90"),
    ],
}

# Of opcode and type: kind, bound and operands.
BOUNDS: dict[str, list[tuple[str, str, str]]] = {
    "div.approx.f32": [("ulp", "2", "2^-126 <= |b| <= 2^126")],
    "div.full.f32": [("ulp", "2", "")],
    "rcp.approx.f32": [("ulp", "1", "")],
    "sqrt.approx.f32": [("relative", "2^-23", "positive and finite")],
    "rsqrt.approx.f32": [("relative", "2^-22.9", "positive and finite")],
    "sin.approx.f32": [("absolute", "2^-20.5", "[-2pi, 2pi]"), ("absolute", "2^-14.7", "[-100pi, 100pi]")],
    "cos.approx.f32": [("absolute", "2^-20.5", "[-2pi, 2pi]"), ("absolute", "2^-14.7", "[-100pi, 100pi]")],
    "lg2.approx.f32": [
        ("absolute", "2^-22", "(0.5, 2)"),
        ("relative", "2^-22", "positive and finite outside (0.5, 2)"),
    ],
    "ex2.approx.f32": [("ulp from the rounded result", "2", "")],
    "ex2.approx.f16": [("relative", "2^-9.9", "")],
    "ex2.approx.bf16": [("relative", "2^-7", "")],
    "tanh.approx.f32": [("relative", "2^-11", "")],
    "tanh.approx.f16": [("absolute", "2^-10.987", "")],
    "tanh.approx.bf16": [("absolute", "2^-8", "")],
}


def is_of_these_sections(v: Variant) -> bool:
    """Forms of two types and of four lanes have sections of their own."""
    return len(re.findall(r"\.(?:f\d|bf16|e\dm\d|ue)", v.spelling)) == 1 and bool(
        re.search(f"{SINGLE}|{HALF}", v.spelling)
    )


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def needed(v: Variant) -> tuple[str, str, str | None] | None:
    """PTX version, target and last PTX version, as the manual's sentences have it."""
    said = [s for s in SENTENCES[v.opcode] if re.search(s.of, v.spelling) and s.operands in (0, v.operands)]
    if not said:
        return None
    newest = max((s.target for s in said), key=lambda t: SPEC.targets[t].order)
    return max((s.ptx for s in said), key=number), newest, next((s.until for s in said if s.until), None)


def test_what_the_manual_requires_is_what_its_pages_say() -> None:
    wrong = defaultdict(list)
    count = 0
    for opcode in SENTENCES:
        for v in SPEC.instructions[opcode].variants:
            if not v.manual or not is_of_these_sections(v):
                continue
            count += 1
            wanted, got = needed(v), (v.manual.ptx, v.manual.target, v.manual.until)
            if wanted != got:
                wrong[wanted, got].append(str(v))
    assert not wrong
    assert count > 400


def test_bounds_are_those_of_its_pages() -> None:
    bounded = [v for i in SPEC.instructions.values() for v in i.variants if v.claim == "bounded"]
    seen = set()
    for v in bounded:
        full = {*v.modifiers, *v.means}
        kind = next(m for m in ("approx", "full") if m in full)
        name = f"{v.opcode}.{kind}.{v.result.type.name.removesuffix('x2')}"
        own = [a for a in SPEC.instructions[v.opcode].accuracy if a.selector.matches(v)]
        assert [(a.kind, a.bound, a.range) for a in own] == BOUNDS[name], v
        seen.add(name)
    assert seen == {*BOUNDS}
