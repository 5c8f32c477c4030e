"""Conversions that few targets have, spelled like real ones, as the specification of a project."""

from __future__ import annotations

from pathlib import Path

from helpers.project import copied, declare

FAMILIES = "cvt.rn.satfinite.e2m1x2.f32"
ONE_FAMILY = "cvt.rn.pzo.f16.f32"
OWN = "cvt.rn.satfinite.s2f6x2.f32"
TEXT = """\
# yaml-language-server: $schema=../schema/instruction.schema.json
opcode: cvt
summary: A conversion.
manual:
  - {section: 9.7.10.24, anchor: data-movement-and-conversion-instructions-cvt}
syntax:
  - cvt.rn.satfinite.{e2m1x2,s2f6x2}.f32  d, a1, a0
  - cvt.rn.pzo.f16.f32                    d, a
  - cvt.rn{.relu}.bf16x2.f32              d, a1, a0
requires:
  - {for: .bf16x2, ptx: 7.0, target: sm_80, section: 9.7.10.24}
  - {for: .e2m1x2, on: {sm_100a: 8.6, sm_101a: 8.6, sm_120a: 8.7}, section: 9.7.10.24}
  - {for: .s2f6x2, on: {sm_100a: 9.1, sm_101a: 9.1, sm_103a: 9.1, sm_107a: 9.4, sm_110a: 9.1, sm_120a: 9.1,
                        sm_121a: 9.1}, section: 9.7.10.24}
  - {for: .pzo, on: {sm_107f: 9.4}, section: 9.7.10.24}
assembler:
  observed: ptxas 13.5.37
  requires:
    - {for: .e2m1x2, on: {sm_100a: 8.6, sm_101a: 8.6, sm_120a: 8.7, sm_100f: 8.8, sm_101f: 8.8, sm_120f: 8.8}}
semantics: |
  d = convert(a, type)
corner_cases:
  - title: Infinities
    section: 9.7.10.24
    for: .f16
    rows:
      - [+inf, +inf]
"""


def project(to: Path) -> Path:
    """The specification's folder, with nothing but these."""
    copied(to, ())
    added = "".join(f"  {m}: {{summary: made up}}\n" for m in ("satfinite", "pzo"))
    declare(to, "modifiers.yaml", modifiers=added)
    rows = {"f16": "[f16, b16]", "bf16x2": "[b32]", "e2m1x2": "[b8]", "s2f6x2": "[b16]"}
    declare(to, "assembler.yaml", registers="".join(f"  {t}: {names}\n" for t, names in rows.items()))
    (to / "spec/instructions/cvt.yaml").write_text(TEXT, "utf-8")
    # What others published is about conversions that are not among these.
    (to / "spec/published.yaml").unlink()
    return to
