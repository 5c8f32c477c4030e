"""Kernels in C, and what their tests know of each."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ptxemu
import pytest
from ptxemu import accelerator, compiling, kernel as kernels, lookup
from ptxemu.binary import Array
from ptxemu.signature import Signature, signature

A = np.array([1, 2.5, -3, np.inf, 1e-40], np.float32)
B = np.array([2, -2.5, 1e-9, 1, 1e-40], np.float32)


def skip_without_a_compiler() -> None:
    """For the top of a file: none of its tests runs without a C compiler."""
    try:
        compiling._compiler()
    except compiling.Failure as e:
        pytest.skip(str(e), allow_module_level=True)


class Function(NamedTuple):
    """A function of a generated module, with the signature of a variant that it computes."""

    apply: Callable[..., Array]
    signature: Signature


def functions(opcode: str) -> dict[str, Function]:
    module = importlib.import_module(f"ptxemu.instructions.{opcode}")
    found: dict[str, Function] = {}
    for row in lookup.rows_of(opcode):
        own = signature(row.signature)
        for function in module.KERNELS[row.variant.spelling, row.operands].values():
            known = found.get(function.__name__)
            if known is None or (own.flat, -own.lanes) > (known.signature.flat, -known.signature.lanes):
                found[function.__name__] = Function(function, own)
    return found


OPCODES = sorted({v.spelling.partition(".")[0] for v in ptxemu.variants()})
WITH_C = [opcode for opcode in OPCODES if accelerator.exported(opcode)]


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "_kernels", {})
    monkeypatch.setattr(accelerator, "_wrong", [])
    monkeypatch.setattr(compiling, "_said", set())
    monkeypatch.setattr(compiling, "_broken", [])
    kernels._compile.cache_clear()
    compiling.source.cache_clear()
    accelerator.exported.cache_clear()
    accelerator._headed.cache_clear()
    accelerator._loops.cache_clear()


def built(folder: Path, text: str, *flags: str) -> str:
    """C of a test's own as a library: its path."""
    # Folders are used again, and a library that is loaded stands for whatever comes to its path later.
    path = str(folder / f"{hashlib.sha256(text.encode()).hexdigest()}.so")
    compiling._build(compiling._compiler(), [*compiling.FLAGS, *flags], text, path, "C of a test's own")
    return path


def add(spelling: str = "add.rz.f32") -> Any:
    """The accelerator's part in a result that must be right."""
    kernel = ptxemu.compile(spelling)
    near = A.astype(np.float64) + B
    np.testing.assert_allclose(kernel(A, B), near, rtol=1e-6)
    return kernel._native
