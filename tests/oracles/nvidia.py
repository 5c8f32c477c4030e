"""NVIDIA's assembler, compiler and disassembler, from a wheel or a toolkit; without one its tests are skipped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ptxspec.proving.ptxas.asking import find_ptxas, version


def ptxas(observed: str = "") -> Path:
    """The assembler; with `observed`, as `ptxas 13.5.37`, only the one that the specification records."""
    found = find_ptxas()
    if found is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    if observed and f"ptxas {version(found)}" != observed:
        pytest.skip(f"the specification records {observed}, and {found} is {version(found)}")
    return found


def nvcc() -> Path:
    found = ptxas().with_name("nvcc")
    if not found.exists() or shutil.which("g++") is None:
        pytest.skip("no nvcc found, or no g++ for it: install g++ and the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    return found


def nvdisasm() -> Path:
    found = ptxas().with_name("nvdisasm")
    if not found.exists():
        pytest.skip("no nvdisasm found: install the wheel nvidia-cuda-nvdisasm or the CUDA toolkit")
    return found
