"""calls: what nvcc makes of the functions of CUDA C++, and whether it is what spec/observed/ has."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import roots
from ..diagnostics import PtxspecError
from ..files import replace_text
from . import NO, OK, counted, progress_bar

_PATH = "spec/observed/calls.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Holds {_PATH}, from which `ptxspec query __hmul2` answers, against nvcc: each function that CUDA's headers "
        "declare on floating-point values, on every target that nvcc compiles for. That takes some minutes."
    )
    parser.add_argument(
        "--nvcc", type=Path, metavar="PATH", help="this nvcc, with its headers; else that of the wheel or PATH"
    )
    parser.add_argument("--record", action="store_true", help=f"write {_PATH}")
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
    if spec.calls is None and not options.record:
        raise PtxspecError(f"no {_PATH} to hold against nvcc: write it with --record")
    try:
        with progress_bar("compiling") as progress:
            found = record.examine(nvcc, record.targets(spec), progress)
    except NvccError as e:
        raise PtxspecError(f"{nvcc}: {e}") from None
    now, then = ({c.call: c for c in e.calls} for e in (found, spec.calls or found))
    different = [call for call in {**now, **then} if now.get(call) != then.get(call)]
    told = f"{found.compiler}: {counted(len(now), 'call')} on {counted(len(found.targets), 'target')}"
    if options.record:
        replace_text(root.path / _PATH, record.as_yaml(found))
        told = f"{told}\nwritten: {root.path / _PATH}"
    else:
        told = f"{told}: {'all as recorded' if not different else 'not as recorded: ' + ', '.join(different)}"
    print(told)
    return NO if different and not options.record else OK
