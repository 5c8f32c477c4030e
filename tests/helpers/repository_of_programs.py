"""A repository of programs with PTX in them, and lint run on it as somebody would there."""

from __future__ import annotations

from pathlib import Path

from ptxspec.cli.main import main

from helpers import ROOT

WRONG = 'asm("max.NaN.f64 %0, %1, %2;");\n'  # [illegal-modifier], wherever it is judged
NEW = 'asm("add.bf16 %0, %1, %2;");\n'  # from sm_90 on
ORDER = 'asm("add.ftz.rn.f32 %0, %1, %2;");\n'  # a note: [modifier-order]
TWICE = 'asm("add.sat.sat.f32 %0, %1, %2;");\n'  # a warning: [repeated-modifier]
RIGHT = 'asm("add.rn.f32 %0, %1, %2;");\n'


def write(folder: Path, **files: str) -> None:
    """Files by their paths, with __ for a slash and _ for the last dot: src__a_cu."""
    for name, text in files.items():
        stem, _, ending = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def lint(*arguments: str | Path) -> int:
    return main(["lint", "--root", str(ROOT), *map(str, arguments)])
