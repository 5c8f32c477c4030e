"""Commands as whole processes, against a Python that does nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT

SCRIPT = Path(sys.executable).with_name("ptxspec")
NOTHING = ("python -c pass", lambda: run(sys.executable, "-c", "pass"))


def run(*arguments: object) -> None:
    subprocess.run([str(a) for a in arguments], stdout=subprocess.DEVNULL, check=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("command", "at_most", "ratio_at_most"),
    [
        ("query max.NaN.f32", "", "6"),
        # The opcode with the most variants.
        ("list --opcode set", "", "6"),
        ("list", "", ""),
        ("validate", "5000 ms", ""),
        ("generate --check", "8000 ms", ""),
    ],
)
def test_command(command: str, at_most: str, ratio_at_most: str, compare: Callable[..., None]) -> None:
    compare(
        f"ptxspec {command}", lambda: run(SCRIPT, *command.split()), *NOTHING,
        at_most=at_most, ratio_at_most=ratio_at_most,
    )  # fmt: skip


@pytest.mark.parametrize("line", ["query cvt.rn.", "eval fma.", "list --target sm_", "query --ptx 8"])
def test_completion(line: str, compare: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait at the Tab key is a small multiple of that for a Python that does nothing."""
    line = f"ptxspec {line}"
    shell = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_SHELL": "bash"}
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    compare(f"{line} and Tab", lambda: run("sh", "-c", f"{SCRIPT} 8>/dev/null"), *NOTHING, ratio_at_most="8")


def test_generate_everything(tmp_path: Path, compare: Callable[..., None]) -> None:
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder)

    def anew() -> None:
        shutil.rmtree(tmp_path / "generated", ignore_errors=True)
        run(SCRIPT, "generate", "--root", tmp_path)

    compare("ptxspec generate, everything anew", anew, *NOTHING, at_most="8000 ms")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A million lines of three numbers each: decimals, bits, and decimals with exponents."""
    rng = np.random.default_rng(2026)
    a, c = rng.uniform(-9, 9, (2, 10**6)).tolist()
    b = rng.integers(0, 1 << 32, 10**6).tolist()
    file = tmp_path / "rows.txt"
    file.write_text("".join(f"{x:.6g} 0x{y:08x} {z:.4e}\n" for x, y, z in zip(a, b, c, strict=True)), "ascii")
    return file


def test_a_million_rows(rows: Path, compare: Callable[..., None]) -> None:
    read = f"for line in open({str(rows)!r}): print(*(x if 'x' in x else float(x) for x in line.split()))"
    reading = ("Python reading and printing as many", lambda: run(sys.executable, "-c", read))
    batch = lambda: run(SCRIPT, "eval", "fma.rn.f32", "--batch", rows)  # noqa: E731
    compare("ptxspec eval fma.rn.f32 --batch, 1,000,000 rows", batch, *reading, rounds=3, at_most="10000 ms")
    vectors = lambda: run(SCRIPT, "vectors", "fma.rn.f32", "--rows", "1000000")  # noqa: E731
    compare("ptxspec vectors fma.rn.f32, 1,000,000 rows", vectors, *reading, rounds=3, at_most="10000 ms")
