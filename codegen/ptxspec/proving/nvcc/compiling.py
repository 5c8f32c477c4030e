"""nvcc -> the PTX of calls: a kernel for each, whose operands are its parameters and whose results are stored.

The statements between the loads and the stores are the call's; see `body`."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..ptxas.asking import find_ptxas
from .headers import INCLUDED, LIBDEVICE, CompilableCall, arguments, calls, of_libdevice

# Seconds after which nvcc counts as hung.
_LIMIT = 600
_ERROR = re.compile(r"^k\.cu\((?P<line>\d+)\): error", re.MULTILINE)
_KERNEL = re.compile(r"\.visible \.entry k(?P<number>\d+)\(.*?\n\n\}\n", re.DOTALL)
# Functions that libdevice does not have become external.
_EXTERNAL = re.compile(r"\.extern \.func\s*(?:\([^)]*\))?\s*(\w+)")
_SOURCE = "".join(f"#include <{name}>\n" for name in INCLUDED)
_OUTPUT = "result"


class NvccError(RuntimeError):
    """An error for an nvcc that could not be run, or refused valid source."""


def find_nvcc(explicit: Path | None = None) -> Path | None:
    """Return the path of the given nvcc, else of the one beside the ptxas of the wheel or the toolkit."""
    if explicit is not None:
        return explicit.absolute() if explicit.is_file() else None
    ptxas = find_ptxas()
    found = ptxas.with_name("nvcc") if ptxas else None
    return found if found and found.exists() else None


def declared(nvcc: Path, architecture: str) -> list[CompilableCall]:
    """Return the calls of all functions that nvcc's headers declare for an architecture."""
    defined = f"-D__CUDA_ARCH__={architecture.removeprefix('sm_').rstrip('af')}0"
    said = _run(nvcc, _SOURCE, ["-E", f"-arch={architecture}", defined])
    if said.returncode:
        raise NvccError(said.stderr)
    found = calls(said.stdout)
    return [*found, *of_libdevice(found)]


def compiled(
    nvcc: Path, asked: Sequence[CompilableCall], target: str, options: Sequence[str] = ()
) -> Mapping[CompilableCall, str]:
    """Return the kernels of calls in PTX, without those that nvcc does not compile for the target."""
    kernels = dict(enumerate(asked))
    while kernels:
        lines = [_kernel(number, call) for number, call in kernels.items()]
        said = _run(nvcc, _SOURCE + "\n".join(lines) + "\n", ["-ptx", f"-arch={target}", *options])
        if not said.returncode:
            missing = set(_EXTERNAL.findall(said.stdout))
            found = {kernels[int(m["number"])]: m[0] for m in _KERNEL.finditer(said.stdout)}
            return {call: text for call, text in found.items() if call.name not in missing}
        above = _SOURCE.count("\n") + 1
        wrong = {int(m["line"]) - above for m in _ERROR.finditer(said.stderr)}
        if not wrong or min(wrong) < 0:
            raise NvccError(said.stderr or said.stdout)
        kernels = {number: call for i, (number, call) in enumerate(kernels.items()) if i not in wrong}
    return {}


def outputs(call: CompilableCall) -> list[str]:
    """Return the types of a call's outputs: its result, then the values written through pointers."""
    written = [taken[:-1] for _, taken in arguments(call.takes) if taken.endswith("*")]
    return [*([] if call.gives == "void" else [call.gives]), *written]


def _kernel(number: int, call: CompilableCall) -> str:
    """Return a kernel in one line. Results go through the first parameters, in their order."""
    values = [(letter, type) for letter, type in arguments(call.takes)]
    taken = [f"{type} {letter}" for letter, type in values if not type.endswith("*")]
    stored = [f"{type} *{_OUTPUT}{i}" for i, type in enumerate(outputs(call))]
    first = f"*{_OUTPUT}0 = " if call.gives != "void" else ""
    body = [f"{type[:-1]} {letter};" for letter, type in values if type.endswith("*")]
    body.append(f"{first}{call.code};")
    for i, letter in enumerate((letter for letter, type in values if type.endswith("*")), bool(first)):
        body.append(f"*{_OUTPUT}{i} = {letter};")
    declared = f'extern "C" __device__ {call.gives} {call.written}; ' if call.header == LIBDEVICE else ""
    return f'{declared}extern "C" __global__ void k{number}({", ".join([*stored, *taken])}) {{ {" ".join(body)} }}'


def _run(nvcc: Path, source: str, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.cu").write_text(source, "utf-8")
        command = [str(nvcc.absolute()), *options, "k.cu", "-o", "k.out"]
        try:
            said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            raise NvccError(f"{' '.join(command)}: no end after {_LIMIT} seconds") from None
        except OSError as error:
            raise NvccError(f"{command[0]} cannot be run: {error}") from error
        made = Path(folder, "k.out")
        # The compiler's own output is not needed.
        said.stdout = made.read_text("utf-8") if made.exists() else ""
        return said
