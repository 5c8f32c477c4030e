"""Commands as whole processes, against a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).with_name("ptxspec")


@pytest.mark.parametrize(
    "command",
    [["query", "max.NaN.f32"], ["list"], ["validate"], ["generate", "--check"]],
    ids=" ".join,
)
def test_command(command: list[str], compare: Callable[..., None]) -> None:
    def run(*arguments: object) -> None:
        subprocess.run([str(a) for a in arguments], stdout=subprocess.DEVNULL, check=True, cwd=ROOT)

    compare(
        f"ptxspec {' '.join(command)}",
        lambda: run(SCRIPT, *command),
        "python -c pass",
        lambda: run(sys.executable, "-c", "pass"),
    )
