"""`pytest tests/benchmarks` prints what is measured; with --record also to spec/observed/speed.yaml and the manual.

Nothing fails for being slow, but for what takes more than its proportion (test_proportion.py). The packages to compare
with come with `pip install -e '.[test,benchmark]'`.
`-k "f64 and fma"` measures that family alone; kernels.py measures single variants.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from helpers import ROOT
from peers import PEERS, installed
from ptxspec.emit import generate
from softfloat import library
from tables import FIGURES, Table, as_yaml, machine
from timing import in_turn

KERNELS = Table(
    "Kernels",
    "Each row is a group of variants, and shows the slowest of them, on 2^20 random bit patterns, with out= and on "
    "one thread. Times are processor times; what is compared is measured in turn. SoftFloat is the copy inside "
    "softfloatpy; built by gcc -O2 with all of its own options, it took up to a quarter less time. A library's "
    "time is the median over the operations of the group that it has, without converting operands to its numbers "
    "and back. Its results are compared with MPFR's on random bit patterns and a grid of special values; where the "
    "result is a NaN, any NaN is right. 'ns': nanoseconds per element. 'x add': the slowest variant's time divided "
    "by that of numpy.add on as many float32 numbers; the aim is in parentheses. 'median': the same for the "
    "group's median. 'x own': the largest ratio of a variant's time to that of NumPy's operation of its name. 'x "
    "SoftFloat': the largest ratio to the time of Berkeley SoftFloat 3e's function, called from C on the same "
    "operands. The aim is 1.2, and 0.5 for the kernels in C. 'specials': the largest ratio of the time on "
    "subnormals, NaNs or a mixture of all kinds to the time on ordinary numbers. The aim is 3. Some processors "
    "miss it on subnormal f64 numbers, for which there is no wider format.",
    ["family", "variants", *FIGURES, *(f"C {figure}" for figure in FIGURES), *installed()],
)
CALLS = Table(
    "Calls",
    "Each row is a call that allocates its result, on few elements. The operands are ones, in the native type "
    "where there is one. Each time is the least of 30 rounds, in processor time. 'µs': microseconds per call with "
    "NumPy alone. 'function': the microseconds of the computation itself; the rest is the frame around it. 'x "
    "numpy.add': the call's time divided by that of numpy.add on as many float32 numbers. 'C µs': microseconds per "
    "call with the kernels in C. The aim is 2.",
    ["call", "µs", "function", "x numpy.add", "C µs", "C x numpy.add"],
)
AROUND = Table(
    "Around the kernels",
    "Times are medians, measured in turn. Rows that say accelerated are those of the kernels in C.",
    ["what", "measured", "at most", "against", "ratio", "ratio at most"],
)
PROPORTION = Table(
    "Proportion",
    "Each row is the time for eight times as much, divided by the time for as much. 64 would be quadratic.",
    ["what", "ratio"],
)
NOTES: list[str] = []
# Nothing is recorded where more processes than that wanted a processor in the last minute.
QUIET = 0.5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record", action="store_true", help="write the figures to spec/observed/speed.yaml and the manual"
    )


def pytest_configure(config: pytest.Config) -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if config.getoption("--record", False) and load > QUIET:
        message = f"--record: others are at work here (a load of {load:.1f}), and what they take would be recorded"
        raise pytest.UsageError(f"{message}; wait until it is below {QUIET:g}")


@pytest.fixture
def kernels_table() -> Table:
    return KERNELS


@pytest.fixture
def calls_table() -> Table:
    return CALLS


@pytest.fixture
def note() -> Callable[[str], None]:
    """Say something below the tables."""
    return NOTES.append


@pytest.fixture
def around() -> Callable[..., None]:
    """Add a line: around("what", "8.1 MB", at_most="32 MB")."""

    def add(
        what: str,
        measured: str,
        at_most: str = "",
        against: str = "",
        ratio: float | None = None,
        ratio_at_most: str = "",
    ) -> None:
        AROUND.rows.append([what, measured, at_most, against, "" if ratio is None else f"{ratio:.2f}", ratio_at_most])

    return add


@pytest.fixture
def proportion() -> Callable[[str, float], None]:
    """Add a line: proportion("what", 8.1)."""
    return lambda what, ratio: PROPORTION.rows.append([what, f"{ratio:.1f}"])


@pytest.fixture
def compare(around: Callable[..., None]) -> Callable[..., None]:
    """Time two things in turn and report the median of their ratios: compare("ours", f, "theirs", g)."""

    def run(
        name: str,
        ours: Callable[[], object],
        yardstick: str,
        theirs: Callable[[], object],
        rounds: int = 5,
        at_most: str = "",
        ratio_at_most: str = "",
    ) -> None:
        mine, other = in_turn(ours, theirs, rounds=rounds)
        ratio = median(a / b for a, b in zip(mine, other, strict=True))
        around(name, f"{median(mine) * 1e3:.0f} ms", at_most, yardstick, ratio, ratio_at_most)

    return run


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With --record: write what was measured, if that was all of it."""
    if not session.config.getoption("--record"):
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = {item.path.stem for item in session.items} | {"test_proportion"}
    everything = ran == {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    if exitstatus != 0 or not everything or reporter.stats.get("deselected"):
        NOTES.append("nothing is recorded: not all benchmarks ran")
        return
    path = ROOT / "spec" / "observed" / "speed.yaml"
    path.write_text(as_yaml([KERNELS, CALLS, AROUND], machine(installed())), "utf-8", newline="\n")
    generate.generate(ROOT)
    NOTES.append(f"recorded: {path}, and generated/ with it")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for table in (KERNELS, CALLS, AROUND, PROPORTION):
        if table.rows:
            for line in ("", f"{table.title}. {table.note}", "", *table.lines()):
                terminalreporter.write_line(line)
    missing = [peer for peer in PEERS if peer not in installed()]
    NOTES.extend(f"{peer} is left out: pip install -e '.[benchmark]' brings it" for peer in missing)
    if isinstance(lacking := library(), str):
        NOTES.append(f"x SoftFloat is left out: {lacking}")
    for line in dict.fromkeys(NOTES):
        terminalreporter.write_line(line)
