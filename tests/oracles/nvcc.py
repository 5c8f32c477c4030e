"""The PTX that nvcc makes of CUDA C++: the statements of a function, with registers told by the parameters in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
# What brings operands in and the result out.
_AROUND = ("ld", "st", "mov", "cvta", "ret", "bra")
_BODY = re.compile(r"\.entry k(\d+)\(.*?\)\s*\{(.*?)\n\}", re.DOTALL)
_STATEMENT = re.compile(r"(?<![\w.%$])([a-z][\w.:]*)\s+((?:\{[^{}]*\}|[^;{}])*);")
_OPERAND = re.compile(r"\{[^{}]*\}|[^\s,]+")
_PARAMETER = re.compile(r"\[k\d+_param_(\d+)(?:\+\d+)?\]")


class Made(NamedTuple):
    """A statement, and where each of its source registers comes from: the place of a parameter, else the register."""

    spelling: str
    sources: tuple[str, ...]


def made(nvcc: Path, folder: Path, functions: Sequence[str], target: str) -> list[list[Made]]:
    """Return the statements of functions k0, k1, ..., compiled for a target. Parameter 0 is where the result goes."""
    return [_statements(body) for body in bodies(nvcc, folder, functions, target)]


def bodies(nvcc: Path, folder: Path, functions: Sequence[str], target: str) -> list[str]:
    """Their PTX, which made.ptx has, too."""
    includes = "".join(f"#include <{h}>\n" for h in HEADERS)
    text = "\n".join(f'extern "C" __global__ void k{n}{f}' for n, f in enumerate(functions))
    found = dict(_BODY.findall(compiled(nvcc, folder, includes + text, target)))
    return [found[str(n)] for n in range(len(functions))]


def compiled(nvcc: Path, folder: Path, program: str, target: str, *options: str) -> str:
    """Return the PTX that nvcc makes of a program for a target."""
    (folder / "made.cu").write_text(program, "utf-8")
    command = [str(nvcc), "-ptx", f"-arch={target}", *options, "made.cu", "-o", "made.ptx"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return (folder / "made.ptx").read_text("utf-8")


def _statements(body: str) -> list[Made]:
    body = re.sub(r"//[^\n]*", "", body)
    found: list[Made] = []
    held: dict[str, str] = {}
    for head, rest in _STATEMENT.findall(body):
        if "." not in head and head not in _AROUND:
            continue
        to, *sources = _OPERAND.findall(rest) or [""]
        opcode = head.split(".")[0]
        if m := _PARAMETER.search(rest) if opcode == "ld" else None:
            _hold(held, to, m[1])
        elif opcode == "mov" and sources:
            _hold(held, to, _value(held, sources[0]))
        elif opcode not in _AROUND:
            found.append(Made(head, tuple(_value(held, s) for s in sources)))
    return found


def _hold(held: dict[str, str], to: str, value: str) -> None:
    for part in to.strip("{}").replace(" ", "").split(","):
        held[part] = value


def _value(held: Mapping[str, str], text: str) -> str:
    """A vector of parts of one parameter is that parameter."""
    parts = [held.get(p, p) for p in text.strip("{}").replace(" ", "").split(",")]
    return parts[0] if len(set(parts)) == 1 else ",".join(parts)


def holding(
    nvcc: Path, folder: Path, head: str, conditions: Sequence[str], target: str, body: str = "", *options: str
) -> set[int]:
    """The places of those conditions of the preprocessor that hold behind `head`, for a target. `body` may say of more
    places in assembly, as `// 12 holds`, that they do."""
    lines = [f'#if {c}\nasm volatile("// {i} holds");\n#endif' for i, c in enumerate(conditions)]
    (folder / "holding.cu").write_text(f"{head}__global__ void f() {{\n" + "\n".join([*lines, body]) + "\n}\n", "utf-8")
    command = [str(nvcc), "-ptx", f"-arch={target}", *options, "holding.cu", "-o", "holding.ptx"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return {int(n) for n in re.findall(r"// (\d+) holds", (folder / "holding.ptx").read_text("utf-8"))}
