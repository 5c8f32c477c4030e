"""What is not the speed of one thread: memory, threads, import and the first call."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np
import ptxemu
import pytest
from families import FAMILIES, opcode, type_of
from kernels import SIZE, Measured, operands
from ptxemu import Variant
from timing import in_turn

MANY = 1 << 24


def test_memory(around: Callable[..., None]) -> None:
    most = {v: extra_bytes(v) for family in FAMILIES for v in family.variants[-1:]}
    worst = max(most, key=lambda v: most[v])
    around(
        f"memory beyond operands and result, 2^24 elements: {worst.spelling}, the most of {len(most)}",
        f"{most[worst] / 1e6:.1f} MB", at_most="32 MB",
    )  # fmt: skip


def extra_bytes(v: Variant) -> int:
    """The most that a call held at a time of NumPy's memory, beyond operands and result."""
    m = Measured(v)
    # The slowest kernels would take minutes.
    times = MANY // SIZE if m.size == SIZE else 1
    given = [np.tile(x[: m.size], times) for x in operands(m.type, "mixed")[: v.operands]]
    out = np.empty(given[0].shape, m.out.dtype)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        m.kernel(*given, out=out)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("spelling", ["add.f32", "fma.rn.f64", "sin.approx.f32"])
def test_threads(spelling: str, around: Callable[..., None]) -> None:
    if "threads" not in inspect.signature(ptxemu.Kernel.__call__).parameters:
        pytest.skip("kernels take no threads= yet")
    kernel = ptxemu.compile(spelling)
    given = [np.tile(x, 4) for x in operands(spelling.split(".")[-1], "random")[: kernel.operands]]
    out = np.empty_like(given[0])
    every, one = in_turn(
        lambda: kernel(*given, out=out, threads=None), lambda: kernel(*given, out=out, threads=1), rounds=7
    )
    ratio = median(a / b for a, b in zip(every, one, strict=True))
    took = f"{median(every) / out.size * 1e9:.2f} ns"
    around(f"{spelling} on all {os.cpu_count()} cores", took, against="one thread", ratio=ratio)


def seconds(script: str) -> float:
    """What a script in a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_import(around: Callable[..., None]) -> None:
    def taken(package: str) -> float:
        return seconds(f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)")

    pairs = [(taken("ptxemu"), taken("numpy")) for _ in range(11)]
    ratio = median(ours / theirs for ours, theirs in pairs)
    took = f"{median(ours for ours, _ in pairs) * 1e3:.0f} ms"
    around("import ptxemu", took, against="import numpy", ratio=ratio, ratio_at_most="1.5")


def test_first_call(around: Callable[..., None]) -> None:
    """The first call in a process, which imports the opcode's module. One variant of each opcode."""
    firsts = {opcode(v): v for v in reversed(ptxemu.variants())}.values()
    took = {v: median(first_call(v) for _ in range(3)) for v in firsts}
    worst = max(took, key=lambda v: took[v])
    around(
        f"first call in a process: {worst.spelling}, the longest of {len(took)} opcodes",
        f"{took[worst] * 1e3:.1f} ms", at_most="5 ms",
    )  # fmt: skip


def first_call(v: Variant) -> float:
    bits = operands(type_of(v), "random")[0].dtype
    return seconds(f"""
import time, numpy, ptxemu
given = [numpy.ones(1, "{bits}")] * {v.operands}
t = time.perf_counter()
ptxemu.execute("{v.spelling}", *given)
print(time.perf_counter() - t)
""")
