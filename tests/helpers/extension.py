"""The kernels in C, built for tests and put where ptxemu finds them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ptxemu

from helpers import ROOT

PACKAGE = ptxemu.native.PACKAGE


def build(folder: Path, opcodes: Sequence[str] = (), flags: str = "", source: Path = ROOT / "generated/native") -> Path:
    """Return a folder of a path where the kernels of these opcodes are installed, or of all."""
    options = ["-C", f"setup-args=-Dopcodes={','.join(opcodes)}"] if opcodes else []
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--target", str(folder), *options, "-C", f"build-dir={folder}-build",
         str(source)],
        env={**os.environ, "CFLAGS": flags}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return folder


def library(folder: Path, text: str) -> ctypes.CDLL:
    """Return C of a test's own that includes headers of the extension, compiled."""
    made = folder / "library.so"
    command = [os.environ.get("CC", "cc"), "-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-x", "c", "-"]
    sources = ROOT / "generated/native/src"
    subprocess.run([*command, f"-I{sources}", "-o", str(made), "-lm"], input=text, text=True, check=True)
    return ctypes.CDLL(str(made))


@contextmanager
def installed(folder: Path | None, emulator: Any = ptxemu) -> Iterator[None]:
    """Have an emulator find what is installed in a folder, and nothing else."""
    before = list(sys.path), {n: m for n, m in sys.modules.items() if n.partition(".")[0] == PACKAGE}
    _forget(emulator)
    if folder is not None:
        sys.path.insert(0, str(folder))
    else:
        sys.modules[PACKAGE] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.path[:] = before[0]
        _forget(emulator)
        sys.modules.update(before[1])


def _forget(emulator: Any) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    emulator.native._module.cache_clear()
    emulator.native._say.cache_clear()
    emulator.kernels._compile.cache_clear()
