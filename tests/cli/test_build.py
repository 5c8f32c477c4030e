"""build --native: kernels for machines without a compiler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("gcc") or sys.platform != "linux", reason="gcc is not there")

CALLS = """
import numpy as np, ptxemu
a = np.array([1, 2.5, -0.0, np.nan], np.float32)
print(ptxemu.execute("neg.f32", a).view(np.uint32).tolist(), ptxemu.compile("neg.f32").is_in_c,
      ptxemu.compile("abs.f32").is_in_c)
"""


def ptxspec(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptxspec", *map(str, arguments), "--root", str(ROOT)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def calls(folder: Path, switch: str = "") -> str:
    """Return what a process without a compiler prints when it finds the folder."""
    path = os.pathsep.join([str(folder), str(ROOT / "generated" / "python")])
    environment = {k: v for k, v in os.environ.items() if k not in ("CC", "PTXEMU_ACCELERATOR")}
    environment |= {"PYTHONPATH": path, "PATH": "/nowhere", "XDG_CACHE_HOME": str(folder / "cache")}
    environment |= {"PTXEMU_ACCELERATOR": switch} if switch else {}
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = ptxspec("build", "--native", folder, "neg")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{folder}: ") and "kernels in C; `pip wheel" in done.stdout
    return folder


def test_what_was_built_runs_where_there_is_no_compiler(built: Path) -> None:
    assert sorted(p.name for p in built.iterdir() if p.name != "cache") == [
        "ptxemu_native",
        "pyproject.toml",
        "setup.py",
    ]
    bits = [0xBF800000, 0xC0200000, 0x00000000, 0x7FFFFFFF]
    assert calls(built) == f"{bits} True False\n"
    assert calls(built, "0") == f"{bits} False False\n"
    assert not (built / "cache").exists()


@pytest.mark.parametrize("damage", ["cut short", "another processor", "another version"])
def test_what_does_not_fit_is_left_alone(built: Path, damage: str, tmp_path: Path) -> None:
    folder = shutil.copytree(built, tmp_path / "wheel")
    index = folder / "ptxemu_native" / "index.json"
    read = json.loads(index.read_text())
    if damage == "cut short":
        (library,) = (folder / "ptxemu_native").glob("*.so")
        library.write_bytes(library.read_bytes()[:5000])
    elif damage == "another processor":
        read["needs"] += ["avx1024"]
    else:
        read["kernels"] = {f"{key}0": entry for key, entry in read["kernels"].items()}
    index.write_text(json.dumps(read))
    assert calls(folder).endswith(" False False\n")


def test_an_unknown_opcode_is_said(tmp_path: Path) -> None:
    done = ptxspec("build", "--native", tmp_path / "wheel", "negg")
    assert done.returncode == 2 and "did you mean 'neg'" in done.stderr and not (tmp_path / "wheel").exists()
