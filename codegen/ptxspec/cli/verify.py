"""verify: check every requirement in the specification against ptxas."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..diagnostics import PtxspecError
from ..files import replace_text
from ..proving.ptxas import verify
from ..proving.ptxas.asking import PtxasError, find_ptxas
from . import NO, OK, counted, held, progress_bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Check every requirement in the specification against ptxas: ptxas accepts each variant on the oldest target "
        "and in the oldest PTX version that it requires, and rejects it one step below. The command requires ptxas "
        "(pip install nvidia-cuda-nvcc, or the CUDA toolkit). Exit 0: ptxas and the specification agree; 1: they do "
        "not."
    )
    parser.add_argument(
        "--ptxas", type=Path, metavar="PATH", help="the ptxas to use; by default that of the wheel, then that on PATH"
    )
    parser.add_argument("--record", action="store_true", help="write what was proved to spec/observed/evidence.yaml")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root, spec = held.described(options)
    help = "install it with `pip install nvidia-cuda-nvcc`, or name an installed one with --ptxas PATH"
    ptxas = held.tool("ptxas", find_ptxas, options.ptxas, help)
    try:
        with progress_bar("judging") as progress:
            result = verify.verify(spec, ptxas, progress)
    except (PtxasError, OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{ptxas}: {e}") from None
    for d in result.disagreements:
        print(d)
    if result.unjudged:
        pairs = counted(len(result.unjudged), "pair")
        print(f"not checked: {pairs} unknown to {result.assembler}: {verify.told(spec, result.unjudged)}")
    print(
        f"{result.assembler}: {result.variants:,} variants on {result.pairs} pairs of a target and a PTX version, "
        f"{result.spellings} spellings (legal or not), {counted(result.recipes, 'recipe')}: "
        f"{counted(len(result.disagreements), 'unexplained difference')}"
    )
    if result.disagreements:
        if result.assembler != spec.assembler.observed:
            print(f"the specification describes {spec.assembler.observed}; the difference in version may be the cause")
        return NO
    if options.record:
        if result.unjudged:
            raise PtxspecError(f"nothing was recorded: {result.assembler} does not know all pairs; use a newer ptxas")
        path = root.path / "spec" / "observed" / "evidence.yaml"
        replace_text(path, verify.as_yaml(spec, result))
        print(f"written: {path}")
    return OK
