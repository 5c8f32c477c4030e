"""Made-up instructions, in YAML alone, whose operands and results have types of their own, some in formats unlike IEEE
754's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ptxspec.check.checking import check
from ptxspec.emit.parts import Parts
from ptxspec.emit.registry import products
from ptxspec.emit.text import Templates
from ptxspec.model import BOOL, Type, Variant
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run
from ptxspec.semantics.exact.lanes import lanes_of, registers_of
from ptxspec.specification import read

from helpers.project import copied, declare

Array = np.ndarray[Any, np.dtype[Any]]

FORMATS = """\
  e3m4:  {exponent_bits: 3, fraction_bits: 4, subnormals: none, canonical_nan: 0x7f}
  short: {exponent_bits: 2, fraction_bits: 1, canonical_nan: 0x7}
  e3m2u: {exponent_bits: 3, fraction_bits: 2, infinity: none, nan: none, invalid: 0x1f, overflow: largest,
          container: 8, align: upper}
"""
TYPES = """\
  e4m3:   {format: e4m3,  lanes: 1, nan: canonical, constraint: r, registers: .b8,  summary: made up}
  e5m2:   {format: e5m2,  lanes: 1, nan: canonical, constraint: r, registers: .b8,  summary: made up}
  e3m2u:  {format: e3m2u, lanes: 1, constraint: r, registers: .b8,  summary: made up}
  e3m2ux2: {format: e3m2u, lanes: 2, constraint: h, registers: .b16, summary: made up}
"""
# Opcode: syntax and semantics.
INSTRUCTIONS = {
    "compare": (
        [
            "compare.{eq,lt,ltu}{.ftz}.{f32,f16}  p{|q}, a, b",
            "compare.{eq,lt,ltu}.s32  p{|q}, a, b",
            "compare.{eq,lt,ltu}.f16x2  p0|p1, a, b",
            "compare.{eq,lt,ltu}.f32  p{|q}, a, b, {!}c:pred",
        ],
        """\
if type == s32:
    p = sameInteger(a, b) if cmp == "eq" else lessInteger(a, b)
else:
    p = a == b if cmp == "eq" else a < b if cmp == "lt" else a < b or isNaN(a) or isNaN(b)
q = not p
if operands == 3:
    p = p and c
    q = q and c
