"""The CUDA sources compile for every generation, and hold the instruction that each kernel is named after."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ptxspec.emit.cuda import is_current
from ptxspec.model import Spec, Variant
from ptxspec.ptxas import find_ptxas
from ptxspec.reading import read

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "generated" / "cuda").glob("*.cu"))
ARCHITECTURES = (75, 80, 86, 90, 100, 120)


@pytest.fixture(scope="module")
def nvcc() -> Path:
    beside = find_ptxas()
    found = beside.with_name("nvcc") if beside else None
    if found is None or not found.exists():
        pytest.skip("no nvcc found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    if shutil.which("g++") is None:
        pytest.skip("no host compiler: nvcc needs g++")
    return found


@pytest.fixture(scope="module")
def spec() -> Spec:
    return read(ROOT)


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def kernels(ptx: str) -> dict[str, str]:
    """The body of every kernel in a PTX file."""
    return {m[1]: m[2] for m in re.finditer(r"\.entry (\w+)\(.*?\)\s*\{(.*?)\n\}", ptx, re.DOTALL)}


def kernel_name(v: Variant) -> str:
    return "_".join((*v.spelling.split("."), str(v.operands)))


def test_each_opcode_has_a_source_and_each_current_variant_a_kernel(spec: Spec) -> None:
    assert {p.stem for p in SOURCES} == set(spec.instructions)
    for path in SOURCES:
        named = set(re.findall(r"__global__ void (\w+)\(", path.read_text("utf-8")))
        assert named == {kernel_name(v) for v in spec.instructions[path.stem].variants if is_current(spec, v)}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_kernels_compile_and_hold_their_instruction(
    source: Path, architecture: int, nvcc: Path, spec: Spec, tmp_path: Path
) -> None:
    ptx, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    run(
        nvcc, "-Werror", "all-warnings", f"-arch=sm_{architecture}", "-ptx", "-DPTXSPEC_KERNELS_ONLY", "-o", ptx, source
    )
    run(nvcc, f"-arch=sm_{architecture}", "-cubin", "-DPTXSPEC_KERNELS_ONLY", "-o", cubin, ptx)
    bodies = kernels(ptx.read_text("utf-8"))
    here = spec.targets[f"sm_{architecture}"].order
    for v in spec.instructions[source.stem].variants:
        if not is_current(spec, v):
            continue
        body = bodies.pop(kernel_name(v))
        # Nothing but this instruction may come of the operands that were loaded.
        found = re.findall(rf"\b{re.escape(v.spelling)}\s+%\S+((?:, ?%\S+)+);", body)
        taken = spec.targets[v.requires.target].order <= here
        assert [len(f.split(",")) - 1 for f in found] == ([v.operands] if taken else []), v
    assert not bodies


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_the_whole_test_program_compiles_without_a_warning(source: Path, nvcc: Path, tmp_path: Path) -> None:
    run(nvcc, "-Werror", "all-warnings", "-Xcompiler", "-Wall", "-arch=sm_100", "-c", "-o", tmp_path / "k.o", source)


def test_the_test_extra_brings_nvcc_on_linux_only() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r"nvidia-cuda-nvcc[^\"]*sys_platform == 'linux'", text)
    assert importlib.util.find_spec("ptxemu") is not None
