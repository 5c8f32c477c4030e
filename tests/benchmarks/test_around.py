"""The costs other than the speed of one thread: memory, threads, import and the first call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import ptxemu
import pytest
import switch as switches
from families import FAMILIES, opcode
from kernels import SIZE, Measured, operands
from ptxemu import Variant

HERE = Path(__file__).parent
MANY = 1 << 24
SWITCHES = [("0", ""), ("1", ", accelerated")]
FIRST_CALL = """
import time, numpy, ptxemu
given = [numpy.ones(1000, bits) for bits in {bits}]
t = time.perf_counter()
ptxemu.execute("{v.spelling}", *given)
print(time.perf_counter() - t)
"""


def test_memory(around: Callable[..., None]) -> None:
    kernels = [Measured(family.variants[-1]) for family in FAMILIES]
    # The slowest would take minutes.
    most = {m.variant: extra_bytes(m) for m in kernels if m.size == SIZE}
    worst = max(most, key=lambda v: most[v])
    what = f"memory beyond operands and result, 2^24 elements: {worst.spelling}, the most of {len(most)}"
    around(what, f"{most[worst] / 1e6:.1f} MB", at_most="24 MB")


def extra_bytes(m: Measured) -> int:
    """The most that a call held at a time of NumPy's memory, beyond operands and result."""
    given = [np.tile(x, MANY // SIZE) for x in operands(m.type, "mixed")[: m.variant.operands]]
    out = np.empty(given[0].shape, m.out.dtype)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        m.kernel(*given, out=out)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def process(script: str, switch: str = "0") -> float:
    """Return the number that a script prints in a process of its own; `switch` turns the accelerator on or off."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=HERE,
        env=switches.environment(switch),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.parametrize(("switch", "how"), SWITCHES)
def test_threads(switch: str, how: str, around: Callable[..., None]) -> None:
    command = [sys.executable, HERE / "cores.py", "add.f32", "fma.rn.f64", "sin.approx.f32", "add.f16"]
    environment = switches.environment(switch)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE, env=environment)
    assert done.returncode == 0, done.stderr
    for found in map(json.loads, done.stdout.splitlines()):
        what = f"{found['spelling']} on all {os.cpu_count()} cores{how}"
        around(
            what,
            f"{found['of_one']:.2f} times one core's speed",
            against="as many processes",
            ratio=found["of_processes"],
        )


def test_import(around: Callable[..., None]) -> None:
    def taken(package: str) -> float:
        script = f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
        return process(script)

    taken("ptxemu")
    pairs = [(taken("ptxemu"), taken("numpy")) for _ in range(11)]
    ratio = median(ours / theirs for ours, theirs in pairs)
    took = f"{median(ours for ours, _ in pairs) * 1e3:.0f} ms"
    around("import ptxemu", took, against="import numpy", ratio=ratio, ratio_at_most="1.5")


@pytest.mark.parametrize(("switch", "how"), SWITCHES)
def test_first_call(switch: str, how: str, around: Callable[..., None]) -> None:
    """The first call in a process, which imports the opcode's module. One variant of each opcode."""
    firsts = {opcode(v): v for v in reversed(ptxemu.variants())}.values()
    took = {v: median(first_calls(v, switch)) for v in firsts}
    worst = max(took, key=lambda v: took[v])
    around(
        f"first call in a process{how}: {worst.spelling}, the longest of {len(took)} opcodes",
        f"{took[worst] * 1e3:.1f} ms", at_most="5 ms",
    )  # fmt: skip


def first_calls(v: Variant, switch: str) -> list[float]:
    """Seconds of three, after one that brings files into the system's cache."""
    registers = ptxemu.compile(v.spelling, v.operands)._signature.registers
    script = FIRST_CALL.format(bits=[t.bits.name for _, t in registers], v=v)
    return [process(script, switch) for _ in range(4)][1:]
