"""calls: compare the PTX that compilers generate for functions of CUDA C++ and Triton and for LLVM's intrinsics with
spec/observed/."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..diagnostics import PtxspecError
from ..files import replace_text
from ..model import CallEvidence
from . import NO, OK, counted, held, progress_bar

PATH = "spec/observed/calls.yaml"
INTRINSICS = "spec/observed/intrinsics.yaml"
TRITON = "spec/observed/triton.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Check that {PATH}, from which `ptxspec query __hmul2` answers, agrees with nvcc. This compiles each "
        "function that CUDA's headers declare on floating-point values, for every target that nvcc supports. If "
        f"Triton is installed (pip install triton), check {INTRINSICS}, with the names in spec/llvm.yaml, against its "
        f"LLVM, and {TRITON}, with the functions in spec/triton.yaml, against Triton; no GPU is needed. "
        "The command takes several minutes. It requires nvcc (pip install nvidia-cuda-nvcc nvidia-cuda-runtime "
        "nvidia-cuda-cccl, or the CUDA toolkit) and g++. Exit 0: the files agree; 1: they do not."
    )
    parser.add_argument(
        "--nvcc",
        type=Path,
        metavar="PATH",
        help="the nvcc to use, with its headers; by default that of the wheel, then that on PATH",
    )
    parser.add_argument("--record", action="store_true", help="write the files instead of checking them")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..proving.nvcc import record, triton
    from ..proving.nvcc.compiling import NvccError, find_nvcc
    from ..query.database import Database

    root, spec = held.described(options)
    help = (
        "install it with `pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl`, or install the CUDA "
        "toolkit; g++ is required too"
    )
    nvcc = held.tool("nvcc", find_nvcc, options.nvcc, help)
    on = record.targets(spec)
    try:
        with progress_bar("compiling") as progress:
            functions = record.examine(nvcc, on, progress)
        every = [(PATH, functions, spec.calls)]
        if triton.is_here():
            with progress_bar("compiling LLVM's intrinsics") as progress:
                found = record.examine_llvm(Database.read(root.data), spec.signatures, on, progress)
            every.append((INTRINSICS, found, spec.intrinsics))
            with progress_bar("compiling Triton's functions") as progress:
                found = record.examine_triton(spec.signatures, on, progress)
            every.append((TRITON, found, spec.triton))
        else:
            print(f"{INTRINSICS} and {TRITON} are left out: Triton is not installed (pip install triton)")
    except NvccError as e:
        raise PtxspecError(f"{nvcc}: {e}") from None
    if options.record:
        for path, found, _ in every:
            replace_text(root.path / path, record.as_yaml(found))
            print(f"{_about(found)}\nwritten: {root.path / path}")
        return OK
    same = [_compare(path, found, known) for path, found, known in every]
    return OK if all(same) else NO


def _about(found: CallEvidence) -> str:
    return f"{found.compiler}: {counted(len(found.calls), 'call')} on {counted(len(found.targets), 'target')}"


def _compare(path: str, found: CallEvidence, known: CallEvidence | None) -> bool:
    """Print and return whether a file agrees with the compiler."""
    if known is None:
        raise held.unrecorded(path, "the compiler")
    now, then = ({c.call: c for c in e.calls} for e in (found, known))
    different = [call for call in {**now, **then} if now.get(call) != then.get(call)]
    print(held.compared(_about(found), different))
    return not different
