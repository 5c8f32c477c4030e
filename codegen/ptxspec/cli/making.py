"""generate, validate, verify: the specification, its products and its proof."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from .. import roots
from ..check import checking
from ..diagnostics import PtxspecError, SpecError
from ..emit import generate
from ..emit.generate import Changes
from ..ptxas import verify
from ..ptxas.asking import PtxasError, find_ptxas
from ..read import link as reading
from ..roots import Root
from . import NO, OK, counted, progress_bar


def configure_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 with a diff where generated/ is stale"
    )
    parser.set_defaults(run=_generate)


def configure_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="report on these files and folders only")
    parser.set_defaults(run=_validate)


def configure_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ptxas", type=Path, metavar="PATH", help="this ptxas; else the one of the wheel, else the one on PATH"
    )
    parser.add_argument("--record", action="store_true", help="write what was proven to spec/observed/evidence.yaml")
    parser.set_defaults(run=_verify)


def _generate(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root)
    if options.check:
        files = generate.build(root.path)
        changes = generate.compare(root.path, files)
        if not changes:
            print(f"generated/ is up to date: {counted(changes.total, 'file')}")
            return OK
        for line in generate.diff(root.path, files, changes):
            sys.stdout.write(line if line.endswith("\n") else line + "\n")
        print(f"generated/ is stale: {_summary(changes)}; run `ptxspec generate`", file=sys.stderr)
        return NO
    changes = generate.generate(root.path)
    if not changes:
        print(f"generated/ was up to date: {counted(changes.total, 'file')}")
        return OK
    for sign, names in (("+", changes.added), ("~", changes.changed), ("-", changes.removed)):
        for name in names:
            print(f"  {sign} {name}")
    print(f"generated/: {_summary(changes)}, {counted(changes.total, 'file')} in all")
    return OK


def _summary(changes: Changes) -> str:
    return f"{len(changes.added)} added, {len(changes.changed)} changed, {len(changes.removed)} removed"


def _validate(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root)
    read = reading.read_all(root.path)
    errors = list(read.diagnostics)
    if read.spec is not None:
        errors += checking.check(read.spec)[1]
    files = set(read.files)
    if options.paths:
        named = {*read.files, *(e.path for e in errors)}
        files = {name for path in options.paths for name in _named(root, path, named)}
        # What no file can do without is reported with each.
        errors = [e for e in errors if e.path in files or e.path in reading.SHARED]
    if errors or read.spec is None:
        raise SpecError(errors)
    instructions = [i for i in read.spec.instructions.values() if i.path in files]
    variants = sum(len(i.variants) for i in instructions)
    opcodes = counted(len(instructions), "opcode")
    print(f"{counted(len(files), 'file')}: {opcodes}, {counted(variants, 'variant')}, no errors")
    return OK


def _named(root: Root, path: Path, names: Iterable[str]) -> list[str]:
    """The files of the specification that a path names, or that are in the folder that it names."""
    if not path.exists():
        raise PtxspecError(f"{path}: no such file or folder")
    asked = path.resolve()
    found = [name for name in names if (root.path / name).resolve().is_relative_to(asked)]
    if not found or asked in root.path.parents:
        raise PtxspecError(f"{path}: names no file of the specification of {root.path}; --root DIR names another")
    return found


def _verify(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root) if options.record else roots.find(options.root)
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
    print(
        f"{result.assembler}: {result.variants} variants on {result.pairs} pairs of a target and a PTX version, "
        f"{result.spellings} spellings legal or not: {counted(len(result.disagreements), 'unexplained difference')}"
    )
    if result.disagreements:
        return NO
    if options.record:
        path = root.path / "spec" / "observed" / "evidence.yaml"
        path.write_text(verify.as_yaml(spec, result), "utf-8", newline="\n")
        print(f"written: {path}")
    return OK
