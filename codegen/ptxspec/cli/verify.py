"""verify: every requirement, proved against a real ptxas."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import roots, specification as reading
from ..diagnostics import PtxspecError
from ..files import replace_text
from ..ptxas import verify
from ..ptxas.asking import PtxasError, find_ptxas
from . import NO, OK, counted, progress_bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ptxas", type=Path, metavar="PATH", help="this ptxas; else the one of the wheel, else the one on PATH"
    )
    parser.add_argument("--record", action="store_true", help="write what was proven to spec/observed/evidence.yaml")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = (roots.find_own if options.record else roots.find_source)(options.root)
    spec = reading.read(root.path)
    ptxas = find_ptxas(options.ptxas)
    if ptxas is None:
        where = f"no file {options.ptxas}" if options.ptxas else "no ptxas found"
        raise PtxspecError(
            f"{where}; install the wheel nvidia-cuda-nvcc or the CUDA toolkit, or say where with --ptxas PATH"
        )
    try:
        with progress_bar("judging") as progress:
            result = verify.verify(spec, ptxas, progress)
    except (PtxasError, OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{ptxas}: {e}") from None
    for d in result.disagreements:
        print(d)
    if result.unjudged:
        pairs = counted(len(result.unjudged), "pair")
        print(f"not judged, {pairs} that {result.assembler} does not know: {verify.told(spec, result.unjudged)}")
    print(
        f"{result.assembler}: {result.variants} variants on {result.pairs} pairs of a target and a PTX version, "
        f"{result.spellings} spellings legal or not, {counted(result.recipes, 'recipe')}: "
        f"{counted(len(result.disagreements), 'unexplained difference')}"
    )
    if result.disagreements:
        if result.assembler != spec.assembler.observed:
            print(f"the specification says what {spec.assembler.observed} does, which may be why")
        return NO
    if options.record:
        if result.unjudged:
            raise PtxspecError(f"nothing is recorded: {result.assembler} does not know all pairs; a newer one does")
        path = root.path / "spec" / "observed" / "evidence.yaml"
        replace_text(path, verify.as_yaml(spec, result))
        print(f"written: {path}")
    return OK
