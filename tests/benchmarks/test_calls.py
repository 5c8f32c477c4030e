"""What a call costs besides what it computes: on one element and a few, with NumPy alone and in C."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOME = ["add.f32", "fma.rn.f32", "add.f16", "fma.rn.bf16", "max.NaN.f32", "fma.rn.f64", "setp.lt.f32"]
# Microseconds, the least of many rounds: of a call, of the function or of numpy.add, and of `execute`.
TIMES = """
import json, sys, time
import numpy as np, ptxemu
from timing import in_turn

def least(*functions):
    def often(f):
        def run():
            for _ in range(200): f()
        return run
    found = in_turn(*map(often, functions), rounds=30, clock=time.thread_time)
    return [min(times) / 200 * 1e6 for times in found]

found = {}
for spelling in sys.argv[2:]:
    kernel = ptxemu.compile(spelling)
    s, size = kernel._signature, int(sys.argv[1])
    types = [t for _, t in s.registers]
    given = [np.ones(size, t.native or t.bits) for t in types]
    lanes = [x.view(t.lane) for x, t in zip(given, types)]
    # One element is not worth a compiler; more are.
    kernel(*(np.resize(x, 2) for x in given))
    kernel(*given)
    found[spelling] = least(
        lambda: kernel(*given),
        lambda: kernel._function(*lanes),
        lambda: ptxemu.execute(spelling, *given),
        lambda: np.add(given[0], given[0]),
    )
print(json.dumps(found))
"""


def times(size: int, switch: str) -> dict[str, list[float]]:
    command = [sys.executable, "-c", TIMES, str(size), *SOME]
    environment = {**os.environ, "PTXEMU_ACCELERATOR": switch}
    # What compiles says so the first time.
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE, env=environment)
        assert done.returncode == 0, done.stderr
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def test_a_call_on_one_element(around: Callable[..., None]) -> None:
    found = times(1, "0")
    more = {spelling: call - function for spelling, (call, function, _, _) in found.items()}
    worst = max(more, key=lambda s: more[s])
    what = f"a call on one element, beyond its function: {worst}, the most of {len(found)}"
    around(what, f"{more[worst]:.1f} µs", at_most="3 µs")
    narrow = {s: function for s, (_, function, _, _) in found.items() if "f16" in s}
    worst = max(narrow, key=lambda s: narrow[s])
    around(
        f"the function of {worst} on one element, the most of {len(narrow)}", f"{narrow[worst]:.1f} µs", at_most="12 µs"
    )
    by_spelling = {s: execute - call for s, (call, _, execute, _) in found.items()}
    worst = max(by_spelling, key=lambda s: by_spelling[s])
    around(f"execute by spelling, beyond the kernel's call: {worst}", f"{by_spelling[worst]:.1f} µs", at_most="1.5 µs")


@pytest.mark.skipif(not importlib.util.find_spec("ptxemu.accelerator"), reason="there is no accelerator")
@pytest.mark.parametrize("size", [1, 256])
def test_a_call_in_c(size: int, around: Callable[..., None]) -> None:
    found: dict[str, Any] = times(size, "1")
    worst = max(found, key=lambda s: found[s][0])
    call, _, _, add = found[worst]
    elements = f"{size} element{'s' * (size > 1)}"
    around(
        f"a call on {elements}, accelerated: {worst}, the most of {len(found)}", f"{call:.1f} µs", at_most="2 µs",
        against="numpy.add", ratio=call / add,
    )  # fmt: skip
