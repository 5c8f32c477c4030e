"""NVIDIA's own conversions of narrow formats, from the headers of CUDA's runtime, compiled for this processor.

The wheels nvidia-cuda-runtime and nvidia-cuda-cccl carry the headers, which have a path for processors beside the one
for GPUs. It is compiled when it is asked for first; without headers or a compiler the tests that ask are skipped.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

Bits = NDArray[Any]

HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
# The name of a source in NVIDIA's functions, the type that they take, and that of its bits.
SOURCES = {
    "f32": ("float", "float", "float"),
    "f16": ("halfraw", "__half_raw", "unsigned short"),
    "bf16": ("bfloat16raw", "__nv_bfloat16_raw", "unsigned short"),
}
WIDE = {"f16": "halfraw", "bf16": "bf16raw"}
FAMILIES = {
    "e4m3": "fp8", "e5m2": "fp8", "e2m3": "fp6", "e3m2": "fp6", "e2m1": "fp4", "ue8m0": "e8m0", "ue5m3": "ue5m3",
}  # fmt: skip
ROUNDINGS = {"rn": "cudaRoundNearest", "rz": "cudaRoundZero", "rp": "cudaRoundPosInf"}
# The directions that the functions have which PTX has too, and whether they saturate. FP8 is rounded to nearest alone.
DIRECTIONS = {
    "e4m3": ("rn",), "e5m2": ("rn",), "e2m3": ("rn", "rz"), "e3m2": ("rn", "rz"), "e2m1": ("rn", "rz"),
    "ue8m0": ("rz", "rp"), "ue5m3": ("rn", "rz", "rp"),
}  # fmt: skip
SATURATION = {f: (True, False) if f in ("ue8m0", "ue5m3") else (True,) for f in FAMILIES}
DTYPES = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}


def to_narrow(to: str, source: str, rounding: str, satfinite: bool, x: Bits) -> Bits:
    """Numbers, as bits, in a narrow format: their encodings."""
    return _applied(_name(to, source, rounding, satfinite), np.uint8, x.astype(DTYPES[source], copy=False))


def from_narrow(source: str, to: str, x: Bits) -> Bits:
    """Encodings of a narrow format as bits of f16 or bf16."""
    return _applied(f"{source}_as_{to}", np.uint16, x.astype(np.uint8, copy=False))


def has(to: str, source: str, rounding: str, satfinite: bool) -> bool:
    """Return whether NVIDIA's headers have a function for a conversion."""
    return _name(to, source, rounding, satfinite) in {f.name for f in _functions()}


def _name(to: str, source: str, rounding: str, satfinite: bool) -> str:
    return f"{source}_to_{to}_{rounding}_{'sat' if satfinite else 'nosat'}"


def _applied(name: str, dtype: Any, x: Bits) -> Bits:
    x = np.ascontiguousarray(x)
    found = np.empty(x.shape, dtype)
    places = (ctypes.c_void_p(a.ctypes.data) for a in (x, found))
    getattr(_library(), name)(*places, ctypes.c_size_t(x.size))
    return found


class _Function(NamedTuple):
    """`operand` and `result` are types as they lie in memory; `read` makes a y of an x, `call` is what comes of it."""

    name: str
    operand: str
    result: str
    read: str
    call: str

    @property
    def text(self) -> str:
        head = f'extern "C" void {self.name}(const {self.operand} *in, {self.result} *out, unsigned long n)'
        loop = "for (unsigned long i = 0; i < n; i++)"
        return f"{head} {{ {loop} {{ {self.operand} x = in[i]; {self.read}; out[i] = {self.call}; }} }}"


@cache
def _functions() -> tuple[_Function, ...]:
    """All conversions that the headers have."""
    found = []
    for narrow, family in FAMILIES.items():
        interpretation = [f"__NV_{narrow.upper()}"] * (family in ("fp8", "fp6", "fp4"))
        for source, (named, type_, memory) in SOURCES.items():
            if (narrow, source) == ("ue8m0", "f16"):
                continue
            read = f"{type_} y = x" if source == "f32" else f"{type_} y; y.x = x"
            for rounding, satfinite in itertools.product(DIRECTIONS[narrow], SATURATION[narrow]):
                arguments = ["y"]
                arguments += ["__NV_SATFINITE" if satfinite else "__NV_NOSAT"] * (family not in ("fp6", "fp4"))
                arguments += interpretation
                arguments += [ROUNDINGS[rounding]] * (family != "fp8")
                call = f"__nv_cvt_{named}_to_{family}({', '.join(arguments)})"
                found.append(_Function(_name(narrow, source, rounding, satfinite), memory, "unsigned char", read, call))
        for wide, named in WIDE.items():
            if (narrow, wide) != ("ue8m0", "f16"):
                call = f"__nv_cvt_{family}_to_{named}({', '.join(['x', *interpretation])}).x"
                found.append(_Function(f"{narrow}_as_{wide}", "unsigned char", "unsigned short", "", call))
    return tuple(found)


@cache
def _library() -> ctypes.CDLL:
    folders = _include_folders()
    if not folders:
        pytest.skip("no headers of CUDA's runtime: install the wheels nvidia-cuda-runtime and nvidia-cuda-cccl")
    compiler = _compiler()
    if compiler is None:
        pytest.skip("no compiler for C++: install g++, or the wheel ziglang")
    folder = Path(tempfile.mkdtemp(prefix="host-code-"))
    source, library = folder / "host_code.cpp", folder / "host_code.so"
    source.write_text("\n".join([*(f"#include <{h}>" for h in HEADERS), *(f.text for f in _functions()), ""]), "utf-8")
    # -O1 is what these loops need; NVIDIA's code is no slower for it.
    command = [*compiler, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", *(f"-I{f}" for f in folders)]
    made = subprocess.run([*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"NVIDIA's headers do not compile:\n{made.stderr[-4000:]}"
    try:
        return ctypes.CDLL(str(library))
    finally:
        shutil.rmtree(folder)


def _include_folders() -> list[Path]:
    """Return the folders of the headers and of <nv/target>, or none where one is missing."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    found = [f for r in roots for f in sorted(r.glob("cu[0-9]*/include")) if (f / HEADERS[-1]).exists()]
    targets = [t.parent.parent for r in roots for t in sorted(r.glob("**/nv/target"))]
    return [found[-1], targets[0]] if found and targets else []


def _compiler() -> list[str] | None:
    for name in ("g++", "c++", "clang++"):
        if path := shutil.which(name):
            return [path]
    return [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else None
