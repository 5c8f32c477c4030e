"""Triton -> the PTX of its functions: a kernel for each, whose operands are its parameters. No GPU is needed."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ...model import IntrinsicSignature
from ...query.calls import TRITON
from .headers import CompilableCall, arguments

_SOURCE = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def k0(to, {letters}):
    tl.store(to, {code})
"""
# One thread stores the result.
_STORE = re.compile(r"@(?P<guard>%p\d+) (?P<store>st\.global\.b\d+) +\[ (?P<at>%rd\d+) \+ 0 \], \{ (?P<what>%\w+) \};")
_THREAD = re.compile(r"mov\.u32\s+(?P<thread>%r\d+), %tid\.x;\s+setp\.eq\.b32\s+%p\d+, (?P=thread), 0;")


def is_here() -> bool:
    """Return whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None


def version() -> str:
    return importlib.metadata.version("triton")


def calls(signatures: Iterable[IntrinsicSignature]) -> list[CompilableCall]:
    """Return a call of each of Triton's functions."""
    found = []
    for s in signatures:
        module = s.name.partition(".")[0]
        if module in TRITON:
            given = ", ".join(letter for letter, _ in arguments(s.takes))
            header = "triton.language" if module == "tl" else "triton.language.extra.libdevice"
            found.append(CompilableCall(s.name, s.takes, s.gives, header, f"{s.name}({given})"))
    return found


def compiled(asked: Sequence[CompilableCall], target: str, options: Sequence[str] = ()) -> Mapping[CompilableCall, str]:
    """Return the kernels of calls in PTX, without those that Triton does not compile for the target."""
    # Its LLVM ends the process for a target that it lacks.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            found = pool.submit(_every, list(asked), target).result()
        except BrokenProcessPool:
            return {}
    return {call: text for call, text in zip(asked, found, strict=True) if text}


def _every(asked: Sequence[CompilableCall], target: str) -> list[str]:
    """Return the kernels of calls, empty for those that are refused."""
    os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    os.environ.pop("TRITON_INTERPRET", None)
    return [_compiled(call, target) for call in asked]


def _compiled(call: CompilableCall, target: str) -> str:
    """Return the kernel of a call with a plain store, as `body` reads it; empty if it is refused."""
    triton, compiler = (importlib.import_module(name) for name in ("triton", "triton.compiler"))
    backend = importlib.import_module("triton.backends.compiler")
    given = list(arguments(call.takes))
    source = _SOURCE.format(letters=", ".join(letter for letter, _ in given), code=call.code)
    with tempfile.TemporaryDirectory() as folder:
        kernel: Any = _kernel(Path(folder, "kernel.py"), source)
        asked = compiler.ASTSource(kernel, {"to": f"*{call.gives}", **dict(given)}, {})
        number = int(re.sub(r"\D", "", target))
        try:
            ptx = str(triton.compile(asked, target=backend.GPUTarget("cuda", number, 32)).asm["ptx"])
        except Exception:  # of many kinds: the function has no such types, or the target is unknown
            return ""
    begin = ptx.index(".visible .entry")
    ptx = re.sub(r"//[^\n]*", "", ptx[begin : ptx.index("ret;", begin)])
    stored = _STORE.sub(r"cvta.to.global.u64 %to, \g<at>; \g<store> [%to], \g<what>;", ptx)
    return f"{_THREAD.sub('', stored)}ret;\n}}\n"


def _kernel(path: Path, source: str) -> object:
    """Return the kernel in a module that is written to a file, where Triton reads its source."""
    path.write_text(source, "utf-8")
    about = importlib.util.spec_from_file_location("kernel", path)
    assert about is not None and about.loader is not None
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module.k0
