"""setp, selp, slct and some of cvt, as one would add them: in YAML alone. They are there to be judged by ptxas."""

from __future__ import annotations

from pathlib import Path

from helpers.project import copied, declare

REGISTERS = """
  e4m3x4: [b32]
  s32:    [b32, u32, s32, f16x2]
  b32:    [b32]
"""
CONSTANTS = """
  s32:    [integer, address]
  b32:    [integer, single, address]
"""
COMPARED = "eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan"
GROUPS = f"""
  cmp:  [{COMPARED}]
  bool: [and, or, xor]
  irnd: [rni, rzi]
"""
MODIFIERS = (
    "\n".join(f"  {name}: {{summary: A comparison.}}" for name in COMPARED.split(", "))
    + """
  and: {summary: Both.}
  or: {summary: At least one.}
  xor: {summary: One of the two.}
  satfinite: {summary: What is too large becomes the largest number.}
  rs: {summary: Round as random bits say.}
  rni: {summary: Round to the nearest integer., round: {mode: roundTiesToEven}}
  rzi: {summary: Round to an integer toward zero., round: {mode: roundTowardZero}}
"""
)
OPCODES = {
    "setp": """
syntax:
  - setp.cmp{.ftz}.f32               p{|q}, a, b
  - setp.cmp.bool{.ftz}.f32          p{|q}, a, b, {!}c:pred
  - setp.cmp.f64                     p{|q}, a, b
  - setp.cmp.bool.f64                p{|q}, a, b, {!}c:pred
  - setp.cmp{.ftz}.f16               p, a, b
  - setp.cmp.bool{.ftz}.f16          p, a, b, {!}c:pred
  - setp.cmp{.ftz}.f16x2             p0|p1, a, b
  - setp.cmp.bool{.ftz}.f16x2        p0|p1, a, b, {!}c:pred
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
  - {for: .ftz, ptx: 1.4, section: 9.7.3.1}
  - {for: ".{f16,f16x2}", ptx: 4.2, target: sm_53, section: 9.7.3.1}
semantics: |
  unordered = isNaN(a) or isNaN(b)
  if cmp in ("eq", "equ"):
      t = a == b
  elif cmp in ("ne", "neu"):
      t = a < b or a > b
  elif cmp in ("lt", "ltu"):
      t = a < b
  elif cmp in ("le", "leu"):
      t = a <= b
  elif cmp in ("gt", "gtu"):
      t = a > b
  elif cmp in ("ge", "geu"):
      t = a >= b
  else:
      t = not unordered
  if cmp in ("equ", "neu", "ltu", "leu", "gtu", "geu", "nan"):
      t = t or unordered
  p = t
  q = not t
  if bool == "and":
      p = t and c
      q = not t and c
  elif bool == "or":
      p = t or c
      q = not t or c
  elif bool == "xor":
      p = t != c
      q = (not t) != c
""",
    "selp": """
syntax:
  - selp.{f32,f64}  d, a, b, {!}c:pred
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
nan:
  - {rule: unchanged, section: 9.7.3.1}
semantics: |
  d = a if c else b
""",
    "slct": """
syntax:
  - slct.{f32,f64}.s32      d, a:d, b:d, c
  - slct{.ftz}.f32.f32      d, a:d, b:d, c
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
  - {for: .ftz, ptx: 1.4, section: 9.7.3.1}
nan:
  - {rule: unchanged, section: 9.7.3.1}
semantics: |
  d = a if c >= 0 else b
""",
    # A register may be wider than an operand of cvt, but not everywhere.
    "cvt": """
syntax:
  - cvt.rnd{.ftz}{.sat}.f16.f32                 d, a
  - cvt.irnd{.ftz}.s32.f32                      d, a
  - cvt.rn.f16x2.f32                            d, a1, a0
  - cvt.rs.f16x2.f32                            d, a1, a0, r:b32
  - cvt.rs.satfinite.e4m3x4.f32                 d, {a3, a2, a1, a0}, r:b32
requires:
  - {ptx: 1.0, target: sm_10, section: 9.7.3.1}
assembler:
  observed: ptxas 13.5.37
  requires:
    - {for: .ftz, ptx: 1.4}
    - {for: .f16x2, ptx: 7.0, target: sm_80}
    - {for: .rs, ptx: 8.7, target: sm_100a}
  operands:
    - {for: .e4m3x4, registers: {f32: [f32, b32]}}
    - registers:
        f16: [f16, b16, b32, b64, b128]
        b32: [b32, u32, s32, f16x2]
        f16x2: [f16x2, b32, b64, b128]
        f32: [f32, b32, b64, b128]
        s32: [b32, u32, s32, f16x2, b64, u64, s64, b128]
      constants: {b32: []}
semantics: |
  if rs:
      d = convert(a, type, roundTowardZero) if r == 0 else convert(a, type)
  else:
      d = convert(a, type)
""",
}
HEAD = """opcode: {0}
summary: A {0} that was made up.
"""


def with_comparisons(root: Path) -> Path:
    """A root with these opcodes, and some of the specification's."""
    copied(root, opcodes=("add", "testp"))

    declare(root, "modifiers.yaml", groups=GROUPS, modifiers=MODIFIERS)
    declare(root, "assembler.yaml", registers=REGISTERS, constants=CONSTANTS)
    for opcode, rest in OPCODES.items():
        (root / f"spec/instructions/{opcode}.yaml").write_text(HEAD.format(opcode) + rest.lstrip("\n"), "utf-8")
    return root
