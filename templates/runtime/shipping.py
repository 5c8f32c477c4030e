"""Kernels in C that were compiled elsewhere, for machines without a compiler: the package `ptxemu_native`.

`ptxspec build --native` makes its folder. Its index says what processor its libraries need, and which of them has a
kernel, by what that was made of: another version of ptxemu finds nothing there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from . import compiling
from .binary import Array
from .signature import Signature

if TYPE_CHECKING:
    from .accelerator import Native, Wanted

PACKAGE: Final = "ptxemu_native"
# Of processors that share an instruction set what libraries may use, and what the system must say that there is.
_LEVELS: Final = {
    "x86_64": (["-march=x86-64-v3"], "avx avx2 bmi1 bmi2 f16c fma movbe abm"),
    "aarch64": ([], "asimd"),
}
# The number of kernels compiled in one go.
_AT_ONCE: Final = 100


def found(opcode: str, function: Callable[..., Array], s: Signature, loops: str) -> Native | None:
    """Return the kernel of these loops, if it was shipped for this processor."""
    folder, files, kernels = _index()
    if not kernels:
        return None
    file, symbol = kernels.get(_key(opcode, loops), ("", ""))
    path = os.path.join(folder, file)
    if not file or not compiling.is_whole(path, files[file]):
        return None
    from .accelerator import kernels_of

    try:
        return kernels_of(path, {symbol: (function, s)})[symbol]
    except (OSError, AttributeError):
        return None


@cache
def is_there() -> bool:
    return bool(_index()[2])


@cache
def _index() -> tuple[str, dict[str, str], dict[str, tuple[str, str]]]:
    """Return the folder, its files with what tells that they are whole, and its kernels; nothing where there is none,
    or it is of another processor."""
    package = find_spec(PACKAGE)
    if package is None:
        return "", {}, {}
    import json  # takes longer than a kernel in the cache takes to load

    for folder in package.submodule_search_locations or ():
        try:
            with open(os.path.join(folder, "index.json"), encoding="utf-8") as index:
                read = json.load(index)
            if read["machine"] == _machine() and set(read["needs"]) <= _has():
                files = {f"{file}": f"{digest}" for file, digest in read["files"].items()}
                kernels = {key: (f"{file}", f"{symbol}") for key, (file, symbol) in read["kernels"].items()}
                # Of that folder alone: what a name leads to elsewhere is another's.
                own = {file for file in files if os.path.basename(file) == file}
                return folder, files, {key: kernel for key, kernel in kernels.items() if kernel[0] in own}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # a damaged one is none
            continue
    return "", {}, {}


def _machine() -> list[str]:
    return [sys.platform, os.uname().machine if hasattr(os, "uname") else ""]


def _has() -> set[str]:
    """Return the features of the processor, as the system names them."""
    lines = compiling.processor().splitlines()
    return {word for line in lines if line.startswith(("flags", "Features")) for word in line.split()}


def _key(opcode: str, loops: str) -> str:
    return compiling.digest_of(loops, [f"{opcode}.c"])


def build(folder: str, kernels: list[Wanted], report: Callable[[int, int], None] | None = None) -> int:
    """Compile kernels into a folder, for other machines too: how many. Raises compiling.Failure, OSError."""
    import json

    from .accelerator import symbols_of, text_of

    machine = _machine()
    flags, needs = _LEVELS.get(machine[1], ([], ""))
    index: dict[str, Any] = {"machine": machine, "needs": needs.split(), "files": {}, "kernels": {}}
    opcodes: dict[str, dict[str, Wanted]] = {}
    for w in kernels:
        if w.loops:
            opcodes.setdefault(w.opcode, {})[w.loops] = w
    total, done = sum(map(len, opcodes.values())), 0
    for opcode, of_opcode in opcodes.items():
        for i, some in enumerate(_batches(list(of_opcode.values()))):
            file, symbols = f"{opcode}_{i}.so", symbols_of(some)
            functions = {s: (w.function, w.signature) for s, w in zip(symbols, some, strict=True)}
            path = os.path.join(folder, file)
            compiling.ship(text_of(opcode, functions), path, f"{len(some)} kernels of {opcode}", flags)
            index["files"][file] = compiling.digest_of_file(path)
            index["kernels"] |= {_key(opcode, w.loops): (file, s) for s, w in zip(symbols, some, strict=True)}
            done += len(some)
            if report is not None:
                report(done, total)
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as to:
        json.dump(index, to, indent=1)
        to.write("\n")
    return done


def _batches(wanted: list[Wanted]) -> Iterator[list[Wanted]]:
    for start in range(0, len(wanted), _AT_ONCE):
        yield wanted[start : start + _AT_ONCE]
