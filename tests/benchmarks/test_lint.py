"""lint on 100,000 instructions, against ptxas parsing the same file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ptxspec
import pytest
from helpers import ROOT
from ptxspec.ptxas.asking import find_ptxas, statement

SCRIPT = Path(sys.executable).with_name("ptxspec")
HEADER = """\
.version 9.5
.target sm_75
.address_size 64
.visible .entry k() {
.reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %b<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;
"""


def test_lint(compare: Callable[..., None], tmp_path: Path) -> None:
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    taken = ptxspec.load(ROOT).available(target="sm_75", ptx="9.5")
    lines = [statement(v.spelling, v.operands, v.spelling.startswith("testp")) for v in taken]
    path = tmp_path / "many.ptx"
    path.write_text(HEADER + "\n".join((lines * (100_000 // len(lines) + 1))[:100_000]) + "\nret;\n}\n", "utf-8")

    def run(*command: object) -> None:
        subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)

    compare(
        "ptxspec lint, 100,000 instructions",
        lambda: run(SCRIPT, "lint", path),
        "ptxas -arch compute_75",
        lambda: run(ptxas, "-arch", "compute_75", path, "-o", tmp_path / "out"),
        rounds=5,
    )
