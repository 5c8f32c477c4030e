"""Ratios taken in one run; nothing fails for being slow. `pytest tests/benchmarks` prints them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import pytest

Row = tuple[str, str, str]
ROWS: list[Row] = []


@pytest.fixture
def compare() -> Callable[[str, Callable[[], object], str, Callable[[], object]], None]:
    """Time two things in turn and report the median of their ratios: compare("ours", f, "theirs", g)."""

    def run(
        name: str, ours: Callable[[], object], yardstick: str, theirs: Callable[[], object], rounds: int = 9
    ) -> None:
        def seconds(f: Callable[[], object]) -> float:
            start = time.perf_counter()
            f()
            return time.perf_counter() - start

        seconds(ours), seconds(theirs)
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
        ratio = statistics.median(a / b for a, b in pairs)
        took = statistics.median(a for a, _ in pairs)
        ROWS.append((name, f"{took * 1e3:9.2f} ms", f"{ratio:7.2f} x {yardstick}"))

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if ROWS:
        width = max(len(name) for name, _, _ in ROWS)
        terminalreporter.write_line("")
        for name, took, ratio in ROWS:
            terminalreporter.write_line(f"{name.ljust(width)}  {took}  {ratio}")
