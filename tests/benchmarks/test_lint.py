"""lint on 100,000 instructions, against ptxas parsing the same file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ptxspec
import pytest
from helpers import ROOT
from helpers.linting import written
from ptxspec.ptxas.asking import REGISTERS, find_ptxas

SCRIPT = Path(sys.executable).with_name("ptxspec")
HEADER = f"""\
.version 9.5
.target sm_75
.address_size 64
.visible .entry k() {{
{" ".join(f".reg .{type} {name}<8>;" for type, name in REGISTERS.items())}
"""


def test_lint(compare: Callable[..., None], tmp_path: Path) -> None:
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    db = ptxspec.load(ROOT)
    lines = [written(db, v.spelling, v.operands) for v in db.available(target="sm_75", ptx="9.5")]
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
