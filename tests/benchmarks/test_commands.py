"""Commands as whole processes, against a Python that does nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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
    """What a shell waits for at the Tab key."""
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
