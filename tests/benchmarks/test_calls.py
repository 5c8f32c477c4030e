"""The cost of a call besides what it computes: on one element and a few, with NumPy alone and in C."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import switch as switches
from tables import Table

HERE = Path(__file__).parent
SIZES = (1, 256)
# Kernels of each kind: plain and packed, of several types, with predicates, and one whose C leaves lanes to NumPy.
SOME = [
    "add.f32", "fma.rn.f32", "fma.rn.f64", "add.f16", "fma.rn.bf16", "add.f16x2", "max.NaN.f32", "cvt.rn.f16x2.f32",
    "setp.lt.f32", "setp.lt.and.f32", "setp.lt.f16x2", "sin.approx.f32",
]  # fmt: skip
# Microseconds, the least of many rounds: of a call, of the function, of `execute`, and of numpy.add.
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

found, one = {}, np.ones(int(sys.argv[1]), np.float32)
for spelling in sys.argv[2:]:
    kernel = ptxemu.compile(spelling)
    s, function = kernel._signature, kernel._choice[0]
    types = [t for _, t in s.registers]
    given = [np.ones(one.size, t.native or t.bits) for t in types]
    bits = [x.view(t.bits) for x, t in zip(given, types)]
    lanes = [x.view(t.lane) for x, t in zip(bits, types)]
    for results in range(1, len(s.results) + 1):
        kernel(*given, results=results)
        found[spelling + ", p and q" * (results > 1)] = least(
            lambda: kernel(*given, results=results),
            (lambda: function(*lanes)) if s.flat else (lambda: s.apply(function, *bits)),
            lambda: ptxemu.execute(spelling, *given, results=results),
            lambda: np.add(one, one),
        )
print(json.dumps(found))
"""


def printed(script: str, switch: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=HERE, env=switches.environment(switch)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def times(size: int, switch: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = json.loads(printed(TIMES, switch, str(size), *SOME))
    return found


def elements(size: int) -> str:
    return f"{size} element{'s' * (size > 1)}"


def test_a_call_on_one_element(around: Callable[..., None]) -> None:
    found = times(1, "0")
    more = {spelling: call - function for spelling, (call, function, _, _) in found.items()}
    worst = max(more, key=lambda s: more[s])
    what = f"a call on one element, beyond its function: {worst}, the most of {len(found)}"
    around(what, f"{more[worst]:.1f} µs", against="numpy.add", ratio=more[worst] / found[worst][3], ratio_at_most="20")
    by_spelling = {s: execute - call for s, (call, _, execute, _) in found.items()}
    worst = max(by_spelling, key=lambda s: by_spelling[s])
    around(f"execute by spelling, beyond the kernel's call: {worst}", f"{by_spelling[worst]:.1f} µs", at_most="1.5 µs")


@pytest.mark.parametrize("size", SIZES)
def test_a_call_in_c(size: int, around: Callable[..., None]) -> None:
    found = times(size, "1")
    worst = max(found, key=lambda s: found[s][0])
    call, _, _, add = found[worst]
    around(
        f"a call on {elements(size)}, accelerated: {worst}, the most of {len(found)}", f"{call:.1f} µs",
        at_most="1.5 µs", against="numpy.add", ratio=call / add,
    )  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_calls_are_a_table(size: int, calls_table: Table) -> None:
    numpy, c = (times(size, switch) for switch in ("0", "1"))
    for spelling, (call, function, _, add) in numpy.items():
        in_c, _, _, beside = c[spelling]
        cells = f"{call:.1f}", f"{function:.1f}", f"{call / add:.1f}", f"{in_c:.1f}", f"{in_c / beside:.1f}"
        calls_table.rows.append([f"{spelling}, {elements(size)}", *cells])
