"""lint on 100,000 instructions, against ptxas parsing the same file; and on files without PTX, against a search for a
word in them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import ptxspec
import pytest
from helpers import ROOT
from helpers.linting import written
from ptxspec.lint import traces
from ptxspec.lint.checking import Checker
from ptxspec.lint.configuration import Settings
from ptxspec.lint.discovery import LintedFile
from ptxspec.proving.ptxas.asking import REGISTERS, find_ptxas
from timing import in_turn

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


def test_files_without_ptx(around: Callable[..., None]) -> None:
    """NumPy's own programs, in one process; both read them."""
    every = [*Path(np.__file__).parent.rglob("*.py"), *Path(np.__file__).parent.rglob("*.h")]
    paths = [str(p) for p in every if not traces.has(p.read_text("utf-8"))]
    db = ptxspec.load(ROOT)
    sources = [LintedFile(p, "python" if p.endswith(".py") else "c++", Settings()) for p in paths]

    def linted() -> None:
        checker = Checker(db)
        assert not any(f for s in sources for f in checker.check(s))

    def searched() -> None:
        assert sum(b"ptx" in Path(p).read_bytes() for p in paths) < len(paths)

    ours, theirs = in_turn(linted, searched, rounds=15, clock=time.thread_time)
    size = sum(Path(p).stat().st_size for p in paths)
    around(
        f"lint of {len(paths)} files without PTX, {size / 1e6:.1f} MB", f"{median(ours) * 1e3:.0f} ms",
        against="a search for a word in their bytes", ratio=median(a / b for a, b in zip(ours, theirs, strict=True)),
        ratio_at_most="8",
    )  # fmt: skip
