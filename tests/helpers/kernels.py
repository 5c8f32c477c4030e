"""The sources of generated/cuda: those of instructions, and those of forms of mma."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from helpers import ROOT

FOLDER = ROOT / "generated" / "cuda"
OF_INSTRUCTIONS = sorted(p for p in FOLDER.glob("*.cu") if (ROOT / f"spec/instructions/{p.stem}.yaml").exists())
OF_FORMS = sorted({*FOLDER.glob("*.cu")} - {*OF_INSTRUCTIONS})


def run(*command: object) -> str:
    """Return the output of a tool, which has to succeed."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def bodies(ptx: str) -> dict[str, str]:
    """The body of every kernel in a PTX file."""
    return {m[1]: m[2] for m in re.finditer(r"\.entry (\w+)\(.*?\)\s*\{(.*?)\n\}", ptx, re.DOTALL)}


def generations(nvcc: Path) -> list[str]:
    """Every target that this toolkit assembles for."""
    listed = run(nvcc.with_name("ptxas"), "--help")
    known = set(re.findall(r"'(sm_\d+[af]?)'", listed.partition("--gpu-name")[2].partition("--")[0]))
    return sorted(known)