""",
    ),
    "turn": (
        [
            "turn{.rnd}.{f16,f32,e4m3,e5m2,ue8m0,e3m2u,tf32}.{f16,f32,f64,e4m3,s32,u64}  d, a",
            "turn{.rnd}.{s8,s32,s64,u64}.{f32,f64,e4m3,s32,u64}  d, a",
            "turn{.rnd}{.relu}.{e4m3x2,f16x2}.f32  d, a1, a0",
            "turn{.rnd}.{e2m1x2,e3m2ux2,s2f6x2}.f32  d, a1, a0",
            "turn{.rnd}.f16x2.{e2m1x2,e3m2ux2,e4m3x2,s2f6x2}  d, a",
        ],
        "d = convert(a, type)\n",
    ),
    "choose": (["choose.{f32,e4m3,b32}  d, a, b, {!}c:pred"], "d = a if c else b\n"),
    "sum": (["sum{.rnd}.{e4m3,e5m2,tf32,e4m3x2,e2m1x2}  d, a, b"], "d = a + b\n"),
    "scale": (["scale.f16x2.f32  d, a:d, b"], "x = convert(a, f32) * b\nd = convert(x, f16)\n"),
    "flip": (["flip.{e3m2u,tf32}  d, a"], "d = float_of(~bits(a) ^ bits(a) << 1)\n"),
}


def project(to: Path) -> Path:
    """A generated project with nothing but these."""
    copied(to, ())
    declare(to, "types.yaml", formats=FORMATS, types=TYPES)
    made_up = "".join(f"  {m}: {{summary: made up}}\n" for m in ("eq", "lt", "ltu"))
    declare(to, "modifiers.yaml", groups="  cmp: [eq, lt, ltu]\n", modifiers=made_up)
    for opcode, (syntax, semantics) in INSTRUCTIONS.items():
        lines = "".join(f"  - '{s}'\n" for s in syntax)
        body = "".join(f"  {line}\n" for line in semantics.splitlines())
        text = f"opcode: {opcode}\nsummary: Made up.\nsyntax:\n{lines}"
        text += f"requires:\n  - {{ptx: 8.0, target: sm_90}}\nsemantics: |\n{body}"
        (to / f"spec/instructions/{opcode}.yaml").write_text(text, "utf-8")
    # Of all products, the emulator and its kernels in C.
    checked, errors = check(specification := read(to))
    assert not errors, errors
    for product in ("emulator", "units", "native"):
        for name, made in products()[product](specification, checked, Templates(to), Parts()).items():
            (to / "generated" / name).parent.mkdir(parents=True, exist_ok=True)
            (to / "generated" / name).write_text(made, "utf-8")
    return to


class Exact:
    """The exact back end, run on the registers of variants."""

    def __init__(self, root: Path) -> None:
        self.spec = read(root)
        self.variants = {v.key: v for i in self.spec.instructions.values() for v in i.variants}
        self._compiler = Compiler(self.spec)

    def run(self, v: Variant, columns: Sequence[Array]) -> list[list[int]]:
        """The bits of each register of the results, for columns of the bits of the operands' registers."""
        program = self._compiler.programs(self.spec.instructions[v.opcode], v)[None]
        rows = []
        for row in zip(*(c.tolist() for c in columns), strict=True):
            registers = iter(map(int, row))
            inputs = [lanes_of(s, [next(registers) for _ in s.places], v.lanes) for s in v.sources]
            lanes = [run(program, [x[i] for x in inputs]) for i in range(v.lanes)]
            results = zip(v.results, zip(*lanes, strict=True), strict=True)
            rows.append([x for r, column in results for x in registers_of(r, column)])
        return [list(c) for c in zip(*rows, strict=True)]


def operands(v: Variant, count: int, seed: int = 1) -> list[Array]:
    """Bits of registers for a variant: lanes at the edges of their format, near each other, and any."""
    rng = np.random.default_rng(seed)
    return [_register(s.type, count, rng) for s in v.sources for _ in s.places]


def _register(t: Type, count: int, rng: np.random.Generator) -> Array:
    if t.kind == BOOL:
        return rng.integers(0, 2, count).astype(bool)
    width, f = t.kind.width, t.kind.format
    edges = [0, 1, 2, (1 << width) - 1, (1 << width - 1) - 1, 1 << width - 1, (1 << width - 1) + 1]
    if f is not None:
        magnitudes = {f.least_normal, f.largest, f.first_nan, f.canonical_nan, f.bias << f.fraction_bits}
        edges += [s | (m + i) & (f.magnitudes - 1) for m in magnitudes for i in (-1, 0, 1) for s in (0, f.sign_bit)]
    lanes = (
        rng.integers(0, 1 << width, (t.lanes, count), dtype=np.uint64, endpoint=False)
        if width < 64
        else (rng.integers(0, (1 << 64) - 1, (t.lanes, count), dtype=np.uint64, endpoint=True))
    )
    chosen = np.array(edges, np.uint64)[rng.integers(0, len(edges), lanes.shape)]
    lanes = np.where(rng.random(lanes.shape) < 0.6, chosen, lanes)
    if f is not None and width >= 16:
        # Of numbers of ordinary size sums and products tell most.
        exponent = (f.bias + rng.integers(-9, 17, lanes.shape)).astype(np.uint64) << np.uint64(f.fraction_bits)
        kept = np.uint64(f.sign_bit | (1 << f.fraction_bits) - 1)
        lanes = np.where(rng.random(lanes.shape) < 0.4, lanes & kept | exponent, lanes)
    packed = [t.pack([int(x) for x in column]) for column in lanes.T]
    return np.array(packed, f"u{t.width // 8}")
