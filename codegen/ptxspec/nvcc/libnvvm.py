"""libnvvm -> the PTX of LLVM's intrinsics: a kernel for each, as in `compiling` for functions of CUDA C++."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..model import Signature
from .compiling import NvccError
from .headers import Call, arguments

LLVM = "LLVM"
# The options that nvcc passes on for -use_fast_math.
FAST = ("-ftz=1", "-prec-div=0", "-prec-sqrt=0")
# Below the folder of bin/nvcc: in the wheel, in the toolkit, and in that of Windows.
_PLACES = ("lib/libnvvm.so*", "nvvm/lib64/libnvvm.so*", "nvvm/bin/nvvm*.dll")
_LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)


def find(nvcc: Path) -> Path | None:
    """Return the path of the libnvvm that belongs to an nvcc."""
    folder = nvcc.resolve().parent.parent
    return next((path for place in _PLACES for path in sorted(folder.glob(place))), None)


def calls(signatures: Iterable[Signature]) -> list[Call]:
    """Return a call of each intrinsic."""
    return [Call(s.name, s.takes, s.gives, LLVM, "") for s in signatures if s.name.startswith("llvm.")]


def compiled(path: Path, asked: Sequence[Call], target: str, options: Sequence[str] = ()) -> Mapping[Call, str]:
    """Return the kernels of calls in PTX, without those that libnvvm does not compile for the target."""
    library = _library(path)
    given = [f"-arch={target.replace('sm_', 'compute_')}", *options]
    found = {call: _compiled(library, _module(call), given) for call in asked}
    # A name that is not an intrinsic's becomes an external function.
    return {call: text for call, text in found.items() if text and ".extern .func" not in text}


def _module(call: Call) -> str:
    """Return a module with a kernel. Pointers have types, which old releases of LLVM require and newer ones accept."""
    given = ", ".join(f"{type} %{letter}" for letter, type in arguments(call.takes))
    types = ", ".join((f"{call.gives}*", *call.takes))
    return f"""target datalayout = "{_LAYOUT}"
target triple = "nvptx64-nvidia-cuda"
declare {call.gives} @{call.name}({", ".join(call.takes)})
define void @k0({call.gives}* %to, {given}) {{
  %d = call {call.gives} @{call.name}({given})
  store {call.gives} %d, {call.gives}* %to
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void ({types})* @k0, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 2, i32 0}}
"""


def _library(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NvccError(f"{path} cannot be loaded: {error}") from None


def _compiled(library: ctypes.CDLL, module: str, options: Sequence[str]) -> str:
    """Return the PTX of a module; empty if it is refused."""
    program, text, size = ctypes.c_void_p(), module.encode(), ctypes.c_size_t()
    if library.nvvmCreateProgram(ctypes.byref(program)):
        raise NvccError("libnvvm makes no program")
    try:
        given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        if library.nvvmAddModuleToProgram(program, text, ctypes.c_size_t(len(text)), b"k"):
            return ""
        if library.nvvmCompileProgram(program, len(options), given):
            return ""
        library.nvvmGetCompiledResultSize(program, ctypes.byref(size))
        result = ctypes.create_string_buffer(size.value)
        library.nvvmGetCompiledResult(program, result)
        return result.value.decode()
    finally:
        library.nvvmDestroyProgram(ctypes.byref(program))
