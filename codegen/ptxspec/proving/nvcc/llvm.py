"""LLVM -> the PTX of its intrinsics and instructions: a kernel for each, as in `compiling` for functions of CUDA C++.
The LLVM is the one in Triton's wheel. No GPU is needed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from ...model import IntrinsicSignature
from ...query.calls import TO, TRITON
from .headers import CompilableCall, arguments

LLVM = "LLVM"
_TRIPLE = "nvptx64-nvidia-cuda"
_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
# The newest PTX that this LLVM writes; it ignores versions that it does not know.
_FEATURES = ",".join(f"+ptx{version}" for version in range(90, 100))


def calls(signatures: Iterable[IntrinsicSignature]) -> list[CompilableCall]:
    """Return a call of each intrinsic, and each instruction. Both types of a conversion are in its argument, as in
    `fptosi(float to i32)`: otherwise calls would have the same text."""
    return [_call(s) for s in signatures if s.name.partition(".")[0] not in TRITON]


def _call(s: IntrinsicSignature) -> CompilableCall:
    given = list(arguments(s.takes))
    if s.name.startswith("llvm."):
        code = f"call {s.gives} @{s.name}({', '.join(f'{type} %{letter}' for letter, type in given)})"
        return CompilableCall(s.name, s.takes, s.gives, LLVM, code)
    takes = s.takes if s.gives in s.takes else (f"{s.takes[0]}{TO}{s.gives}",)
    letters = ", ".join(f"%{letter}" for letter, _ in given)
    return CompilableCall(
        s.name, takes, s.gives, LLVM, f"{s.name} {s.takes[0]} {letters}{takes[0].removeprefix(s.takes[0])}"
    )


def compiled(asked: Sequence[CompilableCall], target: str, options: Sequence[str] = ()) -> Mapping[CompilableCall, str]:
    """Return the kernels of calls in PTX, without those that LLVM does not compile for the target."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(_every, [_module(call) for call in asked], target).result()
    return {call: text for call, text in zip(asked, found, strict=True) if text}


def _module(call: CompilableCall) -> str:
    """Return a module with a kernel."""
    given = ", ".join(f"{type.partition(TO)[0]} %{letter}" for letter, type in arguments(call.takes))
    declared = f"declare {call.gives} @{call.name}({', '.join(call.takes)})\n" if "@" in call.code else ""
    return f"""target datalayout = "{_LAYOUT}"
{declared}define ptx_kernel void @k0(ptr addrspace(1) %to, {given}) {{
  %d = {call.code}
  store {call.gives} %d, ptr addrspace(1) %to
  ret void
}}
"""


def _every(modules: Sequence[str], target: str) -> list[str]:
    """Return the PTX of modules, empty for those that are refused."""
    library = importlib.import_module("triton._C.libtriton").llvm
    library.init_targets()
    return [_compiled(library, module, target) for module in modules]


def _compiled(library: object, module: str, target: str) -> str:
    """Return the PTX of a module. LLVM ends the process that asks for what the target lacks: a child asks."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(write, 2)
            asm = library.translate_to_asm  # type: ignore[attr-defined]
            text = asm(module, _TRIPLE, target, _FEATURES, [], True, False, False)
            with open(write, "w", encoding="utf-8") as pipe:
                pipe.write(text)
        finally:
            os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    # What LLVM calls is no intrinsic of its own.
    refused = ".visible .entry" not in text or "call.uni" in text or "is not a recognized processor" in text
    return "" if refused else text
