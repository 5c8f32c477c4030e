"""Opcodes that the specification does not have, with signatures of every sort, in YAML alone.

They are spelled like real ones, so that NVIDIA's assembler takes them. A processor in Python runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.check.checking import Checked, check
from ptxspec.emit.products import cuda
from ptxspec.emit.text import Templates
from ptxspec.evaluate import lanes_of, registers_of
from ptxspec.model import BOOL, Spec, Variant
from ptxspec.read.link import read
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run

from helpers.project import copied, declare

Array = NDArray[Any]

MODIFIERS = """
  lt: {summary: Is it less?}
  geu: {summary: Is it not less?}
  and: {summary: Both.}
  satfinite: {summary: What is too large becomes the largest number.}
  rs: {summary: Round as random bits say.}
  rzi: {summary: Round to an integer toward zero., round: {mode: roundTowardZero}}
"""
GROUPS = "  cmp: [lt, geu]\n  bool: [and]\n"
OPCODES = {
    "setp": """
syntax:
  - setp.{lt,geu}{.ftz}.f32     p{|q}, a, b
  - setp.{lt,geu}.and.f32       p{|q}, a, b, {!}c:pred
  - setp.{lt,geu}.f16x2         p0|p1, a, b
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
  - {for: .f16x2, ptx: 4.2, target: sm_53, section: 9.7.3.1}
semantics: |
  less = a < b
  p = less if cmp == "lt" else not less
  q = not p
  if bool == "and":
      q = q and c
      p = p and c
corner_cases:
  - title: Unordered is not less
    section: 9.7.3.1
    for: {has: .lt, operands: 2}
    rows:
      - [NaN, 1.0, false]
      - [1.0, 2.0, true]
""",
    "selp": """
syntax:
  - selp.f32  d, a, b, c:pred
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
nan:
  - {for: .f32, rule: unchanged, section: 9.7.3.1}
semantics: |
  d = a if c else b
corner_cases:
  - title: The predicate chooses
    section: 9.7.3.1
    rows:
      - [1.0, 2.0, true, 1.0]
      - [1.0, 2.0, false, 2.0]
""",
    "cvt": """
syntax:
  - cvt.rn{.ftz}.f16.f32                d, a
  - cvt.rn.f16x2.f32                    d, a1, a0
  - cvt.rzi.s32.f32                     d, a
  - cvt.rn.f32.s32                      d, a
  - cvt.rzi.u8.f32                      d, a
  - cvt.rn.f32.u8                       d, a
  - cvt.rn.satfinite.e4m3x2.f32         d, a1, a0
  - cvt.rn.f16x2.e4m3x2                 d, a
  - cvt.rn.satfinite.e2m1x2.f32         d, a1, a0
  - cvt.rn.f16x2.e2m1x2                 d, a
  - cvt.rs.satfinite.e4m3x4.f32         d, {a3, a2, a1, a0}, b:b32
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
  - {for: .f16x2, ptx: 7.0, target: sm_80, section: 9.7.3.1}
  - {for: .e4m3x2, ptx: 8.1, target: sm_89, section: 9.7.3.1}
  - {for: [.e2m1x2, .rs], ptx: 8.8, target: sm_100a, section: 9.7.3.1}
semantics: |
  if rs:
      d = convert(a, type, roundTowardZero) if b == 0 else convert(a, type)
  else:
      d = convert(a, type)
corner_cases:
  - title: To half precision
    section: 9.7.3.1
    for: .f16
    rows:
      - [1.0, 1.0]
      - [+inf, +inf]
      - [NaN, NaN]
""",
}
HEAD = """opcode: {0}
summary: A {0} that was made up.
manual:
  - {{section: 9.7.3.1, anchor: {0}}}
"""


def add(root: Path) -> None:
    """The opcodes, and what they need, beside what a copy of the specification has."""

    declare(root, "modifiers.yaml", groups=GROUPS, modifiers=MODIFIERS)
    for opcode, rest in OPCODES.items():
        (root / f"spec/instructions/{opcode}.yaml").write_text(HEAD.format(opcode) + rest, "utf-8")


@dataclass(frozen=True)
class MadeUp:
    """The specification of the opcodes, their programs, and generated/cuda of a root of their own."""

    spec: Spec
    checked: dict[str, Checked]
    kernels: Path

    @property
    def variants(self) -> list[Variant]:
        return [v for c in self.checked.values() for v in c.instruction.variants]

    def variant(self, spelling: str) -> Variant:
        return next(v for v in self.variants if v.spelling == spelling)


def made_up(root: Path) -> MadeUp:
    add(copied(root, opcodes=()))
    spec = read(root)
    checked, errors = check(spec)
    assert not errors, "\n".join(map(str, errors))
    files = cuda.emit(spec, checked, Templates(root))
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return MadeUp(spec, {c.instruction.opcode: c for c in checked}, root / "cuda")


class Processor:
    """Has the emulator's functions, and runs programs one operand at a time."""

    def __init__(self, spec: Spec) -> None:
        self.compiler = Compiler(spec)
        self.variants = {v.key: v for i in spec.instructions.values() for v in i.variants}

    def execute(self, spelling: str, *arrays: Array, target: str | None = None, results: int = 1) -> Any:
        return self.compile(spelling, len(arrays), target)(*arrays, results=results)

    def compile(self, spelling: str, operands: int, target: str | None = None) -> Callable[..., Any]:
        v = self.variants[spelling, operands]
        program = self.compiler.programs(self.compiler.spec.instructions[v.opcode], v)[None]
        lane = cache(lambda *encodings: run(program, encodings))

        def kernel(*arrays: Array, results: int = 1) -> Any:
            rows = [self._row(v, lane, row, results) for row in zip(*(x.tolist() for x in arrays), strict=True)]
            kind = bool if v.result.kind == BOOL else np.dtype(f"u{v.result.type.width // 8}")
            found = tuple(np.array(column, kind) for column in zip(*rows, strict=True))
            return found if len(found) > 1 else found[0]

        return kernel

    def _row(self, v: Variant, lane: Callable[..., tuple[int, ...]], row: tuple[int, ...], results: int) -> list[int]:
        registers = iter(map(int, row))
        columns = [lanes_of(s, [next(registers) for _ in s.places], v.lanes) for s in v.sources]
        lanes = [lane(*encodings) for encodings in zip(*columns, strict=True)]
        return [
            x
            for r, column in zip(v.results[:results], zip(*lanes, strict=True), strict=False)
            for x in registers_of(r, list(column))
        ]
