"""calls: what nvcc makes of functions of CUDA C++ and of LLVM's intrinsics, and whether spec/observed/ has the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import roots
from ..diagnostics import PtxspecError
from ..files import replace_text
from ..model import CallEvidence
from . import NO, OK, counted, progress_bar

_PATH = "spec/observed/calls.yaml"
_INTRINSICS = "spec/observed/intrinsics.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Holds {_PATH}, from which `ptxspec query __hmul2` answers, against nvcc: each function that CUDA's headers "
        f"declare on floating-point values, on every target that nvcc compiles for; and {_INTRINSICS}, of LLVM's "
        "intrinsics that spec/llvm.yaml names, against its libnvvm. That takes some minutes."
    )
    parser.add_argument(
        "--nvcc", type=Path, metavar="PATH", help="this nvcc, with its headers; else that of the wheel or PATH"
    )
    parser.add_argument("--record", action="store_true", help="write both files")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from .. import specification as reading
    from ..nvcc import record
    from ..nvcc.compiling import NvccError, find_nvcc

    root = (roots.find_own if options.record else roots.find_source)(options.root)
    spec = reading.read(root.path)
    nvcc = find_nvcc(options.nvcc)
    if nvcc is None:
        where = f"no file {options.nvcc}" if options.nvcc else "no nvcc found"
        raise PtxspecError(f"{where}; install the wheel nvidia-cuda-nvcc, or the toolkit, and g++")
    on = record.targets(spec)
    try:
        with progress_bar("compiling") as progress:
            functions = record.examine(nvcc, on, progress)
        with progress_bar("compiling intrinsics") as progress:
            intrinsics = record.examine_intrinsics(nvcc, spec.signatures, on, progress)
    except NvccError as e:
        raise PtxspecError(f"{nvcc}: {e}") from None
    both = ((_PATH, functions, spec.calls), (_INTRINSICS, intrinsics, spec.intrinsics))
    if options.record:
        for path, found, _ in both:
            replace_text(root.path / path, record.as_yaml(found))
            print(f"{_about(found)}\nwritten: {root.path / path}")
        return OK
    same = [_compare(path, found, known) for path, found, known in both]
    return OK if all(same) else NO


def _about(found: CallEvidence) -> str:
    return f"{found.compiler}: {counted(len(found.calls), 'call')} on {counted(len(found.targets), 'target')}"


def _compare(path: str, found: CallEvidence, known: CallEvidence | None) -> bool:
    """Tell and return whether a file has what was found."""
    if known is None:
        raise PtxspecError(f"no {path} to hold against nvcc: write it with --record")
    now, then = ({c.call: c for c in e.calls} for e in (found, known))
    different = [call for call in {**now, **then} if now.get(call) != then.get(call)]
    print(f"{_about(found)}: {'all as recorded' if not different else 'not as recorded: ' + ', '.join(different)}")
    return not different
