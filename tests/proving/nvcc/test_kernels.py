"""Our own kernels in CUDA, compiled by nvcc and run here: kernels, compiler and emulator are held against each other
without a GPU."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.kernels import OF_INSTRUCTIONS
from helpers.sizes import spread
from numpy.typing import NDArray
from ptxspec.model import BOOL, Spec, Variant
from ptxspec.proving.gpu import vectors

pytestmark = pytest.mark.inputs(
    "emulator",
    "kernels",
    *(f"generated/python/ptxemu/{name}.py" for name in ("entries", "memory", "statements", "straightline", "threads")),
)

OPCODES = [p.stem for p in OF_INSTRUCTIONS]
# Together they have every variant that some target of nvcc has.
TARGETS = ("sm_107a", "sm_100a", "sm_120a", "sm_90", "sm_75")
ROWS = 300
BLOCK = 128


def compiled(opcode: str, target: str, nvcc: Path, folder: Path) -> dict[str, str]:
    """Return the modules of an opcode's kernels by their names, each with one."""
    source, made = ROOT / f"generated/cuda/{opcode}.cu", folder / "k.ptx"
    command = [nvcc, f"-arch={target}", "-ptx", "-DPTXSPEC_KERNELS_ONLY", "-o", made, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, *entries = re.split(r"^(?=\.visible \.entry)", made.read_text("utf-8"), flags=re.MULTILINE)
    return {re.findall(r"\w+", e)[2]: head + e for e in entries}


def name_of(v: Variant) -> str:
    return "_".join((*v.spelling.replace("::", ".").split("."), str(v.operands)))


def operands_of(v: Variant) -> list[NDArray[Any]]:
    """Special values and random ones, register by register."""
    parts = list(vectors.parts(v, vectors.Sizes(random=ROWS)))
    columns = [vectors.operands(v, part.stream, 0, min(part.count, ROWS)) for part in parts]
    return [np.concatenate(c) for c in zip(*columns, strict=True)]


def as_bits(x: NDArray[Any], width: int) -> NDArray[Any]:
    """Return a result as the kernel stores it: a predicate is a word."""
    return (x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")).astype(f"u{width}")


def check(v: Variant, text: str, target: str) -> None:
    given = operands_of(v)
    size = given[0].size
    types = [s.type for s in v.sources for _ in s.places]
    arrays = [x.astype(bool) if t.kind == BOOL else x for x, t in zip(given, types, strict=True)]
    run = ptxemu.compile(v.spelling, v.operands, target)
    found = run(*arrays, results=len(v.results))
    wanted = found if isinstance(found, tuple) else (found,)
    outputs = [np.zeros(size, np.uint32 if x.dtype == bool else f"u{x.dtype.itemsize}") for x in wanted]
    kernel = ptxemu.kernel(text, name_of(v))
    kernel(-(-size // BLOCK), BLOCK, *(np.ascontiguousarray(x) for x in given), *outputs, size)
    for output, want in zip(outputs, wanted, strict=True):
        assert (output == as_bits(want, output.itemsize)).all(), (str(v), target)


def check_opcode(opcode: str, nvcc: Path, spec: Spec, folder: Path, count: int | None) -> None:
    left = {v for v in spec.instructions[opcode].variants if spec.has_kernel(v)}
    for target in TARGETS:
        here = [v for v in spec.instructions[opcode].variants if v in left and spec.catalog.takes(v.requires, target)]
        modules = compiled(opcode, target, nvcc, folder) if here else {}
        for v in here if count is None else spread(here, count):
            check(v, modules[name_of(v)], target)
        left -= {*here}
    elsewhere = {t for v in left for t in spec.targets if spec.catalog.takes(v.requires, t)}
    assert not left or not any(spec.targets[t].nvcc for t in elsewhere), left


@pytest.mark.parametrize("opcode", ["prmt", "slct", "tanh"])
def test_some_kernels_give_what_the_emulator_gives(opcode: str, nvcc: Path, spec: Spec, tmp_path: Path) -> None:
    check_opcode(opcode, nvcc, spec, tmp_path, 3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", OPCODES)
def test_all_kernels_give_what_the_emulator_gives(opcode: str, nvcc: Path, spec: Spec, tmp_path: Path) -> None:
    check_opcode(opcode, nvcc, spec, tmp_path, None)
