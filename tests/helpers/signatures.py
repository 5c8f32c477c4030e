"""A few instructions with signatures of every sort: predicates in and out, integers, lanes in registers of their own,
vectors, random bits. The specification with these alone, and kernels for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ptxspec.check.checking import Checked
from ptxspec.emit.parts import Parts
from ptxspec.emit.products import cuda
from ptxspec.emit.text import Templates
from ptxspec.model import Spec, Variant

from helpers import ROOT
from helpers.repository import checked, specification

SPELLINGS = {
    "setp.lt.f32", "setp.lt.ftz.f32", "setp.lt.and.f32", "setp.geu.f32", "setp.geu.and.f32", "setp.lt.f16x2",
    "selp.f32",
    "cvt.rn.f16.f32", "cvt.rn.ftz.f16.f32", "cvt.rn.f16x2.f32", "cvt.rzi.s32.f32", "cvt.rn.f32.s32", "cvt.rzi.u8.f32",
    "cvt.rn.f32.u8", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.f16x2.e4m3x2", "cvt.rn.satfinite.e2m1x2.f32",
    "cvt.rn.f16x2.e2m1x2", "cvt.rs.satfinite.e4m3x4.f32",
}  # fmt: skip


@dataclass(frozen=True)
class Few:
    """The specification of a few variants, their programs, and the folder with their kernels."""

    spec: Spec
    checked: dict[str, Checked]
    kernels: Path

    @property
    def variants(self) -> list[Variant]:
        return [v for c in self.checked.values() for v in c.instruction.variants]

    def variant(self, spelling: str) -> Variant:
        return next(v for v in self.variants if v.spelling == spelling)


def few(folder: Path) -> Few:
    spec = specification()
    found = {}
    for opcode in sorted({s.partition(".")[0] for s in SPELLINGS}):
        whole = checked()[opcode]
        some = tuple(v for v in whole.instruction.variants if v.spelling in SPELLINGS)
        found[opcode] = replace(whole, instruction=replace(whole.instruction, variants=some))
    few_of_them = replace(spec, instructions={o: c.instruction for o, c in found.items()})
    for name, text in cuda.emit(few_of_them, [*found.values()], Templates(ROOT), Parts()).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    made = Few(few_of_them, found, folder / "cuda")
    assert {v.spelling for v in made.variants} == SPELLINGS
    return made
